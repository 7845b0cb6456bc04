"""Define the settings of an SQS endpoint as one value that checks itself, and what they say of its platform."""

from __future__ import annotations

import os
from datetime import timedelta

from recoverable._config import Recoverability, error_queue_of
from recoverable._frozen import Frozen, field
from recoverable._ladder.settlement import Platform
from recoverable._sqs.queues import LONGEST_DELAY

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from mypy_boto3_sqs import SQSClient

    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Counter
    from recoverable.timeouts import Timeouts

LONGEST_NAME = 80
"""Characters of a queue's name (Amazon SQS, CreateQueue)."""

SETTLE_WITHIN = timedelta(seconds=3)
"""The part of an invocation's time that is kept for settling, unless said otherwise."""


class SqsSettings(Frozen):
    """The settings that `SqsEndpoint` and `RecoverableBatchProcessor` share.

    Args:
        owner: the name of the class that was given them, for errors.
        recoverability: the settings for retries; made with the error queue that counts: as given, else by the
            environment, else "error".
        client: see `SqsEndpoint`, as for the rest.
        clock: returns the time.
        counter: "native" or "header".
        handler_timeout: how long a handler may work on one message.
        settle_within: the time kept for settling.
        longest_delay: how long one copy waits.
        timeouts: where copies are stored that must wait longer; None for hops.
        visibility_timeout: the shortest time for which a received message stays hidden.
        retention: for how long the queue keeps a message; None for what SQS says.
        extensions: what watches or feeds the endpoint.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a setting out of range.
    """

    owner: str
    recoverability: Recoverability
    client: SQSClient | None = field(default=None, kw_only=True)
    clock: Callable[[], datetime] | None = field(default=None, kw_only=True)
    counter: Counter = field(default="native", kw_only=True)
    handler_timeout: timedelta | None = field(default=None, kw_only=True)
    settle_within: timedelta = field(default=SETTLE_WITHIN, kw_only=True)
    longest_delay: timedelta = field(default=LONGEST_DELAY, kw_only=True)
    timeouts: Timeouts | None = field(default=None, kw_only=True)
    visibility_timeout: timedelta | None = field(default=None, kw_only=True)
    retention: timedelta | None = field(default=None, kw_only=True)
    extensions: tuple[object, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        """Check the settings, and name the error queue."""
        self._assign(recoverability=with_error_queue(self.owner, self.recoverability))
        if not self._by_name.items() <= vars(self).items():
            self._assign(client=options().check_options(self))

    def platform(self, *, fifo: bool) -> Platform:
        """Return what a queue counts and can do, with the names by which operators know the function and this instance's log stream."""
        function = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
        machine = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME", "" if function else "local")  # SnapStart names none
        host = function or "local"
        platform = Platform(redelivers_only=fifo, is_source=is_source, key_of=sqs_key, host=host, machine=machine)
        return platform if fifo else platform.replace(counter=self.counter, longest_delay=self.longest_delay)


def with_error_queue(owner: str, recoverability: Recoverability) -> Recoverability:
    """Return the settings with the error queue named; see `error_queue_of`.

    Raises:
        TypeError: no settings.
        ValueError: the error queue is no name, ARN or URL of an SQS queue: refused now, not when the first message
            fails.
    """
    name = error_queue_of(owner, recoverability, os.environ.get)
    if len(name) > LONGEST_NAME or not (name.isascii() and name.replace("-", "_").isidentifier()):
        options().check_error_queue(owner, name)
    return recoverability.replace(failed=recoverability.failed.replace(error_queue=name))


def is_source(name: str, delivery: Delivery) -> bool:
    """True if a name, an ARN or a URL is that of the queue that a delivery came from."""
    is_its_own: bool = options().names_source(name, delivery.native["eventSourceARN"])
    return is_its_own


def sqs_key(delivery: Delivery) -> tuple[str, str]:
    """Return the queue and the id by which SQS knows a message."""
    return delivery.native["eventSourceARN"], delivery.native["messageId"]


def options() -> Any:
    """Return the module that checks what most endpoints leave out."""
    import recoverable.aws._options as module  # noqa: PLC0415  # door: to settings that most endpoints leave out

    return module
