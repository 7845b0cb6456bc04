"""The page for whoever is on call shows what the terminal shows, and names each option."""

from __future__ import annotations

import argparse
import re

import pytest

from docs.error_queue_page import PAGE, fresh_page
from recoverable_operate._commands import export, groups, import_, purge, retry, show
from recoverable_operate._commands import list as list_

VERBS = [export, groups, import_, list_, purge, retry, show]
OF_ALL_TOOLS = {"--help", "--journal"}
"""Options that the page can do without: each says what it does in --help."""


@pytest.mark.slow
@pytest.mark.xdist_group("error queue page")
def test_what_the_terminal_shows_is_what_a_run_shows() -> None:
    """To write the page anew: PYTHONPATH=tests:functions/aws python -m docs.error_queue_page."""
    assert fresh_page() == PAGE.read_text()


def test_each_option_is_on_the_page() -> None:
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text()))
    options = {option for verb in VERBS for option in options_of(verb)}

    assert options - named == OF_ALL_TOOLS
    assert named - options == set()


def options_of(verb: object) -> set[str]:
    """Return the options of a verb."""
    parser = argparse.ArgumentParser()
    verb.configure(parser)  # type: ignore[attr-defined]
    return {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
