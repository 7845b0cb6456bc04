"""Sending back from an SQS error queue: where to, and what stays."""

from __future__ import annotations

import json

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from operate.aws.failing import dead_letters_of, send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable import Message
from recoverable.extensions import S3Bodies
from servers.buckets import BODY, Bucket, marked, pointer
from servers.fixtures import NewQueue
from servers.queues import HEADERS, Queue, bodies

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3


def test_a_forged_queue_is_refused_and_named_ready_to_paste(errors: Errors, error: Queue, new_queue: NewQueue) -> None:
    stranger = new_queue("stranger")
    send_failed(error, headers=fault_headers("orders", **{"Recoverable.FailedQueue": stranger.arn}))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, stranger.count(), error.visible()) == (REFUSED, 0, 1)
    assert f"If that is right, add: --allow {stranger.arn}" in ran.out


def test_a_queue_that_the_operator_allows_gets_the_message(errors: Errors, error: Queue, new_queue: NewQueue) -> None:
    other = new_queue("other")
    send_failed(error, "hello", headers=fault_headers("orders", **{"Recoverable.FailedQueue": other.arn}))

    ran = errors("retry", "--queue", error.name, "--allow", other.name, "--yes")

    assert (ran.status, bodies(other)) == (DONE, ["hello"])


def test_a_message_of_two_possible_queues_goes_by_its_address(
    errors: Errors, error: Queue, orders: Queue, new_queue: NewQueue
) -> None:
    bills = new_queue("bills")
    dead_letters_of(error, bills)
    send_failed(error, "hello", headers=fault_headers(orders.name, **{"Recoverable.FailedQueue": bills.arn}))

    errors("retry", "--queue", error.name, "--yes")

    assert (bodies(bills), orders.count()) == (["hello"], 0)


def test_some_refused_is_partly_done(errors: Errors, error: Queue, orders: Queue) -> None:
    send_failed(error, "good", headers=fault_headers(orders.name))
    send_failed(error, "forged", headers=fault_headers("stranger"))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, bodies(orders), bodies(error)) == (PARTLY, ["good"], ["forged"])


@pytest.mark.parametrize("most", [0, 1, 100], ids=["none in memory", "one in memory", "all in memory"])
def test_what_is_chosen_is_sent_as_it_was_wherever_it_is_kept_meanwhile(
    errors: Errors, error: Queue, orders: Queue, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recoverable_operate.errors._aws.client.MOST_KEPT", most)
    for body in ("a", "b", "c"):
        send_failed(error, body, headers=fault_headers(orders.name))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, sorted(bodies(orders)), error.count()) == (DONE, ["a", "b", "c"], 0)


@pytest.mark.parametrize("body", ["hello", '{"Headers": {"NServiceBus.MessageId": "1"'])
def test_what_says_nothing_about_its_queue_goes_where_the_operator_says(
    errors: Errors, error: Queue, orders: Queue, body: str
) -> None:
    broker_id = error.send(body)

    refused = errors("retry", "--queue", error.name, "--yes").status
    ran = errors("retry", "--queue", error.name, "--to", orders.name, "--yes")

    [arrived] = orders.arrived()
    assert (refused, ran.status, arrived.body, arrived.headers["NServiceBus.MessageId"]) == (
        REFUSED,
        DONE,
        body,
        broker_id,
    )


def test_leftover_retry_headers_are_stripped(errors: Errors, error: Queue, orders: Queue) -> None:
    ladder = {"NServiceBus.MessageId": "order-1", "NServiceBus.Retries": "2", "NServiceBus.Retries.Timestamp": "x"}
    send_failed(error, headers=ladder)

    errors("retry", "--queue", error.name, "--to", orders.name, "--yes")

    [arrived] = orders.arrived()
    assert arrived.headers.keys() == {
        "NServiceBus.MessageId",
        "NServiceBus.TimeSent",
        "Recoverable.Origin",
        "Recoverable.Redrives",
    }


