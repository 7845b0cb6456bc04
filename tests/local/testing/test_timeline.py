"""Check that a timeline can be read and compared."""

from __future__ import annotations

import asyncio

import pytest

from local.testing.ladders import endpoint, happened, seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import Event, ServiceBusWorld, SqsWorld
from recoverable_local.testing.copies import reason_of


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


def test_a_timeline_says_why_a_copy_was_sent(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(immediate=0, delayed=2))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert [detail for _, _, detail in happened(sqs_world, "sent")] == [
        "",
        "delayed retry 1, visible after 10 s",
        "delayed retry 2, visible after 20 s",
        "",
    ]


def test_a_timeline_says_who_was_stopped_and_who_was_deferred(sqs_world: SqsWorld) -> None:
    """One handler takes all the time of the invocation; the other nine are handed back without an attempt."""
    served = endpoint(lambda message: sqs_world.spend(100 if message.text == "slow" else 0), immediate=0, delayed=0)
    sqs_world.serve("orders", served, timeout=30)
    slow = sqs_world.send("orders", "slow")
    fast = sqs_world.send("orders", "fast")
    sqs_world.run()
    assert [(e.what, e.detail) for e in sqs_world.timeline(slow) if e.what == "attempted"] == [
        ("attempted", "HandlerTimeout after 27 s")
    ]
    assert [
        (e.what, e.detail.partition(",")[0]) for e in sqs_world.timeline(fast) if e.what in {"attempted", "sent"}
    ] == [("sent", ""), ("sent", "deferred"), ("attempted", "succeeded")]


@pytest.mark.parametrize(
    ("before", "after", "attempt", "reason"),
    [
        ({}, {"NServiceBus.Retries": "1"}, "ValueError: no", "delayed retry 1"),
        ({"NServiceBus.Retries": "1"}, {"NServiceBus.FailedQ": "orders"}, "ValueError: no", ""),
        ({}, {"Recoverable.HeldSince": "now"}, "", "deferred"),
        ({"Recoverable.HeldSince": "now"}, {"Recoverable.HeldSince": "now"}, "", "deferred"),
        ({"Recoverable.HeldSince": "now"}, {"Recoverable.HeldSince": "now"}, "ValueError: no", ""),
        ({}, {"Recoverable.HeldSince": "now", "Recoverable.Stopped": "1"}, "HandlerTimeout after 27 s", "deferred"),
        (
            {"Recoverable.HeldSince": "now", "Recoverable.DueAt": "later"},
            {"Recoverable.HeldSince": "now", "Recoverable.DueAt": "later"},
            "",
            "",
        ),
    ],
)
def test_the_reason_of_a_copy_is_in_its_headers(
    before: dict[str, str], after: dict[str, str], attempt: str, reason: str
) -> None:
    assert reason_of(before, after, attempt) == reason


def test_a_timeline_of_service_bus_says_it_too(service_bus_world: ServiceBusWorld) -> None:
    def decline(_message: Message) -> None:
        raise ValueError("no")

    ladder = Recoverability(Immediate(0), Delayed(1), Failed("orders-error"))
    service_bus_world.serve("orders", ServiceBusEndpoint(decline, ladder, queue="orders", connection="ServiceBus"))
    service_bus_world.send("orders", "x")
    service_bus_world.run()
    sent = [event.detail for event in service_bus_world.timeline() if event.what == "sent"]
    assert sent == ["", "delayed retry 1, visible after 10 s", ""]


def test_a_timeline_shows_the_attempts_of_coroutines_and_which_of_them_were_stopped(sqs_world: SqsWorld) -> None:
    async def handle(message: Message) -> None:
        await asyncio.sleep(100 if message.text == "slow" else 1)
        if message.text == "bad":
            raise ValueError("no")
        if message.text == "cancelled":
            raise asyncio.CancelledError

    sqs_world.serve("orders", endpoint(handle, immediate=0, delayed=0, concurrency=4), timeout=30)
    sent = {body: sqs_world.send("orders", body) for body in ("good", "bad", "cancelled")}
    sqs_world.run()
    sent["slow"] = sqs_world.send("orders", "slow")
    sqs_world.run()
    how = {
        body: [event.detail for event in sqs_world.timeline(sent[body]) if event.what == "attempted"] for body in sent
    }
    assert how == {
        "good": ["succeeded"],
        "bad": ["ValueError: no"],
        "cancelled": ["CancelledError"],
        "slow": ["HandlerTimeout after 27 s"],
    }
