"""Write to the terminal, ask, and make text harmless that others wrote."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from select import select
from time import monotonic
from types import FrameType
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from recoverable_operate.errors import Stop

DONE, PARTLY, REFUSED, NOTHING, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses; the last as POSIX shells have it, 128 + SIGINT."""

ASKS_FOR = 20
"""Seconds between two looks at what is held while a question waits for its answer."""

PIPE_WIDTH = 120
"""Columns where nobody has a terminal of a width."""


class Terminal:
    """The operator's terminal: shows, notes and asks.

    `interactive` is True if somebody can answer.
    """

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._out, self.err = console(sys.stdout), console(sys.stderr)

    def show(self, renderable: RenderableType) -> None:
        """Print a table or a text."""
        self._out.print(renderable, markup=False, highlight=False, soft_wrap=isinstance(renderable, str))

    def data(self, value: dict[str, Any]) -> None:
        """Print a line of JSON, its control characters escaped."""
        sys.stdout.write(json.dumps(value) + "\n")

    def flush(self) -> None:
        """Write what is buffered, so that a reader who has left is noticed now."""
        sys.stdout.flush()
        sys.stderr.flush()

    def abandon(self) -> None:
        """Write no more: what is buffered would raise again when the process ends (Python, "Note on SIGPIPE")."""
        if sys.__stdout__ and sys.stdout is sys.__stdout__:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())

    def note(self, text: str) -> None:
        """Print a line beside the result: to stderr."""
        self.err.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def answer(self, question: str, meanwhile: Callable[[], None]) -> str:
        """Return what the operator types; while nobody does, keep what is held from coming back."""
        self.err.print(question, end="", soft_wrap=True)
        while not select([sys.stdin], [], [], ASKS_FOR)[0]:
            meanwhile()
        return sys.stdin.readline().strip()

    @contextmanager
    def progress(self, total: int) -> Iterator[Callable[[int, int], None]]:
        """Yield a function that shows how many of how many are done, with rate and time left, where somebody looks."""
        if not self.err.is_terminal:
            yield lambda _done, _total: None
            return
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
        with Progress(*columns, console=self.err) as bar:
            task = bar.add_task("", total=total, rate="")
            began = monotonic()
            yield lambda done, of: bar.update(
                task, completed=done, total=of, rate=f"{done / max(monotonic() - began, 0.1):.0f}/s"
            )


def console(stream: Any) -> Console:
    """Return rich's console of a stream."""
    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH, markup=False, highlight=False)


def messages(count: int) -> str:
    """Return so many messages in words."""
    return "1 message" if count == 1 else f"{count} messages"


def printable(text: str, *, lines: bool = False) -> str:
    """Return the text with what could steer a terminal, or turn its direction, written as escapes.

    Args:
        text: what somebody wrote.
        lines: True to keep line ends and tabs.
    """
    kept = "\n\t" if lines else ""
    return "".join(
        each if each.isprintable() or each in kept else each.encode("unicode_escape", "surrogatepass").decode()
        for each in text
    )


@contextmanager
def stopping() -> Iterator[Stop]:
    """Note the first Ctrl-C or SIGTERM, so that a call gets its answer; the second one ends the process."""
    stop = Stop()

    def handle(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.requested = True

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
