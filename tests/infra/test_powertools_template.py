"""The template of the function with Powertools: AWS's tools accept it, and `recoverable check` has nothing to find or to leave out."""

from __future__ import annotations

import pytest
from samtranslator.yaml_helper import yaml_parse

from infra.commands import sam
from infra.sam_template import ROOT, complaints
from recoverable_operate._cli import main

TEMPLATE = ROOT / "functions" / "aws" / "powertools" / "template.yaml"


def test_sam_accepts_the_template() -> None:
    assert "is a valid SAM Template" in sam("validate", "--lint", "--template", str(TEMPLATE))


def test_the_transformed_template_is_clean() -> None:
    assert complaints(yaml_parse(TEMPLATE.read_text())) == []


def test_all_of_it_is_checked_and_nothing_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", str(TEMPLATE)]) == 0
    assert capsys.readouterr().out.startswith("Nothing found.\n")
