"""What the commands say, and what they read from their arguments, each in one place."""

from __future__ import annotations

import argparse
import sys

LAST_PORT = 65_535
"""What 16 bits hold (RFC 9293)."""


def say(text: str) -> None:
    """Print a line at once, for whoever reads a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


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
