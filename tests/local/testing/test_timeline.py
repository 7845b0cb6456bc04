"""Check that a timeline can be read and compared."""

from __future__ import annotations

from local.testing.ladders import endpoint, seconds
from recoverable_local.testing import Event, SqsWorld


def test_a_timeline_follows_a_message_over_its_copies(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(immediate=0))
    other, message = sqs_world.send("orders", "other"), sqs_world.send("orders", "x")
    sqs_world.run()
    timeline = sqs_world.timeline(message)
    assert {event.message_id for event in timeline} == {message}
    assert len({event.broker_id for event in timeline}) == 3
    assert len(timeline) == len(sqs_world.timeline(other))


def test_a_timeline_is_found_by_the_id_of_any_copy(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(immediate=0))
    message = sqs_world.send("orders", "x")
    sqs_world.run()
    [given_up] = sqs_world.queue("orders-error")
    assert sqs_world.timeline(given_up.broker_id) == sqs_world.timeline(message)


def test_an_event_tells_when_what_happened_to_whom_where_and_by_whom(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(immediate=0))
    message = sqs_world.send("orders", "x", delay=5)
    sqs_world.run()
    assert sqs_world.timeline(message)[:4] == (
        Event(seconds(0), "sent", message, message, "orders", 0, "visible after 5 s"),
        Event(seconds(5), "received", message, message, "orders", 0, "receive 1"),
        Event(seconds(5), "attempted", message, message, "orders", 1, "CardDeclined: do not honour"),
        sqs_world.timeline(message)[3],
    )


def test_a_printed_timeline_has_a_line_for_each_event(sqs_world: SqsWorld) -> None:
    message = sqs_world.send("orders", "x", delay=5)
    line = f"0:00:00  {message[:8]}/{message[:8]}  orders  sent: visible after 5 s"
    assert str(sqs_world.timeline()).strip() == line


def test_a_timeline_shows_a_call_that_failed(sqs_world: SqsWorld) -> None:
    sqs_world = SqsWorld(create_missing=False)
    sqs_world.create_queue("orders", visibility_timeout=60)
    sqs_world.serve("orders", lambda _event, _context: sqs_world.client.send_message(QueueUrl="no", MessageBody="x"))
    message = sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    failed = [event.detail for event in sqs_world.timeline(message) if event.what == "call failed"]
    assert failed == ["send_message: QueueDoesNotExist: The specified queue does not exist."]
