"""Redaction: what a broker or a store answers passes the redactor too before it is logged, for it may quote what was sent."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from aws.recording_client import RecordingClient, confirmed
from aws.records import ARN, event, record, text
from builders import NOW, QUEUE, seconds
from observe.clouds import World, failing, on_both_clouds, serve, settings
from recoverable import DelayedRetry, Message, RateLimit, Recoverability, StoreUnavailable
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Heartbeat, S3Bodies
from recoverable.timeouts import CriticalError, Dispatcher, Timeouts
from recoverable_local.timeouts import SqliteStore
from servers.buckets import pointer

SECRET = "hunter2"
HIDDEN: Any = {"redact": lambda text: text.replace(SECRET, "***")}

QUOTED = ClientError({"Error": {"Code": "ValidationException", "Message": f"not {SECRET}"}}, "PutItem")
"""An answer of AWS that quotes the secret."""


class Quoting(RecordingClient):
    """An SQS that quotes the secret in each refusal.

    Args:
        refuses: True for a call that is refused, by its operation and its arguments.
        message: the text of the refusal.
    """

    def __init__(
        self, refuses: Callable[[str, dict[str, Any]], bool], message: str = f"the value {SECRET} is not valid"
    ) -> None:
        super().__init__()
        self._refuses, self._message = refuses, message

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        return self._answer("send", super().send_message_batch, call)

    def delete_message_batch(self, **call: Any) -> dict[str, Any]:
        return self._answer("delete", super().delete_message_batch, call)

    def change_message_visibility_batch(self, **call: Any) -> dict[str, Any]:
        return self._answer("change", super().change_message_visibility_batch, call)

    def _answer(self, operation: str, take: Callable[..., dict[str, Any]], call: dict[str, Any]) -> dict[str, Any]:
        if not self._refuses(operation, call):
            return take(**call)
        why = {"Code": "InvalidParameterValue", "Message": self._message, "SenderFault": True}
        return {**confirmed([]), "Failed": [{"Id": entry["Id"], **why} for entry in call["Entries"]]}


def succeed(message: Message) -> None:
    """Succeed."""


def to_own_queue(operation: str, call: dict[str, Any]) -> bool:
    """True for a copy for a retry."""
    return operation == "send" and call["QueueUrl"].endswith(f"/{QUEUE}")


def only(operation: str) -> Callable[[str, dict[str, Any]], bool]:
    """Return what refuses one operation."""
    return lambda called, _: called == operation


REFUSALS: dict[str, tuple[Quoting, dict[str, Any], str]] = {
    "a copy": (Quoting(only("send")), {"immediate": 0, "delayed": 0}, "SQS SendMessageBatch to 'orders-error' failed"),
    "a visibility": (Quoting(only("change")), {}, "SQS ChangeMessageVisibilityBatch failed"),
    "a deletion": (Quoting(only("delete")), {"immediate": 0, "delayed": 0}, "SQS DeleteMessageBatch failed"),
    "a copy that is too large": (
        Quoting(to_own_queue, f"must be shorter than {SECRET}"),
        {"immediate": 0},
        "a copy for a retry was refused. It moves to the error queue",
    ),
}


def told(caplog: pytest.LogCaptureFixture, part: str) -> str:
    """Return the first line with this part; no line has the secret."""
    assert SECRET not in "".join(logging.Formatter().format(each) + repr(vars(each)) for each in caplog.records)
    return next(message for message in caplog.messages if part in message)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_sqs_quotes_in_a_refusal_is_hidden(refusal: str, caplog: pytest.LogCaptureFixture) -> None:
    client, ladder, part = REFUSALS[refusal]

    SqsEndpoint(failing, **settings(**HIDDEN, **ladder), client=client.as_client())(event(record()))

    assert "***" in told(caplog, part)


def test_what_sqs_quotes_in_the_refusal_of_a_heartbeat_is_hidden(caplog: pytest.LogCaptureFixture) -> None:
    client = Quoting(only("change")).as_client()

    SqsEndpoint(succeed, Recoverability(**HIDDEN), client=client, extensions=(Heartbeat(timedelta(minutes=2)),))(
        event(record())
    )

    assert "***" in told(caplog, "They are hidden no more")


def test_what_a_store_of_long_delays_quotes_is_hidden(caplog: pytest.LogCaptureFixture) -> None:
    class Refusing(SqliteStore):
        def put(self, *_: Any, **__: Any) -> str:
            raise QUOTED

    timeouts = Timeouts(Refusing(":memory:"))
    long = settings(**HIDDEN, immediate=0, policy=lambda *_: DelayedRetry(timedelta(hours=1)))
    SqsEndpoint(failing, **long, client=RecordingClient().as_client(), timeouts=timeouts)(event(record()))

    assert "***" in told(caplog, "Storing the delayed copy")


def test_what_s3_quotes_when_it_keeps_a_body_is_hidden(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(**_: Any) -> None:
        raise QUOTED

    bodies: Any = S3Bodies(("bodies",), delete=True, client=SimpleNamespace(delete_objects=refuse))  # type: ignore[arg-type]
    stored = record(pointer("bodies", "7"), attributes={"ExtendedPayloadSize": text("300000", "Number")})
    SqsEndpoint(succeed, Recoverability(**HIDDEN), client=RecordingClient().as_client(), extensions=(bodies,))(
        event(stored)
    )

    assert "***" in told(caplog, "S3 DeleteObjects failed")


@on_both_clouds
def test_what_a_circuit_s_store_says_is_hidden(world: type[World], caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        def read(self) -> Any:
            raise StoreUnavailable(f"no answer to {SECRET}")

        def compare_and_set(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("it was read first")

    here = world()
    serve(here, failing, settings(**HIDDEN, rate_limit=RateLimit(1, store=Away())))
    here.send(QUEUE, "an order")
    here.run(for_=seconds(5))

    assert "(no answer to ***)" in "".join(caplog.messages)
    assert SECRET not in caplog.text


def test_a_dispatcher_of_timeouts_hides_what_sqs_quotes(caplog: pytest.LogCaptureFixture) -> None:
    store, client = SqliteStore(":memory:"), Quoting(only("send"))
    Timeouts(store, clock=lambda: NOW, client=client.as_client()).schedule(ARN, "hello", delay=timedelta(hours=1))

    Dispatcher(store, client=client.as_client(), clock=lambda: NOW + timedelta(hours=1), **HIDDEN)()

    assert "cannot be dispatched: InvalidParameterValue the value *** is not valid" in told(
        caplog, "cannot be dispatched"
    )


def test_a_dispatcher_of_timeouts_hides_what_its_store_says(caplog: pytest.LogCaptureFixture) -> None:
    class Away(SqliteStore):
        def claim(self, *_: Any, **__: Any) -> Any:
            raise StoreUnavailable(f"no answer to {SECRET}")

    minutes = (NOW + timedelta(minutes=number) for number in count())
    with pytest.raises(CriticalError) as caught:
        Dispatcher(Away(":memory:"), clock=minutes.__next__, sleep=lambda _: None, **HIDDEN)()

    assert told(caplog, "Failed to fetch").endswith("no answer to ***")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("redact", ["***", str])
def test_what_is_no_redactor_is_refused(redact: Any) -> None:
    with pytest.raises(TypeError, match=r"Dispatcher\(redact\) is .*; write a function from text to text"):
        Dispatcher(SqliteStore(":memory:"), redact=redact)
