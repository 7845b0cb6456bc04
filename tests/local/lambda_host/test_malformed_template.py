"""Test that what is no template is told in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import written
from local.lambda_host.test_template import read
from recoverable_operate.templates import TemplateError

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a resource that is a text": (
        {"Resources": {"Q": "x"}},
        "The resource Q is 'x'; write a mapping with a Type, such as AWS::SQS::Queue.",
    ),
    "a resource without a type": (
        {"Resources": {"Q": {}}},
        "The resource Q is {}; write a mapping with a Type, such as AWS::SQS::Queue.",
    ),
    "properties that are a list": (
        {"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": ["x"]}}},
        "The Properties of Q are ['x']; write a mapping.",
    ),
    "resources that are a list": ({"Resources": ["x"]}, "The section Resources is ['x']; write a mapping."),
    "parameters that are a text": ({"Parameters": "x"}, "The section Parameters is 'x'; write a mapping."),
}


@pytest.mark.parametrize(("template", "said"), WRONG.values(), ids=WRONG)
def test_what_is_no_template_is_said(tmp_path: Path, template: dict[str, Any], said: str) -> None:
    with pytest.raises(TemplateError) as refused:
        read(written(tmp_path, template))

    assert str(refused.value) == said
