"""A poller whose broker answers what no broker should."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from local.test_template import MAPPING, SHOP
from recoverable.local.aws.invoker import Invoker
from recoverable.local.aws.journal import FunctionLog, Journal
from recoverable.local.aws.mapping import Poller
from recoverable.local.aws.pool import Pool
from recoverable.local.aws.sam.created import CreatedQueue
from recoverable.local.aws.sqs import Sqs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_sqs.type_defs import MessageTypeDef


class Nonsense(Sqs):
    """An endpoint that answers without what every message has."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", region="us-east-1")

    def receive(
        self, url: str, *, most: int, wait: int, visibility: timedelta | None = None
    ) -> Sequence[MessageTypeDef]:
        return [{"Body": "no id"}]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # it is what is provoked
def test_a_poller_that_fails_does_not_wait_for_what_never_began() -> None:
    journal = Journal(FunctionLog)
    poller = Poller(
        MAPPING,
        queue=CreatedQueue("orders", "http://broker/orders", "arn:aws:sqs:us-east-1:42:orders"),
        fifo=False,
        visibility_timeout=timedelta(seconds=30),
        concurrency=1,
        sqs=Nonsense(),
        invoker=Invoker(SHOP, "arn", Pool(lambda: pytest.fail("no instance is needed"), limit=None), journal),
        stopping=threading.Event(),
    )
    reading = threading.Thread(target=poller.run, daemon=True)
    reading.start()
    reading.join(timeout=60)

    assert not reading.is_alive()
