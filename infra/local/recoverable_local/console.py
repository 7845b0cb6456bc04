"""What the commands have in common: what they read from their arguments, what they say, and that they serve until they are stopped."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from types import FrameType
from typing import TypeVar

Host = TypeVar("Host")

LAST_PORT = 65_535
"""What 16 bits hold (RFC 9293)."""

_TICK = 0.1  # seconds


def say(text: str) -> None:
    """Print a line at once, for whoever reads a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def serve(host: AbstractContextManager[Host], welcome: Callable[[Host], str]) -> None:
    """Run a host until Ctrl-C or a request to terminate; `welcome` tells what it runs."""
    with _signals() as received, host as running:
        say(welcome(running))
        while not received:
            time.sleep(_TICK)
        say("Stopping.")


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Note the first signal; the second ends the process, for a handler that sits at a breakpoint.

    A list and no `Event`: a signal that the system hands to another thread would not wake one that waits for a lock.
    """
    received: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        received.append(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def fail(command: str, error: object) -> int:
    """Say why a command did not do its work; gives its exit status."""
    sys.stderr.write(f"recoverable {command}: {error}\n")
    return 2


def name_and_value(text: str) -> tuple[str, str]:
    """The two parts of NAME=VALUE.

    Raises:
        argparse.ArgumentTypeError: There is no name, or no equals sign.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE")
    return name, value


def port(text: str) -> int:
    """The number of a port, 0 for any free one.

    Raises:
        argparse.ArgumentTypeError: There is no such port.
    """
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write 0 (any free one) to {LAST_PORT}")
    return int(text)


def seconds(text: str) -> timedelta:
    """A time in seconds.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    try:
        return timedelta(seconds=float(text))
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from error


def whole_seconds(text: str) -> timedelta:
    """A time in whole seconds.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; write a whole one")
    return seconds(text)
