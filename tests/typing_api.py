"""The public API as type checkers see it: checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, assert_never, assert_type

from pydantic import BaseModel

from recoverable import (
    Action,
    Delayed,
    DelayedRetry,
    Discard,
    ErrorContext,
    Exponential,
    Facts,
    Failed,
    HandlerTimeout,
    Immediate,
    ImmediateRetry,
    Message,
    MessageDeserializationError,
    MoveToError,
    OutgoingRefused,
    Policy,
    RateLimit,
    Recoverability,
    RetryAfter,
    StoreUnavailable,
    UnreportedFailure,
    default_policy,
)
from recoverable.aws import SqsEndpoint, UnfinishedBatch
from recoverable.azure import Abandoned, CopyNotSent, ServiceBusEndpoint
from recoverable.circuits import DynamoDbCircuit, PauseTrigger, Probe, SqsProbeQueue, TableCircuit
from recoverable.extensions import BodyNotFetched, Heartbeat, Observe, S3Bodies
from recoverable.hosting import Deadline, Environment, TimeUp, current_environment, is_coroutine_function, utc_clock
from recoverable.powertools import RecoverableBatchProcessor
from recoverable.timeouts import (
    CriticalError,
    Dispatcher,
    DynamoDbStore,
    Report,
    Row,
    SendFailed,
    Store,
    Timeout,
    Timeouts,
    TimeoutsQueue,
    TooLarge,
)
from recoverable_local.timeouts import SqliteStore


class Order(BaseModel):
    """A model."""

    number: int


def length(body: bytes) -> int:
    """Return the length of a body, as a reader."""
    return len(body)


def place_order(message: Message) -> None:
    """Use all that a handler may use."""
    assert_type(message.id, str)
    assert_type(message.body, bytes)
    assert_type(message.text, str)
    assert_type(message.headers, Mapping[str, str])
    assert_type(message.attempt, int)
    assert_type(message.round, int)
    assert_type(message.queue, str)
    assert_type(message.sent_at, datetime | None)
    assert_type(message.group_id, str | None)
    assert_type(message.parse(Order), Order)
    assert_type(message.parse(length), int)
    _ = message.parse(Order).colour  # type: ignore[attr-defined]  # a model keeps its type
    message.send("invoices", {"order": 42}, message_type="Shop.PlaceInvoice", delay=timedelta(minutes=1))
    message.publish("Shop-OrderPlaced", b"{}", message_type="Shop.OrderPlaced", attributes={"kind": 1})
    message.reply("{}", message_type="Shop.OrderAccepted", headers={"tenant": "north"})
    message.reply("invoices", "{}")  # type: ignore[arg-type,call-arg]  # the queue is the sender's to name
    message.send("invoices", "{}", message_type=Order)  # type: ignore[arg-type]  # a name
    message.headers["tenant"] = "north"  # type: ignore[index]  # headers cannot be changed
    raise RetryAfter(timedelta(seconds=30))


async def ship_order(message: Message) -> None:
    """Take a message, as a coroutine handler."""


def not_found(error: BaseException) -> bool:
    """Return an answer, as a predicate."""
    return getattr(error, "status", None) == 404


def patient(recoverability: Recoverability, context: ErrorContext) -> Action:
    """Return an action, as a policy."""
    action = default_policy(recoverability, context)
    match action:
        case DelayedRetry(delay):
            assert_type(delay, timedelta)
            return DelayedRetry(delay * 2)
        case MoveToError(error_queue):
            assert_type(error_queue, str | None)
        case Discard(reason):
            assert_type(reason, str)
        case ImmediateRetry():
            pass
        case _:
            assert_never(action)
    return action


policy: Policy = patient
settings = Recoverability(
    immediate=Immediate(max_retries=5),
    delayed=Delayed(max_retries=3, time_increase=timedelta(seconds=10), jitter=0.5),
    failed=Failed(error_queue="orders-error", unrecoverable=(KeyError, not_found, MessageDeserializationError)),
    policy=policy,
)
Delayed(backoff=Exponential(timedelta(seconds=1), factor=3, maximum=timedelta(hours=1)))
Delayed(backoff=lambda made: timedelta(seconds=made))

SqsEndpoint(place_order)
SqsEndpoint(ship_order, settings, concurrency=10, handler_timeout=timedelta(seconds=20), counter="header")
lambda_handler: Callable[[dict[str, Any], Any], Any] = SqsEndpoint(place_order, settings)

Immediate("5")  # type: ignore[arg-type]  # a number
Delayed(3, 10)  # type: ignore[arg-type]  # a timedelta
Delayed(backoff=length)  # type: ignore[arg-type]  # from a number to a timedelta
Failed(unrecoverable=(int,))  # type: ignore[arg-type]  # an exception type
Recoverability(policy=lambda recoverability, context: None)  # type: ignore[arg-type,return-value]  # an action
SqsEndpoint(place_order, counter="both")  # type: ignore[arg-type]  # one of two
SqsEndpoint(length)  # type: ignore[arg-type]  # takes a message


def page_somebody(facts: Facts, message: Message) -> None:
    """Take the facts, as a callback."""
    assert_type(facts.exception, BaseException | None)


circuit = DynamoDbCircuit("circuits", "orders")
pause = PauseTrigger(circuit, queue_arn="arn:aws:sqs:eu-central-1:123456789012:orders", function="orders")
limit = RateLimit(20, store=circuit, on_started=pause.start, on_ended=pause.stop)
limited = settings.replace(rate_limit=limit, observe=Observe(on_error=page_somebody))
assert_type(limited, Recoverability)
assert_type(limited.immediate.replace(max_retries=1), Immediate)
RateLimit(20, store=TableCircuit("circuits", "orders"))
RateLimit(20, store="circuits")  # type: ignore[arg-type]  # a store
Recoverability.from_environment(delayed=lambda read: read.replace(jitter=0.5), rate_limit=lambda _read: limit)

store: Store = DynamoDbStore("timeouts", bucket="large-timeouts")
timeouts = Timeouts(SqliteStore("timeouts.sqlite"))
Dispatcher(store)
SqsEndpoint(TimeoutsQueue(timeouts))
endpoint = SqsEndpoint(
    place_order, limited, timeouts=timeouts, extensions=(S3Bodies(buckets=("bodies",)), Heartbeat(timedelta(minutes=2)))
)
Probe(endpoint, pause, SqsProbeQueue("arn:aws:sqs:eu-central-1:123456789012:orders"))
ServiceBusEndpoint(place_order, limited, queue="orders", connection="ServiceBus")
RecoverableBatchProcessor(limited)

environment = Environment(None, utc_clock(None), Deadline)
current_environment.set(environment)
assert_type(is_coroutine_function(ship_order), bool)
raised: tuple[type[BaseException], ...] = (
    Abandoned,
    BodyNotFetched,
    CopyNotSent,
    CriticalError,
    HandlerTimeout,
    OutgoingRefused,
    SendFailed,
    StoreUnavailable,
    TimeUp,
    TooLarge,
    UnfinishedBatch,
    UnreportedFailure,
)
values: tuple[type, ...] = (Report, Row, Timeout)
