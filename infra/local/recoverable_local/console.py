"""Parse arguments, print lines and serve until Ctrl-C: shared by all commands of the local cloud."""

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
"""The highest port number: 16 bits (RFC 9293)."""

_TICK = 0.1  # seconds


def print_line(text: str) -> None:
    """Print a line and flush, so that a program that reads a pipe gets it at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def print_note(text: str) -> None:
    """Print a line to stderr, where stdout is for a program that reads JSON."""
    sys.stderr.write(text + "\n")


def serve(
    host: AbstractContextManager[Host], startup_text: Callable[[Host], str], write: Callable[[str], None] = print_line
) -> None:
    """Run a host until SIGINT (Ctrl-C) or SIGTERM, and print its startup text.

    Args:
        host: The host; entered here, and left when a signal arrives.
        startup_text: Returns the lines to print once the host runs.
        write: Prints a text.
    """
    with _signals() as received, host as running:
        write(startup_text(running))
        while not received:
            time.sleep(_TICK)
        write("Stopping.")


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Record the first signal. The second one ends the process: a handler may be waiting at a breakpoint.

    The signals are recorded in a list, not in an `Event`: when the system delivers a signal to another thread, it does not
    wake a thread that waits for a lock.
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


def print_error(command: str, error: object) -> int:
    """Print why a command failed, and return its exit status, 2."""
    sys.stderr.write(f"recoverable {command}: {error}\n")
    return 2


def add_raw(parser: argparse.ArgumentParser) -> None:
    """Add the option for a program that reads what is printed."""
    parser.add_argument(
        "--raw",
        action="store_true",
        help="print each decision, log line and event as JSON, a line each, and all else to stderr",
    )


def port(text: str) -> int:
    """Parse a port number; 0 means any free port.

    Raises:
        argparse.ArgumentTypeError: Not a port number from 0 to 65,535.
    """
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write 0 (any free one) to {LAST_PORT}")
    return int(text)


def seconds(text: str) -> timedelta:
    """Parse a time in seconds.

    Raises:
        argparse.ArgumentTypeError: Not a number.
    """
    try:
        return timedelta(seconds=float(text))
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds") from error


def whole_seconds(text: str) -> timedelta:
    """Parse a time in whole seconds.

    Raises:
        argparse.ArgumentTypeError: Not a whole number.
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds; write a whole one")
    return seconds(text)