def test_where_the_log_of_the_last_attempt_is_is_not_said_of_the_next_one(
    errors: Errors, error: Queue, orders: Queue
) -> None:
    log = dict.fromkeys(f"Recoverable.{each}" for each in ("RequestId", "LogGroup", "LogStream", "Version"))
    send_failed(error, headers=fault_headers(orders.name, **dict.fromkeys(log, "x")))

    errors("retry", "--queue", error.name, "--yes")

    [arrived] = orders.arrived()
    assert log.keys() & arrived.headers.keys() == set()


def test_redrives_are_counted(errors: Errors, error: Queue, orders: Queue) -> None:
    send_failed(error, headers=fault_headers(orders.name, **{"Recoverable.Redrives": "2"}))

    errors("retry", "--queue", error.name, "--yes")

    assert [each.headers["Recoverable.Redrives"] for each in orders.arrived()] == ["3"]


def test_a_wrapped_message_goes_back_in_its_wrapper(errors: Errors, error: Queue, orders: Queue) -> None:
    error.send(json.dumps({"Headers": fault_headers(orders.name), "Body": "aGVsbG8=", "S3BodyKey": None}))

    errors("retry", "--queue", error.name, "--yes")

    [arrived] = orders.arrived()
    headers = {"NServiceBus.MessageId": "order-1", "Recoverable.Redrives": "1"}
    sent = json.loads(arrived.body)
    assert (sent["Body"], {name: sent["Headers"][name] for name in headers}, arrived.attributes) == (
        "aGVsbG8=",
        headers,
        {},
    )


def test_ten_attributes_of_the_sender_stay_ten(errors: Errors, error: Queue, orders: Queue) -> None:
    attributes = {f"a{n}": {"DataType": "Number.int", "StringValue": str(n)} for n in range(9)}
    folded = {"a9": {"dataType": "String", "stringValue": "9"}}
    headers = fault_headers(orders.name, **{"Recoverable.Attributes": json.dumps(folded)})
    send_failed(error, headers=headers, attributes=attributes)

    errors("retry", "--queue", error.name, "--yes")

    [arrived] = orders.arrived()
    assert (arrived.attributes, json.loads(arrived.headers["Recoverable.Attributes"])) == (attributes, folded)


def test_messages_of_fifo_groups_go_back_in_their_order(errors: Errors, new_queue: NewQueue) -> None:
    orders, error = new_queue("orders.fifo"), new_queue("error.fifo")
    dead_letters_of(error, orders)
    for number in range(25):
        send_failed(
            error, f"{number:02}", headers=fault_headers(orders.name, id=f"m{number}"),
            MessageGroupId=f"g{number % 2}", MessageDeduplicationId=str(number),
        )  # fmt: skip

    ran = errors("retry", "--queue", error.name, "--yes", "--rate", "0")

    arrived = [*orders.arrived(), *orders.arrived(), *orders.arrived()]  # a group shows ten at a time
    groups = {each.group: [one.body for one in arrived if one.group == each.group] for each in arrived}
    expected = {f"g{start}": [f"{number:02}" for number in range(start, 25, 2)] for start in (0, 1)}
    assert (ran.status, groups, error.count()) == (DONE, expected, 0)


def test_a_filtered_retry_ends_a_fifo_group_at_the_first_message_that_it_leaves(
    errors: Errors, new_queue: NewQueue
) -> None:
    orders, error = new_queue("orders.fifo"), new_queue("error.fifo")
    dead_letters_of(error, orders)
    for number, kind in enumerate(["BankDown", "CardDeclined", "BankDown"]):
        send_failed(
            error, str(number), headers=fault_headers(orders.name, type=kind, id=str(number)),
            MessageGroupId="g", MessageDeduplicationId=str(number),
        )  # fmt: skip

    ran = errors("retry", "--queue", error.name, "--type", "BankDown", "--yes")

    assert (ran.status, bodies(orders), bodies(error)) == (PARTLY, ["0"], ["1", "2"])
    assert "leave 1: another message of their group stays before them" in ran.out


