"""Test that the example of the page about the namespace runs unchanged, and that the tests that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.pages import blocks, page

PAGE = "use/local-service-bus.md"


@pytest.mark.slow  # the SDK takes a second to open and close its links
def test_the_example_runs() -> None:
    (example,) = blocks(PAGE, "python")

    exec(compile(example, PAGE, "exec"), {})


def test_the_tests_that_it_names_are_there_and_none_is_left_out() -> None:
    named = set(re.findall(r"`(test_\w+\.py)`", page(PAGE)))

    others = {"test_page.py", "test_command.py", "test_amqp.py"}
    assert named | others == {path.name for path in Path(__file__).parent.glob("test_*.py")}
