"""Dead letters of SQS become error copies, each once and none lost."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from aws.nservicebus.dotnet import Sent, imported, read
from aws.recording_client import RecordingClient
from aws.records import ARN, binary, event, record, text
from recoverable.hosting import Deadline, Environment, current_environment, utc_clock
from recoverable_local.testing import SqsWorld
from recoverable_operate import stamp

ORDERS = ARN
DEAD = ORDERS.replace("orders", "orders-dead")
DIED_AT = "2023-11-14 22:13:20:000000 Z"
FAILURE = {
    "NServiceBus.MessageId": "7",
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.ExceptionInfo.ExceptionType": "shop.CardDeclined",
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
    "Recoverable.FailedQueue": ORDERS,
    "Recoverable.Attempts": "24",
}
"""Headers of an error copy of this package."""


def dead(body: str = '{"id": 1}', source: str | None = ORDERS, arn: str = DEAD, **parts: Any) -> dict[str, Any]:
    """Return the record of a dead letter that SQS moved from a queue."""
    system = {"ApproximateFirstReceiveTimestamp": "1700000000000"} | (
        {"DeadLetterQueueSourceArn": source} if source else {}
    )
    return record(body, arn=arn, system=system, **parts)


class Run:
    """One invocation of a stamp on records, at a broker that takes what it is told to take.

    Args:
        records: the records.
        to: the error queue.
        takes: for each entry of the calls, in their order, whether it is taken; all others are.
    """

    def __init__(self, *records: dict[str, Any], to: str = "error", takes: Iterable[bool] = ()) -> None:
        answers = iter(takes)
        client = RecordingClient(lambda: next(answers, True))
        token = current_environment.set(Environment(client.as_client(), utc_clock(None), Deadline))
        try:
            answer = stamp(to=to)(event(*records))
        finally:
            current_environment.reset(token)
        self.sent = client.sent
        self.back = [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    @property
    def copies(self) -> list[Sent]:
        """Return what was sent."""
        return [Sent(each["MessageBody"], each["MessageAttributes"]) for each in self.sent]

    @property
    def headers(self) -> dict[str, str | None]:
        """Return the headers of the only copy, as .NET reads them."""
        (copy,) = self.copies
        return read(copy).headers


def test_a_dead_letter_says_where_it_died_and_that_nothing_was_recorded() -> None:
    run = Run(dead(attributes={"tenant": text("blue")}))

    assert run.back == []
    assert run.headers == {
        "tenant": "blue",
        "NServiceBus.MessageId": "native-1",
        "NServiceBus.TimeSent": DIED_AT,
        "NServiceBus.ContentType": "application/json",
        "NServiceBus.ProcessingEndpoint": "orders",
        "NServiceBus.FailedQ": "orders",
        "NServiceBus.ExceptionInfo.ExceptionType": "recoverable.UnreportedFailure",
        "NServiceBus.ExceptionInfo.Message": "SQS received the message more often than its queue's maxReceiveCount allows, and no outcome was recorded",
        "NServiceBus.TimeOfFailure": DIED_AT,
        "Recoverable.FailedQueue": ORDERS,
        "Recoverable.Origin": "native-1",
        "Recoverable.Native": "1",
    }


def test_service_control_imports_it_and_can_send_it_back() -> None:
    (copy,) = Run(dead("1234")).copies

    found = imported(copy)

    assert (found.failing_address, found.read.body) == ("orders", b"1234")


def test_a_copy_that_is_made_twice_is_the_same_copy() -> None:
    assert Run(dead()).sent == Run(dead()).sent


def test_what_a_copy_counted_before_its_process_died_stays() -> None:
    counted = {"NServiceBus.MessageId": "7", "Recoverable.Attempts": "12", "Recoverable.FirstFailedAt": DIED_AT}
    retries = {"NServiceBus.Retries": "2", "NServiceBus.FLRetries": "3", "Recoverable.RefusedSince": "x"}

    headers = Run(dead(headers={**counted, **retries, "Recoverable.Origin": "o-1"})).headers

    assert {name: headers.get(name) for name in (*counted, *retries, "Recoverable.Origin")} == {
        **counted,
        **dict.fromkeys(retries),
        "Recoverable.Origin": "o-1",
    }


def test_a_message_that_was_sent_back_and_died_is_stamped_anew() -> None:
    headers = Run(dead(headers=FAILURE)).headers

    assert headers["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.UnreportedFailure"
    assert (headers["NServiceBus.TimeOfFailure"], headers["Recoverable.Redrives"]) == (DIED_AT, "1")
    assert "Recoverable.Attempts" not in headers


def test_a_retry_of_service_control_keeps_the_id_by_which_it_is_known() -> None:
    theirs = {
        "NServiceBus.MessageId": "7",
        "ServiceControl.Retry.UniqueMessageId": "2e8127fc-9054-697a-4489-4afd037bb71e",
    }

    (copy,) = Run(dead(headers=theirs)).copies

    assert imported(copy).unique_id == theirs["ServiceControl.Retry.UniqueMessageId"]


@pytest.mark.parametrize("source", [ORDERS.replace("orders", "custom-error"), None])
def test_an_error_copy_that_died_in_an_error_queue_is_sent_on_as_it_is(source: str | None) -> None:
    lies = dead(source=source, headers=FAILURE, attributes={"tenant": text("blue"), "raw": binary(b"\x01")})

    (entry,) = Run(lies).sent

    assert entry["MessageBody"] == lies["body"]
    assert entry["MessageAttributes"] == {
        "tenant": {"DataType": "String", "StringValue": "blue"},
        "raw": {"DataType": "Binary", "BinaryValue": b"\x01"},
        "NServiceBus.AmazonSQS.Headers": {"DataType": "String", "StringValue": json.dumps(FAILURE)},
    }


def test_an_error_copy_that_died_on_its_way_loses_what_would_send_it_on_again() -> None:
    on_its_way = {**FAILURE, "Recoverable.RefusedSends": "3", "Recoverable.DueAt": DIED_AT}

    headers = Run(dead(headers=on_its_way)).headers

    assert {name: headers[name] for name in FAILURE} == FAILURE
    assert "Recoverable.RefusedSends" not in headers
    assert "Recoverable.DueAt" not in headers


HOSTILE: dict[str, dict[str, Any]] = {
    "a failure without a time": {"headers": {"NServiceBus.FailedQ": "elsewhere", "NServiceBus.MessageId": "7"}},
    "a time that is none": {
        "headers": {**FAILURE, "Recoverable.FailedQueue": "elsewhere", "NServiceBus.TimeOfFailure": "never"}
    },
    "headers that are no JSON": {"attributes": {"NServiceBus.AmazonSQS.Headers": text("{")}},
    "headers that are numbers": {"headers": {"NServiceBus.FailedQ": 7, "NServiceBus.TimeOfFailure": None}},
    "half a character": {"headers": {"tenant": "\ud800"}},
    "attributes named like headers": {"attributes": {"NServiceBus.TimeOfFailure": text("never")}},
    "a wrapper that names a type alone": {
        "body": '{"Headers": {"NServiceBus.EnclosedMessageTypes": "A"}, "Body": "e30="}'
    },
}


@pytest.mark.parametrize("parts", HOSTILE.values(), ids=HOSTILE)
def test_whatever_a_sender_wrote_service_control_imports_the_copy(parts: dict[str, Any]) -> None:
    run = Run(dead(**parts))

    found = imported(run.copies[0])

    assert (run.back, found.failing_address) == ([], "orders")
    assert found.read.headers["NServiceBus.TimeOfFailure"] == DIED_AT


def test_a_message_without_room_for_headers_is_sent_on_as_it_lies_there() -> None:
    largest = "x" * (1_048_576 - len("tenant" + "String" + "blue"))

    run = Run(dead(largest, attributes={"tenant": text("blue")}))

    assert (run.back, len(run.sent)) == ([], 1)
    assert run.sent[0]["MessageBody"] == largest
    assert run.sent[0]["MessageAttributes"] == {"tenant": {"DataType": "String", "StringValue": "blue"}}


def test_a_batch_of_more_than_ten_is_sent_in_tens() -> None:
    run = Run(*(dead(str(number), message_id=f"m-{number}") for number in range(25)))

    assert (len(run.sent), run.back) == (25, [])


def test_one_that_was_not_taken_comes_back_and_its_neighbours_do_not() -> None:
    run = Run(*(dead(message_id=f"m-{number}") for number in range(3)), takes=[True, False, True])

    assert run.back == ["m-1"]


def test_none_of_a_fifo_queue_overtakes_one_that_was_not_taken() -> None:
    records = [dead(arn=f"{DEAD}.fifo", message_id=f"m-{number}", group="a") for number in range(3)]

    run = Run(*records, to="error.fifo", takes=[True, False])

    assert run.back == ["m-1", "m-2"]
    assert (run.sent[0]["MessageGroupId"], len(run.sent[0]["MessageDeduplicationId"])) == ("a", 64)


@pytest.mark.parametrize(
    "given", [{}, {"Records": []}, {"Records": [{"Sns": {}}]}, {"Records": [{"eventSourceARN": "arn:aws:s3:::b"}]}]
)
def test_what_is_no_event_of_sqs_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="SQS"):
        stamp(to="error")(given)


def test_an_error_queue_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="write the name of the error queue"):
        stamp(to=" ")


def broken(_event: object, _context: object) -> None:
    """Fail as a function that cannot be loaded does."""
    raise ImportError("no module named shop")


def world_with_stamp() -> SqsWorld:
    """Return a world with a function that never starts, whose dead letters are stamped."""
    world = SqsWorld(create_missing=False)
    world.create_queue("error")
    world.create_queue("orders-dead", visibility_timeout=180, dead_letter_queue="error")
    world.create_queue("orders", visibility_timeout=180, dead_letter_queue="orders-dead", max_receive_count=3)
    world.serve("orders", broken)
    world.serve("orders-dead", stamp(to="error"))
    return world


def test_what_never_reached_any_code_is_in_the_error_queue_with_its_reason() -> None:
    world = world_with_stamp()
    sent = world.send("orders", {"id": 1}, attributes={"count": 3})
    world.run()

    (seen,) = world.queue("error")
    assert (seen.id, seen.json(), seen.exception_type, seen.failed_queue) == (
        sent, {"id": 1}, "recoverable.UnreportedFailure", "orders",
    )  # fmt: skip
    assert (world.queue("orders"), world.queue("orders-dead"), seen.attributes["count"]) == ([], [], "3")


def test_what_died_is_sent_back_to_where_it_died_although_its_dead_letters_go_by_another_queue() -> None:
    world = world_with_stamp()
    world.send("orders", {"id": 1})
    world.run()

    assert world.redrive("error").outcome.sent == 1
    world.run()

    (seen,) = world.queue("error")
    assert (seen.failed_queue, seen.headers["Recoverable.Redrives"]) == ("orders", "1")


def test_while_the_error_queue_takes_nothing_dead_letters_stay_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = SqsWorld(create_missing=False)
    world.create_queue("orders-dead", visibility_timeout=180)
    world.serve("orders-dead", stamp(to="error"))
    world.send("orders-dead", "order 1")
    with caplog.at_level(logging.ERROR, "recoverable"):
        world.run(for_=600)

    assert [seen.body for seen in world.queue("orders-dead")] == ["order 1"]
    assert "1 of 1 dead letters from 'orders-dead' to 'error' failed" in caplog.text
    world.create_queue("error")
    world.run(for_=600)
    assert ([seen.body for seen in world.queue("error")], world.queue("orders-dead")) == (["order 1"], [])
