"""A handler for both clouds: it fails in a way of its own on each message, and what is logged about that goes to standard output."""

from __future__ import annotations

import logging
import sys
import time
from datetime import timedelta

from recoverable import Delayed, Failed, Immediate, Message, Recoverability


class CardDeclinedError(Exception):
    """Not worth another attempt."""


class OneLine(logging.Formatter):
    """A record with its traceback in one line."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", " | ")


def place_order(message: Message) -> None:
    sys.stdout.write(f"RUN {message.id} {message.round}.{message.attempt} {time.time()}\n")
    match message.json():
        case {"fails": "always"}:
            raise ValueError("out of stock")
        case {"fails": "in round 0"} if message.round == 0:
            raise LookupError("no such customer yet") from KeyError("customer")
        case {"fails": "for good"}:
            raise CardDeclinedError("42")
        case _:
            pass


recoverability = Recoverability(
    Immediate(1), Delayed(2, timedelta(seconds=1)), Failed(unrecoverable=(CardDeclinedError,))
)

log = logging.getLogger("recoverable")
log.setLevel(logging.INFO)
log.propagate = False  # each cloud's own log would have the lines a second time
stdout = logging.StreamHandler(sys.stdout)
stdout.setFormatter(OneLine("LOG %(levelname)s %(name)s: %(message)s"))
log.addHandler(stdout)
