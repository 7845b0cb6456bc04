"""Check that the story of a broken promise shows a reader how to replay it."""

from __future__ import annotations

import pytest

from docs.pages import blocks
from proof.catalogue import NAMED
from proof.sqs.mutations import delete_first
from proof.story import smallest, story


@pytest.fixture
def completes_before_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable.aws._settle.send_and_delete", delete_first)


@pytest.mark.usefixtures("completes_before_it_sends")
def test_a_story_has_only_the_faults_that_it_needs() -> None:
    schedule = {"before receive 1": "delivered twice", "before send_message_batch 2": "died"}

    assert smallest(NAMED["one message"], schedule) == {"before send_message_batch 2": "died"}


@pytest.mark.usefixtures("completes_before_it_sends")
def test_a_story_tells_the_faults_what_broke_and_what_happened() -> None:
    told = story(NAMED["one message"], {"before send_message_batch 2": "died"}).splitlines()

    assert told[:4] == [
        "Scenario: one message",
        "  m1 fails",
        "Fault: died, before send_message_batch 2",
        "Broken: LOST: m1 was neither processed, nor given up, nor discarded",
    ]
    assert told[-2].endswith("jobs  invocation failed: died")


@pytest.mark.usefixtures("completes_before_it_sends")
def test_the_last_line_of_a_story_tells_it_again() -> None:
    told = story(NAMED["one message"], {"before send_message_batch 2": "died"})
    again = told.rpartition("Again: ")[2]

    assert again == "print(story(NAMED['one message'], {'before send_message_batch 2': 'died'}))"
    assert eval(again.removeprefix("print"), {"story": story, "NAMED": NAMED}) == told


def test_the_page_shows_how_to_see_a_schedule_again(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = blocks("internals/proof.md", "python")

    exec(example, {})

    assert "send_message_batch: AnswerLost()" in capsys.readouterr().out
