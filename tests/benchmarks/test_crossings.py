"""The count of files and calls that one message takes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import TracebackType

import pytest

from crossings import counts, crossings, fail, on_service_bus, on_sqs, succeed
from recoverable import Message
from recoverable._ladder.faults import walk

MOST = {
    "SQS, a good record": (9, 16),
    "SQS, an immediate retry": (28, 72),
    "SQS, a delayed retry": (32, 105),
    "SQS, a move to the error queue": (33, 121),
    "Service Bus, a good record": (8, 14),
    "Service Bus, an immediate retry": (20, 46),
    "Service Bus, a delayed retry": (27, 79),
    "Service Bus, a move to the error queue": (28, 90),
    "Service Bus, a batch of two delayed retries": (26, 138),
    "Service Bus, a batch of three delayed retries": (26, 195),
    "SQS, `errors retry`": (30, 200),
}
"""Files, and calls from one into another; raised only in the commit that adds what needs it. Of a failure on SQS two
files and 17 calls know until when its message is hidden, by which clock (`aws/_lease.py`), and on Service Bus one file
and four calls until when its lock holds (`azure/_waiting.py`); of a move to the error queue eight and six say what its
body is, and for how long its handler ran, and on Service Bus one file and two calls keep what ServiceControl would
lose; of each failure one call asks whether its exception can be read and some ask what a group holds, and two files
and five calls remember it; of a copy on SQS two calls ask whether it can be made; of `errors retry` two calls ask
whose dead letters come by a queue in between."""


@pytest.mark.parametrize("on", [on_sqs, on_service_bus])
def test_a_delayed_retry_takes_more_files_and_calls_than_a_good_record(on: Callable[..., Callable[[], object]]) -> None:
    good, retried = crossings(on(succeed)), crossings(on(fail))

    assert 1 < len(good.files) < len(retried.files)
    assert 1 < good.calls < retried.calls


def test_what_the_garbage_collector_ends_meanwhile_does_not_count() -> None:
    kept, threshold = list[object](), gc.get_threshold()

    def begin(left: list[object]) -> None:
        frames = walk(TracebackType(None, sys._getframe(), 0, 1))
        next(frames)
        left.append(frames)

    def leave(message: Message) -> None:
        left: list[object] = []
        left.append(left)  # so that only the garbage collector finds what it holds
        begin(left)

    gc.set_threshold(1)
    try:
        assert crossings(on_sqs(leave)) == crossings(on_sqs(lambda message: begin(kept)))
    finally:
        gc.set_threshold(*threshold)


def test_a_message_takes_no_more_files_and_calls_than_it_may() -> None:
    counted = counts()

    above = {
        what: each for what, each in counted.items() if any(n > most for n, most in zip(each, MOST[what], strict=True))
    }
    assert counted.keys() == MOST.keys()
    assert above == {}
