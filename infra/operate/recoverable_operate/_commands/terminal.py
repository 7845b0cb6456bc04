"""Write to the terminal, ask, and make text harmless that others wrote."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from select import select
from time import monotonic
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from recoverable_operate.errors import Stop

DONE, PARTLY, REFUSED, NOTHING, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses; the last as POSIX shells have it, 128 + SIGINT."""

ASKS_FOR = 20
"""Seconds between two looks at what is held while a question waits for its answer."""

LINE_EVERY, REFRESHED_EVERY = 10.0, 0.25
"""Seconds between two lines about the progress of a run, and between two looks at it for a bar on a terminal."""

PIPE_WIDTH = 120
"""Columns where nobody has a terminal of a width."""


class Terminal:
    """The operator's terminal: shows, notes and asks.

    `interactive` is True if somebody can answer.

    Args:
        quiet: True to leave out remarks, and how far a run is.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self.interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self._out, self.err = console(sys.stdout), console(sys.stderr)

    def show(self, *parts: str | Table) -> None:
        """Print tables, and lines whose text cannot steer the terminal or forge another line."""
        for part in parts:
            if isinstance(part, str):
                self._out.print(printable(part), soft_wrap=True)
            else:
                self._out.print(part)

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
        self.err.print(printable(text), soft_wrap=True)

    def remark(self, text: str) -> None:
        """Print a line that nobody needs to act on, unless it is to be quiet."""
        if not self._quiet:
            self.note(text)

    def answer(self, question: str, meanwhile: Callable[[], None]) -> str:
        """Return what the operator types; while nobody does, keep what is held from coming back."""
        self.err.print(question, end="", soft_wrap=True)
        while not select([sys.stdin], [], [], ASKS_FOR)[0]:
            meanwhile()
        return sys.stdin.readline().strip()

    @contextmanager
    def watching(self, progress: Callable[[], Progress]) -> Iterator[None]:
        """Show how far a run is while it goes on: on a terminal a bar that fills, else a line every ten seconds.

        Args:
            progress: returns how far it is; called in a thread of its own.
        """
        if self._quiet:
            yield
            return
        ended, began = threading.Event(), monotonic()
        with self._shown() as (show, every):

            def watch() -> None:
                while not ended.wait(every):
                    show(progress(), monotonic() - began)

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            try:
                yield
            finally:
                ended.set()
                watcher.join()

    @contextmanager
    def _shown(self) -> Iterator[tuple[Callable[[Progress, float], None], float]]:
        """Yield a function that shows how far a run is after so many seconds, and how many seconds apart it is called."""
        if not self.err.is_terminal:
            yield lambda progress, seconds: self.note(progress.text(seconds)), LINE_EVERY
            return
        with Bar(BarColumn(), TextColumn("{task.description}"), console=self.err, transient=True) as bar:
            task = bar.add_task("")

            def show(progress: Progress, seconds: float) -> None:
                bar.update(task, completed=progress.done, total=progress.of, description=progress.text(seconds))

            yield show, REFRESHED_EVERY


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Args:
        seen: how many messages were looked at.
        depth: about how many messages the queue holds; None where the broker does not say it.
        matched: how many of those that were looked at the filter chose.
        chosen: how many are to be sent.
        settled: how many of these are sent, or stay; None while nothing is sent.
    """

    seen: int
    depth: int | None
    matched: int
    chosen: int = 0
    settled: int | None = None

    @property
    def done(self) -> int:
        """Return how many messages are looked at or, once messages are sent, settled."""
        return self.seen if self.settled is None else self.settled

    @property
    def of(self) -> int | None:
        """Return out of how many; None where that is not known."""
        return self.depth if self.settled is None else self.chosen

    def text(self, seconds: float) -> str:
        """Return it in words.

        Args:
            seconds: for how long the run goes on.
        """
        of = "" if self.depth is None else f" of about {max(self.depth, self.seen):,}"
        said = f"{self.seen:,}{of} looked at, {self.matched:,} match"
        if not self.settled:
            return said
        rate = self.settled / max(seconds, 0.1)
        left = round((self.chosen - self.settled) / rate)
        return f"{said}, {self.settled:,} of {self.chosen:,} sent, {rate:.0f} a second, {left} s left"


def console(stream: Any) -> Console:
    """Return rich's console of a stream."""
    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH, markup=False, highlight=False)


def messages(count: int) -> str:
    """Return so many messages in words."""
    return "1 message" if count == 1 else f"{count} messages"


def printable(text: str) -> str:
    """Return the text in one line, with what could steer a terminal, or turn its direction, written as escapes."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "surrogatepass").decode() for each in text
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
