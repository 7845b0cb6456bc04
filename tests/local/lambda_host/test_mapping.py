"""Test a poller whose broker answers nonsense, or which is stopped."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.lambda_host.test_template import MAPPING, SHOP
from recoverable_local.decisions import FactsFile
from recoverable_local.lambda_host.journal import FunctionLog, Journal
from recoverable_local.lambda_host.mapping import Poller
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.outcomes import Returned
from recoverable_local.lambda_host.runtime.pool import Pool
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.lambda_host.sam.created import CreatedQueue
from recoverable_local.lambda_host.services.sqs import Sqs

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


class Ready:
    """An instance that needs no time."""

    pid, alive = 1, True

    def initialize(self) -> None:
        """Nothing is to be loaded."""

    def invoke(self, invocation: Invocation) -> Returned:
        return Returned("null")

    def stop(self) -> None:
        """Nothing is held."""


NO_FACTS = FactsFile(Path(os.devnull))


def poller(sqs: Sqs, pool: Pool, stopping: threading.Event) -> Poller:
    return Poller(
        MAPPING,
        queue=CreatedQueue("orders", "http://broker/orders", "arn:aws:sqs:us-east-1:42:orders"),
        fifo=False,
        visibility_timeout=timedelta(seconds=30),
        concurrency=1,
        sqs=sqs,
        invoker=Invoker(SHOP, "arn", pool, Journal(FunctionLog), NO_FACTS),
        stopping=stopping,
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # it is what is provoked
def test_a_poller_that_fails_does_not_wait_for_what_never_began() -> None:
    idle = Pool(lambda: pytest.fail("no instance is needed"), limit=None)
    reading = threading.Thread(target=poller(Nonsense(), idle, threading.Event()).run, daemon=True)
    reading.start()
    reading.join(timeout=60)

    assert not reading.is_alive()


def test_nothing_is_received_once_it_is_to_stop() -> None:
    """It would count as a delivery, though no instance is left for it."""
    sqs, stopping = OneMessage(), threading.Event()
    reader = poller(sqs, Pool(Ready, limit=None), stopping)
    reader._slots = Slots(stopping)
    reader.run()

    assert sqs.asked == 1
