"""Write to the terminal, ask, and make text harmless that others wrote."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console, RenderableType

from recoverable.operate.port import Stop

DONE, PARTLY, REFUSED, NOTHING, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses; the last as POSIX shells have it, 128 + SIGINT."""

PIPE_WIDTH = 120
"""Columns where nobody has a terminal of a width."""


class Terminal:
    """What the operator sees and answers.

    Args:
        interactive: True if somebody can answer; None to find out.
        ask: asks a question, and returns the answer.
    """

    def __init__(self, *, interactive: bool | None = None, ask: Callable[[str], str] = input) -> None:
        found = sys.stdin.isatty() and sys.stdout.isatty()
        self.interactive = found if interactive is None else interactive
        self._ask = ask
        self._out, self.err = console(sys.stdout), console(sys.stderr)

    def show(self, renderable: RenderableType) -> None:
        """Print a table or a text."""
        self._out.print(renderable, markup=False, highlight=False, soft_wrap=isinstance(renderable, str))

    def data(self, value: dict[str, Any]) -> None:
        """Print a line of JSON, its control characters escaped."""
        sys.stdout.write(json.dumps(value) + "\n")

    def note(self, text: str) -> None:
        """Print a line beside the result: to stderr."""
        self.err.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def agrees(self, question: str) -> bool:
        """True if the operator answers yes."""
        try:
            return self._ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            return False


def console(stream: Any) -> Console:
    """Return rich's console of a stream."""
    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH, markup=False, highlight=False)


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