def test_a_second_run_only_deletes_what_the_journal_says_was_sent(
    errors: Errors, error: Queue, orders: Queue, journal: str
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    errors("retry", "--queue", error.name)  # makes nothing but the plan
    from recoverable_operate.errors._aws.messages import failed_message, record_of
    from recoverable_operate.errors._journal import SENT, Entry, Journal
    from recoverable_operate.errors._message import key_of

    [received] = error.receive(visibility=0)
    key = key_of(failed_message(record_of(received)), error.arn)
    Journal(journal).intend([Entry(key, "order-1", error.arn, orders.arn, SENT, "2026-11-22T10:00:00")])

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, orders.count(), error.count()) == (DONE, 0, 0)
    assert "Deleted 1 that an earlier run had sent." in ran.out


def test_a_canary_that_comes_back_stops_the_rest(errors: Errors, error: Queue, orders: Queue) -> None:
    for number in range(5):
        send_failed(error, headers=fault_headers(orders.name, id=f"m{number}"))
    from threading import Thread

    def fail_again() -> None:
        while not (received := orders.receive()):
            pass
        orders.client.delete_message(QueueUrl=orders.url, ReceiptHandle=received[0]["ReceiptHandle"])
        headers = json.loads(received[0]["MessageAttributes"][HEADERS]["StringValue"])
        send_failed(error, headers=fault_headers(orders.name, id=headers["NServiceBus.MessageId"]))

    handler = Thread(target=fail_again)
    handler.start()
    ran = errors("retry", "--queue", error.name, "--canary", "1", "--canary-wait", "60s", "--yes")
    handler.join()

    assert (ran.status, orders.count(), error.count()) == (PARTLY, 0, 5)
    assert "Stopped: a canary came back." in ran.out


def test_the_plan_says_when_the_canary_does_not_wait_for_the_ladder(
    errors: Errors, error: Queue, orders: Queue
) -> None:
    first = {"Recoverable.FirstFailedAt": "2026-11-22 09:50:00:000000 Z"}
    send_failed(error, headers=fault_headers(orders.name, **first))

    ran = errors("retry", "--queue", error.name, "--canary", "1", "--canary-wait", "5m")

    assert "its ladder, which took 10 min 0 s last time; give --canary-wait 660s or more" in ran.out


def test_copies_are_hidden_for_the_delay(errors: Errors, error: Queue, orders: Queue) -> None:
    send_failed(error, headers=fault_headers(orders.name))

    errors("retry", "--queue", error.name, "--delay", "10m", "--yes")

    assert (orders.visible(), orders.count()) == (0, 1)


def test_a_delay_that_sqs_cannot_do_leaves_the_message(errors: Errors, error: Queue, orders: Queue) -> None:
    send_failed(error, headers=fault_headers(orders.name))

    ran = errors("retry", "--queue", error.name, "--delay", "16m", "--yes")

    assert (ran.status, error.visible()) == (PARTLY, 1)
    assert "SQS delays a message by 900 seconds at most" in ran.out


def test_a_body_in_s3_stays_there_and_the_message_that_is_sent_back_points_to_it(
    errors: Errors, error: Queue, orders: Queue, bucket: Bucket
) -> None:
    bucket.put("bodies/7")
    orders.send(pointer(bucket.name, "bodies/7"), attributes=marked())
    read: list[str] = []

    def handle(message: Message) -> None:
        read.append(message.text)
        if "Recoverable.Redrives" not in message.headers:
            raise ValueError("no")

    mapping = Mapping(orders, sqs_endpoint(handle, ladder(error), extensions=(S3Bodies((bucket.name,)),)))
    mapping.run_dry()
    ran = errors("retry", "--queue", error.name, "--allow", orders.name, "--yes")
    mapping.run_dry()

    assert (ran.status, read, error.count()) == (DONE, [BODY, BODY], 0)
