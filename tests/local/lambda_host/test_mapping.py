"""Test a poller whose broker answers nonsense, or which is stopped."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deadlines import DEADLINE
from local.lambda_host.test_template import MAPPING, SHOP
from recoverable_local.decisions import FactsFile
from recoverable_local.lambda_host.journal import Entry, Expired, FunctionLog, Journal, Throttled
from recoverable_local.lambda_host.mapping import Poller
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.runtime.pool import Pool
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.lambda_host.sam.created import CreatedQueue
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.outcomes import Died, TimedOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_sqs.type_defs import MessageTypeDef


class Nonsense(Sqs):
    """An endpoint that answers without what every message has."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", region="us-east-1")

    def receive(
        self, url: str, *, max_messages: int, wait: int, visibility: timedelta | None = None
    ) -> Sequence[MessageTypeDef]:
        return [{"Body": "no id"}]


class OneMessage(Sqs):
    """An endpoint with one message, which counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", region="us-east-1")
        self.asked = 0

    def receive(
        self, url: str, *, max_messages: int, wait: int, visibility: timedelta | None = None
    ) -> Sequence[MessageTypeDef]:
        self.asked += 1
        return [{"MessageId": "m-1", "ReceiptHandle": "h-1", "Body": "", "MD5OfBody": ""}]

    def delete(self, url: str, handles: Sequence[str]) -> list[str]:
        return []


class OneDelivery(OneMessage):
    """An endpoint that delivers its message once, and notes how soon it is to show it again; then the poller is to stop."""

    def __init__(self, stopping: threading.Event) -> None:
        super().__init__()
        self._stopping = stopping
        self.shown_after = list[timedelta]()

    def receive(
        self, url: str, *, max_messages: int, wait: int, visibility: timedelta | None = None
    ) -> Sequence[MessageTypeDef]:
        if not self.asked:
            return super().receive(url, max_messages=max_messages, wait=wait)
        self._stopping.set()
        return []

    def make_visible(self, url: str, handles: Sequence[str], after: timedelta = timedelta(0)) -> None:
        assert handles == ["h-1"]
        self.shown_after.append(after)


class Slots(threading.Semaphore):
    """The slots of a poller that is told to stop while it waits for the second."""

    def __init__(self, stopping: threading.Event) -> None:
        super().__init__(1)
        self._stopping, self._asked = stopping, 0

    def acquire(self, *how: Any, **further: Any) -> bool:
        self._asked += 1
        if self._asked == 2:
            self._stopping.set()
        return super().acquire(*how, **further)


NOTHING_FAILED = Returned("null")


@dataclass(eq=False)
class Ready:
    """An instance that needs no time, and the outcome of its invocations."""

    outcome: Outcome = NOTHING_FAILED
    pid, alive = 1, True

    def initialize(self) -> None:
        """Nothing is to be loaded."""

    def invoke(self, invocation: Invocation) -> Outcome:
        return self.outcome

    def stop(self) -> None:
        """Nothing is held."""


NO_FACTS = FactsFile(Path(os.devnull))


def poller(
    sqs: Sqs,
    pool: Pool,
    stopping: threading.Event,
    *,
    function: Function = SHOP,
    journal: Journal | None = None,
    **settings: Any,
) -> Poller:
    times = {"visibility_timeout": timedelta(seconds=30), "redeliver_after": None, **settings}
    return Poller(
        MAPPING,
        queue=CreatedQueue("orders", "http://broker/orders", "arn:aws:sqs:us-east-1:42:orders"),
        fifo=False,
        concurrency=1,
        sqs=sqs,
        invoker=Invoker(function, "arn", pool, journal or Journal(FunctionLog), NO_FACTS),
        stopping=stopping,
        **times,
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # it is what is provoked
def test_a_poller_that_fails_does_not_wait_for_what_never_began() -> None:
    idle = Pool(lambda: pytest.fail("no instance is needed"), limit=None)
    reading = threading.Thread(target=poller(Nonsense(), idle, threading.Event()).run, daemon=True)
    reading.start()
    reading.join(timeout=DEADLINE)

    assert not reading.is_alive()


def test_nothing_is_received_once_it_is_to_stop() -> None:
    """It would count as a delivery, though no instance is left for it."""
    sqs, stopping = OneMessage(), threading.Event()
    reader = poller(sqs, Pool(Ready, limit=None), stopping)
    reader._slots = Slots(stopping)
    reader.run()

    assert sqs.asked == 1


@pytest.mark.parametrize(
    ("outcome", "processes", "shown"),
    [
        (Died(1), None, True),
        (TimedOut(timedelta(seconds=1)), None, True),
        (TimedOut(timedelta(seconds=1)), 3, False),  # its handler goes on
        (InitFailed("ImportError", "no such module"), None, True),
        (Raised("UnfinishedBatch", "what is left waits for as long as the endpoint said"), None, False),
        (Returned("null"), None, False),
    ],
    ids=["died", "timed out", "timed out but not killed", "not loaded", "raised", "returned"],
)
def test_what_had_no_process_left_comes_back_after_the_time_that_is_set(
    outcome: Outcome, processes: int | None, *, shown: bool
) -> None:
    stopping, after = threading.Event(), timedelta(seconds=2)
    sqs, shop = OneDelivery(stopping), replace(SHOP, processes=processes)

    poller(sqs, Pool(lambda: Ready(outcome), limit=None), stopping, function=shop, redeliver_after=after).run()

    assert sqs.shown_after == ([after] if shown else [])


def test_a_batch_for_which_no_instance_becomes_free_is_visible_again() -> None:
    stopping, entries = threading.Event(), list[Entry]()
    busy = Pool(Ready, limit=1)
    busy.take(timeout=timedelta(0))

    poller(
        OneDelivery(stopping),
        busy,
        stopping,
        journal=Journal(FunctionLog, entries.append),
        visibility_timeout=timedelta(milliseconds=1),
    ).run()

    assert entries == [Throttled("Shop", ("m-1",)), Expired("Shop", ("m-1",))]
