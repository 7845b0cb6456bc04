"""How far a run of `recoverable errors` is, as the operator sees it while it goes on."""

from __future__ import annotations

from threading import Event

import pytest

from deadlines import DEADLINE
from recoverable_operate._commands import terminal
from recoverable_operate._commands.terminal import Progress, Terminal


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(1_200, 5_000, 300), "1,200 of about 5,000 looked at, 300 match"),
        (Progress(1_200, None, 300), "1,200 looked at, 300 match"),
        (Progress(7, 5, 7), "7 of about 7 looked at, 7 match"),
        (Progress(10, 10, 10, 10, 0), "10 of about 10 looked at, 10 match"),
        (
            Progress(5_000, 5_000, 300, 300, 120),
            "5,000 of about 5,000 looked at, 300 match, 120 of 300 sent, 30 a second, 6 s left",
        ),
    ],
)
def test_progress_says_what_is_known(progress: Progress, text: str) -> None:
    assert progress.text(seconds=4) == text


def test_a_line_is_written_again_and_again_where_nobody_has_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "LINE_EVERY", 0.001)
    asked, again = Event(), Event()

    def progress() -> Progress:
        (again if asked.is_set() else asked).set()
        return Progress(1, 2, 1)

    with Terminal().watching(progress):
        assert again.wait(DEADLINE)

    assert capsys.readouterr().err.startswith("1 of about 2 looked at, 1 match\n")


def test_nothing_is_written_for_a_run_that_ends_before_the_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    with Terminal().watching(lambda: Progress(1, 2, 1)):
        pass

    assert capsys.readouterr().err == ""
