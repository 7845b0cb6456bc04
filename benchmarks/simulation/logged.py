"""How much a failed message writes into the log, which CloudWatch charges for by the byte."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from simulation.cell import Cell, simulate

MESSAGES = 20

SUBJECTS = ("recoverable", "recoverable, 5 attempts", "redrive policy", "Powertools")
"""Those whose log is their own; what stands for NServiceBus here logs nothing."""


TASK = "/var/task"
"""Where Lambda has a function's code, and what it brings along."""


class Bytes(logging.Handler):
    """Counts the bytes of what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("[%(levelname)s]\t%(asctime)s\t%(name)s\t%(message)s"))
        self.bytes = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count the record."""
        self.bytes += len(as_on_lambda(self.format(record)).encode()) + 1


def as_on_lambda(text: str) -> str:
    """Return a text whose tracebacks name files as on Lambda, so that it is as long wherever this runs."""
    for folder in sorted(filter(None, sys.path), key=len, reverse=True):
        text = text.replace(f'"{folder}/', f'"{TASK}/')
    return text


def logged(subject: str) -> float:
    """Return the bytes for each of a few messages that all fail, with the traceback that Lambda's runtime writes of a failed invocation."""
    with counting() as handler:
        simulate(Cell(subject, MESSAGES, 1, 1))
    return handler.bytes / MESSAGES


@contextmanager
def counting() -> Iterator[Bytes]:
    """Attach a handler to the root logger, and detach it at the end."""
    handler = Bytes()
    logging.getLogger().addHandler(handler)
    try:
        yield handler
    finally:
        logging.getLogger().removeHandler(handler)
