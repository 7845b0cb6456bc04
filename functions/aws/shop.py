"""Place orders: the shop's own code, which knows messages, and nothing of clouds, queues or retries."""

from __future__ import annotations

import logging
import os

from recoverable import Message

log = logging.getLogger("shop")


class CardDeclined(Exception):
    """Raised when the bank said no; asking again will not help."""


class BankUnreachable(Exception):
    """Raised when the bank did not answer; asking again may help."""


def is_bank_failure(error: BaseException) -> bool:
    """True if a failure concerns the bank, and so the next orders too; a declined card concerns its own order only."""
    return not isinstance(error, CardDeclined)


def place_order(message: Message) -> None:
    """Charge the card of one order, and tell the queue of placed orders, if the environment names one."""
    order = message.json()
    if placed := os.environ.get("PLACED_QUEUE"):
        message.send(placed, {"order": order["id"]})  # it leaves when this attempt has succeeded, and else not
    sent_back = "Recoverable.Redrives" in message.headers
    charge(order["card"], attempt=message.attempt, round_=message.round, sent_back=sent_back)
    log.info("order %s is placed", order["id"])


def charge(card: str, *, attempt: int, round_: int, sent_back: bool) -> None:
    """Pretend to be a bank: as with the test cards of real banks, the card decides the answer."""
    match card:
        case "declined":
            raise CardDeclined("do not honour")
        case "slow-bank" if round_ == 0:
            raise BankUnreachable("no answer before the first delayed retry")
        case "flaky-bank" if attempt < 3:
            raise BankUnreachable(f"no answer at attempt {attempt}")
        case "no-bank" if not sent_back:
            raise BankUnreachable("no answer until an operator sends the order back")
        case "crash":
            os._exit(1)  # what a crash in a C extension or lack of memory does to the process
        case _:
            pass  # the bank agrees
