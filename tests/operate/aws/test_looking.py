"""Looking at an SQS error queue: groups, one message whole, filters, and what a look says and refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_operate.errors import Journal
from servers.buckets import marked, pointer
from servers.fixtures import NewQueue
from servers.queues import HEADERS, Queue

DONE, REFUSED, NOTHING = 0, 2, 3


def rows(out: str) -> list[dict[str, object]]:
    """Return lines of JSON."""
    return [json.loads(line) for line in out.splitlines()]


def test_messages_are_counted_by_exception_and_own_frame(errors: Errors, error: Queue) -> None:
    library = "   at requests.get() in /opt/python/requests/api.py:line 73"
    for trace in (
        f"{library}\n   at shop.pay() in /var/task/shop.py:line 4",
        "   at shop.pay() in /var/task/shop.py:line 9",
    ):
        send_failed(error, headers=fault_headers(trace=trace))
    send_failed(error, headers=fault_headers(type="orders.CardDeclined"))

    ran = errors("groups", "--queue", error.name, "--json")

    found = sorted((row["messages"], row["kind"], row["frame"]) for row in rows(ran.out))
    assert (ran.status, found) == (
        DONE,
        [(1, "orders.CardDeclined", "orders.place_order"), (2, "bank.BankUnavailable", "shop.pay")],
    )


def test_a_group_shows_the_text_of_one_of_its_messages(errors: Errors, error: Queue) -> None:
    for text in ("do not honour\nCVV", "expired"):
        send_failed(error, headers=fault_headers(message=text))

    table, [row] = errors("groups", "--queue", error.name), rows(errors("groups", "--queue", error.name, "--json").out)

    assert row["example"] in ("do not honour\nCVV", "expired")
    assert "such as: do not honour\\nCVV" in table.out or "such as: expired" in table.out


def test_of_a_message_without_fault_headers_no_more_is_said_than_is_known(errors: Errors, error: Queue) -> None:
    error.send("hello")

    grouped, shown = errors("groups", "--queue", error.name, "--json"), errors("show", "--queue", error.name)

    assert [(row["kind"], row["frame"], row["messages"]) for row in rows(grouped.out)] == [
        ("no reason recorded", "dead-lettered by the broker, or sent here by something else", 1)
    ]
    [came] = [line.partition("  came ")[2] for line in shown.out.splitlines() if "  came " in line]
    assert came == "to the error queue, without a reason: the broker dead-lettered it, or something else sent it"


def test_failed_deserialization_is_grouped_by_the_shape_of_its_reason(errors: Errors, error: Queue) -> None:
    for number, why in enumerate(
        ("JSONDecodeError at line 1, column 9", "JSONDecodeError at line 7, column 2", "KeyError")
    ):
        reason = f"message 'order-{number}' cannot be read: {why}"
        send_failed(error, headers=fault_headers(type="recoverable.MessageDeserializationError", message=reason))

    ran = errors("groups", "--queue", error.name, "--json")

    assert sorted((row["messages"], row["frame"]) for row in rows(ran.out)) == [
        (1, "orders.place_order, message … cannot be read: KeyError"),
        (2, "orders.place_order, message … cannot be read: JSONDecodeError at line #, column #"),
    ]


@pytest.mark.parametrize(
    "attribute", ["no JSON", '["a", "list"]', json.dumps(fault_headers(at="yesterday"))], ids=["text", "list", "date"]
)
def test_what_cannot_be_read_is_a_group_of_its_own(errors: Errors, error: Queue, attribute: str) -> None:
    error.send("hello", attributes={HEADERS: {"DataType": "String", "StringValue": attribute}})

    ran = errors("groups", "--queue", error.name, "--json")

    assert [(row["kind"], row["messages"]) for row in rows(ran.out)] == [("unreadable", 1)]


def test_one_message_is_shown_with_its_way_headers_trace_and_body(errors: Errors, error: Queue) -> None:
    log = {"Recoverable.Attempts": "24", "Recoverable.RequestId": "req-1", "Recoverable.LogStream": "2026/[1]a"}
    send_failed(error, '{"id": 1}', headers=fault_headers(**log))

    ran = errors("show", "--queue", error.name, "--id", "order-1")

    assert ran.status == DONE
    for line in (
        "message order-1",
        "  2026-11-22 10:00:00  failed for the last time, attempt 24, at orders",
        "  request: req-1",
        "  log stream: 2026/[1]a",
        "  NServiceBus.ExceptionInfo.Message: no answer",
        "stack trace (most recent call last)",
        '    File "/var/task/orders.py", line 12, in orders.place_order',
        '    "id": 1',
    ):
        assert line in ran.out.splitlines()


def test_what_could_steer_the_terminal_is_escaped(errors: Errors, error: Queue) -> None:
    send_failed(error, "\x1b[2J\u202ebody", headers=fault_headers(message="\x1b]0;title\x07", id="a\x1bb"))

    shown = errors("show", "--queue", error.name).out + errors("list", "--queue", error.name).out

    assert {each for each in shown if not each.isprintable()} == {"\n"}
    assert "\\x1b[2J\\u202ebody" in shown


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--id", "b"], ["b"]),
        (["--id", "a", "--id", "c"], ["a", "c"]),
        (["--type", "CardDeclined"], ["b"]),
        (["--queue-of", "bills"], ["c"]),
        (["--since", "2026-11-22T12:00"], ["c"]),
        (["--until", "2026-11-22T12:00"], ["a", "b"]),
        (["--where", "customer.id=42"], ["a"]),
        (["--where", "items[1].sku=A7"], ["b"]),
        (["--where", "items.0.sku=A7", "--type", "BankUnavailable"], []),
        (["--limit", "2"], ["a", "b"]),
    ],
)
def test_filters_choose(errors: Errors, error: Queue, words: list[str], found: list[str]) -> None:
    send_failed(error, '{"customer": {"id": 42}}', headers=fault_headers(id="a"))
    items = '{"items": [{"sku": "B1"}, {"sku": "A7"}]}'
    send_failed(error, items, headers=fault_headers(id="b", type="orders.CardDeclined"))
    send_failed(error, "no JSON", headers=fault_headers("bills", id="c", at="2026-11-22 18:00:00:000000 Z"))

    ran = errors("list", "--queue", error.name, "--json", *words)

    assert (ran.status, sorted(str(row["id"]) for row in rows(ran.out))) == (DONE if found else NOTHING, found)


def test_a_look_says_first_that_it_hides_messages_and_counts_receives(errors: Errors, error: Queue) -> None:
    send_failed(error)

    said = errors("list", "--queue", error.name).err.splitlines()

    assert said == [
        "Looking at SQS hides each message, here for 5 minutes; all are given back at the end and on Ctrl-C. "
        "Killed, the last ones come back within 5 minutes.",
        "Each look counts as a receive of each message, and disturbs alarms on visible messages and on the age of the oldest.",
        "Looked at 1 message; 1 match.",
        "Gave back 1 message.",
    ]


def test_quiet_leaves_the_result_and_what_must_be_known(errors: Errors, error: Queue) -> None:
    send_failed(error, headers=fault_headers(id="a"))
    error.receive()  # and holds it
    send_failed(error, headers=fault_headers(id="b"))

    ran = errors("list", "--queue", error.name, "--quiet", "--json")

    assert ([row["id"] for row in rows(ran.out)], ran.status) == (["b"], 1)
    [said] = ran.err.splitlines()
    assert said.startswith("Not all was looked at: 1 messages are hidden by another reader")


@pytest.mark.parametrize("verb", ["groups", "list", "show", "export"])
def test_a_verb_that_asks_nothing_takes_yes(errors: Errors, error: Queue, verb: str) -> None:
    send_failed(error)

    assert (errors(verb, "--queue", error.name, "--yes").status, error.visible()) == (DONE, 1)


def test_what_another_reader_holds_is_out_of_reach(errors: Errors, error: Queue) -> None:
    send_failed(error, headers=fault_headers(id="a"))
    error.receive()  # and holds it
    send_failed(error, headers=fault_headers(id="b"))

    ran = errors("list", "--queue", error.name, "--json")

    assert ([row["id"] for row in rows(ran.out)], ran.status) == (["b"], 1)
    assert "1 messages are hidden by another reader; SQS hides a message for 12 hours at most." in ran.err


def test_what_a_killed_run_holds_comes_back_at_a_time_that_is_named(errors: Errors, error: Queue, journal: str) -> None:
    send_failed(error)
    error.receive()  # and holds it
    began = datetime.now(UTC)
    Journal(journal).begin_run(error.arn, began, began + timedelta(minutes=5))

    ran = errors("list", "--queue", error.name)

    times = f"began at {began:%H:%M:%S} UTC; they come back by {began + timedelta(minutes=5):%H:%M:%S} UTC."
    assert (ran.status, f"1 messages are hidden by an earlier run on this machine, which {times}" in ran.err) == (
        1,
        True,
    )


def test_a_run_that_gave_all_back_hides_nothing(errors: Errors, error: Queue, journal: str) -> None:
    send_failed(error)

    errors("list", "--queue", error.name)

    assert Journal(journal).hiding(error.arn, datetime.now(UTC), but=0) == []


def test_a_limit_is_no_reason_to_fail(errors: Errors, error: Queue) -> None:
    for number in range(2):
        send_failed(error, headers=fault_headers(id=str(number)))

    ran = errors("list", "--queue", error.name, "--limit", "1")

    assert (ran.status, "The queue says that it holds" in ran.err) == (0, False)


def test_an_error_queue_that_would_move_a_message_away_is_not_looked_at(
    errors: Errors, error: Queue, new_queue: NewQueue
) -> None:
    send_failed(error)
    policy = json.dumps({"deadLetterTargetArn": new_queue("beyond").arn, "maxReceiveCount": 4})
    error.client.set_queue_attributes(QueueUrl=error.url, Attributes={"RedrivePolicy": policy})

    statuses = [errors("list", "--queue", error.name).status for _ in range(4)]

    assert (statuses, error.visible()) == ([DONE, DONE, REFUSED, REFUSED], 1)


def test_a_queue_that_is_none_is_named(errors: Errors, error: Queue) -> None:
    ran = errors("list", "--queue", "no-such-queue")

    assert (ran.status, ran.err) == (
        REFUSED, "recoverable errors: there is no queue no-such-queue in this account and region\n"
    )  # fmt: skip


def test_a_body_in_s3_is_named_and_not_fetched(errors: Errors, error: Queue) -> None:
    key = {"S3BodyKey": {"DataType": "String", "StringValue": "bodies/1"}}
    send_failed(error, "empty message", attributes=key)

    ran = errors("show", "--queue", error.name)

    assert "  not with the message: in S3, under the key bodies/1" in ran.out.splitlines()


def test_a_body_that_the_extended_client_put_into_s3_is_named_and_not_fetched(errors: Errors, error: Queue) -> None:
    send_failed(error, pointer("order-bodies", "bodies/1"), attributes=marked())

    ran = errors("show", "--queue", error.name)

    assert "  not with the message: in S3, in the bucket order-bodies under the key bodies/1" in ran.out.splitlines()
