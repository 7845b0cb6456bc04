"""`recoverable errors` on a real SQS server: messages are listed, and sent back whole."""

from __future__ import annotations

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_operate.errors import Journal
from servers.queues import Arrived, Queue

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3


def test_a_failed_message_is_listed_with_what_failed(errors: Errors, orders: Queue, error: Queue) -> None:
    send_failed(error, headers=fault_headers(orders.name, **{"Recoverable.Attempts": "24"}))

    ran = errors("list", "--queue", error.name)

    assert (ran.status, [line.split() for line in ran.out.splitlines()]) == (
        DONE,
        [
            ["failed", "at", "group", "attempts", "message"],
            ["2026-11-22", "10:00:00", "5e1c1f3b", "24", "order-1", "at", orders.name],
            ["bank.BankUnavailable:", "no", "answer"],
        ],
    )


def test_a_listed_message_is_visible_again(errors: Errors, error: Queue) -> None:
    send_failed(error)

    errors("list", "--queue", error.name)

    assert error.visible() == 1


def test_a_message_is_sent_back_with_its_body_attributes_and_id_and_without_what_is_said_about_the_failure(
    errors: Errors, orders: Queue, error: Queue
) -> None:
    attributes = {
        "tenant": {"DataType": "String", "StringValue": "7"},
        "raw": {"DataType": "Binary", "BinaryValue": b"\0"},
    }
    types = {"NServiceBus.EnclosedMessageTypes": "PlaceOrder", "NServiceBus.TimeSent": "2026-11-22 09:00:00:000000 Z"}
    origin = send_failed(error, '{"id": 1}', headers=fault_headers(orders.name, **types), attributes=attributes)

    ran = errors("retry", "--queue", error.name, "--yes")

    headers = {"NServiceBus.MessageId": "order-1", "Recoverable.Redrives": "1", "Recoverable.Origin": origin, **types}
    assert (ran.status, orders.arrived(), error.count()) == (
        DONE,
        [Arrived('{"id": 1}', headers, attributes, None, None)],
        0,
    )


def test_the_journal_says_that_it_was_sent(errors: Errors, orders: Queue, error: Queue, journal: str) -> None:
    send_failed(error, headers=fault_headers(orders.name))

    errors("retry", "--queue", error.name, "--yes")

    assert [(each.message_id, each.queue, each.target, each.state) for each in Journal(journal).entries()] == [
        ("order-1", error.arn, orders.arn, "sent")
    ]


def test_without_a_terminal_and_yes_the_plan_is_printed_and_nothing_done(
    errors: Errors, orders: Queue, error: Queue
) -> None:
    send_failed(error, headers=fault_headers(orders.name))

    ran = errors("retry", "--queue", error.name)

    assert (ran.status, f"send 1 to {orders.arn}" in ran.out, error.visible()) == (DONE, True, 1)
    assert f"To do it: recoverable errors retry --queue {error.name} --yes" in ran.err
