"""What the commands say, and what they read from their arguments, each in one place."""

from __future__ import annotations

import argparse
import sys


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
