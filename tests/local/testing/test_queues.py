"""Check what a test sees in a queue, and which queues there are."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.testing.ladders import decline, endpoint
from recoverable import Failed, Message, Recoverability
from recoverable._sqs.wire import HEADERS
from recoverable.aws import SqsEndpoint
from recoverable.headers import FOLDED
from recoverable_local.testing import SeenMessage, SqsWorld


def test_a_message_is_seen_as_it_is(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    message = sqs_world.send(
        "orders", {"id": 1}, attributes={"tenant": "a", "weight": 1.5, "seal": b"\x00"}, group_id="g"
    )
    assert sqs_world.queue("orders") == [
        SeenMessage(
            id=message,
            broker_id=message,
            queue="orders",
            data=b'{"id": 1}',
            attributes={"tenant": "a", "weight": "1.5", "seal": b"\x00"},
            headers={},
            receive_count=0,
            group_id="g",
            sent_at=began,
            visible_at=began,
        )
    ]


def test_looking_at_a_queue_changes_nothing(sqs_world: SqsWorld) -> None:
    sqs_world.send("orders", "x")
    assert sqs_world.queue("orders") == sqs_world.queue("orders")


def test_a_message_that_was_given_up_tells_why(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint())
    sent = sqs_world.send("orders", {"id": 1})
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    facts = (message.exception_type, message.exception_message, message.failed_queue, message.id, message.json())
    assert facts == ("local.testing.ladders.CardDeclined", "do not honour", "orders", sent, {"id": 1})
    assert "ladders.py" in (message.stack_trace or "")


def test_a_message_that_waits_tells_its_delayed_retries(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint())
    sqs_world.send("orders", "x")
    sqs_world.run(for_=5)
    assert [message.delayed_retries for message in sqs_world.queue("orders")] == [1]


def test_an_attribute_that_is_kept_in_a_header_for_lack_of_room_is_shown(sqs_world: SqsWorld) -> None:
    """SQS takes ten attributes; the copy needs one for its headers."""
    sqs_world.serve("orders", endpoint())
    attributes: dict[str, str | bytes] = {**{f"a{n}": str(n) for n in range(9)}, "seal": b"\x00"}
    sqs_world.send("orders", "x", attributes=attributes)
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    assert message.attributes == attributes


def test_an_attribute_in_a_header_is_shown_by_its_type_whatever_else_a_sender_wrote_there(sqs_world: SqsWorld) -> None:
    kept = {"tenant": {"dataType": "String", "stringValue": "a", "binaryValue": "x"}}
    sqs_world.send("orders", "x", attributes={HEADERS: json.dumps({FOLDED: json.dumps(kept)})})
    [message] = sqs_world.queue("orders")
    assert message.attributes == {"tenant": "a"}


@pytest.mark.parametrize(("queue", "graves"), [("orders", "graves.fifo"), ("orders.fifo", "graves")])
def test_a_dead_letter_queue_of_the_other_kind_is_refused(sqs_world: SqsWorld, queue: str, graves: str) -> None:
    with pytest.raises(
        ValueError, match=f"the dead-letter queue of '{queue}' is '{graves}'; SQS takes a FIFO queue for"
    ):
        sqs_world.create_queue(queue, dead_letter_queue=graves)


def test_serving_makes_the_queues_that_an_endpoint_names(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", functools.wraps(endpoint())(lambda _event, _context: None))
    assert (sqs_world.queue("orders"), sqs_world.queue("orders-error")) == ([], [])


def test_a_queue_that_nobody_named_is_an_error_and_no_empty_list(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint())
    with pytest.raises(LookupError, match="no queue 'orders-eror', but orders, orders-error"):
        sqs_world.queue("orders-eror")


def test_an_error_queue_that_is_missing_keeps_the_message_where_it_is(caplog: pytest.LogCaptureFixture) -> None:
    world = SqsWorld(create_missing=False)
    ladder = Recoverability(failed=Failed("missing", unrecoverable=(Exception,)))
    world.create_queue("orders", visibility_timeout=60)
    world.serve("orders", SqsEndpoint(decline, ladder))
    world.send("orders", "x")
    world.run(for_=1)
    assert len(world.queue("orders")) == 1
    assert "NonExistentQueue" in caplog.text


def test_where_nothing_is_made_a_queue_must_be_there_to_be_sent_to() -> None:
    with pytest.raises(ClientError, match="does not exist"):
        SqsWorld(create_missing=False).send("orders", "x")


def test_where_nothing_is_made_a_queue_must_be_there_to_be_served() -> None:
    with pytest.raises(LookupError, match="make it with create_queue"):
        SqsWorld(create_missing=False).serve("orders", endpoint())


@pytest.mark.parametrize("name", ["", "my orders", "orders/error", "orders.fifo.fifo"])
def test_a_queue_is_not_made_whose_name_sqs_does_not_take(sqs_world: SqsWorld, name: str) -> None:
    with pytest.raises(ValueError, match="is no queue's name; write 1 to 80 letters"):
        sqs_world.create_queue(name)


def test_an_error_queue_whose_name_sqs_does_not_take_is_told_before_a_message_fails() -> None:
    with pytest.raises(ValueError, match="'orders error'; write a queue's name"):
        SqsEndpoint(decline, Recoverability(failed=Failed("orders error")))


def test_a_body_that_json_cannot_say_is_not_sent(sqs_world: SqsWorld) -> None:
    with pytest.raises(TypeError, match=r"^send\(body\) is a bytes: .*; write a text, or what json.dumps takes$"):
        sqs_world.send("orders", b"bytes")


def test_what_cannot_be_called_is_not_served(sqs_world: SqsWorld) -> None:
    handler: Any = "orders.handler"
    with pytest.raises(TypeError, match=r"serve\(handler\) is 'orders.handler'; write your Lambda handler"):
        sqs_world.serve("orders", handler)


def test_what_the_host_gives_up_ends_in_the_error_queue_too(sqs_world: SqsWorld) -> None:
    @functools.wraps(endpoint())
    def broken(_event: object, _context: object) -> None:
        raise ImportError("no module named shop")

    sqs_world.serve("orders", broken)
    sqs_world.send("orders", "x")
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    assert (message.receive_count, message.exception_type) == (50, None)


def test_a_message_can_be_handled_in_order_by_its_group(sqs_world: SqsWorld) -> None:
    handled: list[str] = []

    def fail_once(message: Message) -> None:
        handled.append(message.text)
        if handled.count("a1") == 1:
            raise ValueError

    sqs_world.serve("orders.fifo", SqsEndpoint(fail_once, Recoverability(failed=Failed("error.fifo"))), batch_size=1)
    for body in ("a1", "a2", "b1"):
        sqs_world.send("orders.fifo", body, group_id=body[0], deduplication_id=body)
    sqs_world.run()
    assert [body for body in handled if body[0] == "a"] == ["a1", "a1", "a2"]
