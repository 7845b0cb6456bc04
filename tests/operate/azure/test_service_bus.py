"""`recoverable errors` on Service Bus: by peek, and from the head, with the real SDK over AMQP."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from socketserver import BaseRequestHandler, TCPServer
from threading import Thread
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage

from operate.azure.conftest import ERROR, Bus, NewBus
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_local.service_bus import Operation
from recoverable_operate.errors._azure.receiver_client import Receiver

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3


def rows(out: str) -> list[dict[str, Any]]:
    """Return lines of JSON."""
    return [json.loads(line) for line in out.splitlines()]


def test_a_look_changes_nothing(bus: Bus) -> None:
    bus.send_failed()
    before = bus.seen()

    ran = bus.run("list", "--json")

    assert (ran.status, [row["id"] for row in rows(ran.out)], bus.seen()) == (DONE, ["order-1"], before)


def test_groups_shows_what_the_queues_hold_where_messages_failed(bus: Bus) -> None:
    bus.send_failed(headers=allowing(bus))
    bus.send("one", "two", queue="bills")
    bus.send("later", queue="bills", scheduled_enqueue_time_utc=datetime.now(UTC) + timedelta(hours=1))
    bus.namespace.advance(timedelta(minutes=2))

    [row] = rows(bus.run("groups", "--json").out)
    table = bus.run("groups").out.splitlines()[-1].split()

    holds = row["backlogs"][bus.address("bills")]
    assert {key: holds[key] for key in holds if key != "oldestSeconds"} == {
        "waiting": 2, "inFlight": None, "later": 1, "more": False
    }  # fmt: skip
    assert (table[:3], table[-1]) == (["2", "–", "1"], "bills")


@pytest.mark.parametrize("queue", ["sessions", "nowhere"])
def test_a_queue_that_cannot_be_peeked_at_is_named_with_the_reason(bus: Bus, queue: str) -> None:
    bus.send_failed(headers=allowing(bus, queue))

    [row] = rows(bus.run("groups", "--json").out)

    assert list(row["backlogs"][bus.address(queue)]) == ["problem"]


def test_a_queue_of_another_namespace_is_not_asked_about(bus: Bus) -> None:
    bus.send_failed(headers=fault_headers("bills", **{"Recoverable.FailedQueue": "sb://elsewhere.test/bills"}))

    [row] = rows(bus.run("groups", "--json").out)

    assert row["backlogs"] == {
        "sb://elsewhere.test/bills": {"problem": "sb://elsewhere.test/bills is in another namespace"}
    }


def test_scheduled_messages_are_listed_as_such_and_left_alone(bus: Bus) -> None:
    bus.send_failed(headers=allowing(bus), scheduled_enqueue_time_utc=datetime.now(UTC) + timedelta(hours=1))

    listed, retried = bus.run("list", "--json"), bus.run("retry", "--yes")

    assert ([row["state"] for row in rows(listed.out)], retried.status) == (["scheduled"], REFUSED)
    assert "leave 1: scheduled or deferred" in retried.out


def test_deferred_messages_are_listed_as_such_and_left_alone(bus: Bus) -> None:
    bus.send_failed(headers=allowing(bus))
    with bus.receiver() as receiver:
        [message] = receiver.receive_messages(1)
        receiver.defer_message(message)

    listed, retried = bus.run("list", "--json"), bus.run("retry", "--yes")

    assert ([row["state"] for row in rows(listed.out)], retried.status) == (["deferred"], REFUSED)


def allowing(bus: Bus, queue: str = "bills", **changes: str | None) -> dict[str, str]:
    """Return fault headers of a message that failed at a queue of the namespace."""
    return fault_headers(queue, **{"Recoverable.FailedQueue": bus.address(queue), **changes})


def test_a_message_is_sent_back_with_its_body_properties_and_fields(bus: Bus) -> None:
    own: Any = {"tenant": 7, "large": {"TYPE": "LONG", "VALUE": 2**40}, "ratio": 0.5, "vip": True}
    fields = {"content_type": "image/png", "correlation_id": "c", "subject": "s", "reply_to": "r", "to": "t"}
    bus.send_failed("hello", headers={**allowing(bus), **own}, **fields)

    ran = bus.run("retry", "--yes", "--allow", "bills")

    [seen] = bus.seen("bills")
    with bus.receiver("bills") as receiver:
        [arrived] = receiver.receive_messages(1)
    assert (ran.status, bus.seen(), seen.body) == (DONE, [], b"hello")
    assert {name: value for name, value in seen.application_properties.items() if "." not in name} == {
        "tenant": 7, "large": 2**40, "ratio": 0.5, "vip": True
    }  # fmt: skip
    assert {name: value for name, value in seen.application_properties.items() if "." in name} == {
        "NServiceBus.MessageId": "order-1",
        "NServiceBus.TimeSent": seen.application_properties["NServiceBus.TimeSent"],
        "Recoverable.Origin": seen.application_properties["Recoverable.Origin"],
        "Recoverable.Redrives": "1",
    }
    assert {name: getattr(arrived, name) for name in fields} == fields


def test_a_forged_queue_is_refused(bus: Bus) -> None:
    bus.send_failed(headers=allowing(bus))

    ran = bus.run("retry", "--yes")

    assert (ran.status, bus.seen("bills"), len(bus.seen())) == (REFUSED, [], 1)
    assert f"If that is right, add: --allow {bus.address('bills')}" in ran.out


@pytest.mark.parametrize("address", ["$management", "sb://", "\x1b[2J", "x" * 4_000])
def test_an_address_that_is_no_queue_holds_up_nobody_else(bus: Bus, address: str) -> None:
    bus.send_failed(headers=allowing(bus, **{"Recoverable.FailedQueue": address}))
    bus.send_failed(headers=allowing(bus))

    ran = bus.run("retry", "--allow", "bills", "--yes")

    assert (ran.status, len(bus.seen("bills")), len(bus.seen())) == (PARTLY, 1, 1)


def test_what_the_broker_dead_lettered_goes_where_it_came_from(bus: Bus) -> None:
    bus.send("hello", queue="orders", message_id="m1", application_properties={"NServiceBus.Retries": "1"})
    with bus.receiver("orders") as receiver:
        for _ in range(2):
            receiver.abandon_message(receiver.receive_messages(1)[0])

    shown, ran = bus.run("show"), bus.run("retry", "--yes")

    [seen] = bus.seen("orders")
    assert "the broker dead-lettered it from" in shown.out
    assert (ran.status, seen.body, set(seen.application_properties)) == (
        DONE, b"hello", {"NServiceBus.MessageId", "NServiceBus.TimeSent", "Recoverable.Origin", "Recoverable.Redrives"}
    )  # fmt: skip


def test_only_what_the_broker_dead_lettered_is_called_that(bus: Bus) -> None:
    bus.send("hello", queue="orders")
    with bus.receiver("orders") as receiver:
        for _ in range(2):
            receiver.abandon_message(receiver.receive_messages(1)[0])
    bus.send("hello")

    found = [(row["kind"], row["messages"]) for row in rows(bus.run("groups", "--json").out)]

    assert sorted(found) == [("dead-lettered by the broker", 1), ("no reason recorded", 1)]


def test_dead_letters_go_back_to_their_queue(bus: Bus) -> None:
    bus.send("hello", queue="bills")
    with bus.receiver("bills") as receiver:
        receiver.dead_letter_message(receiver.receive_messages(1)[0], reason="bad")

    ran = bus.run("retry", "--yes", queue="bills/$deadletterqueue")

    assert (ran.status, bus.bodies("bills"), bus.namespace.queue("bills").dead_letters()) == (DONE, ["hello"], [])


@pytest.mark.parametrize(("to", "status", "found"), [([], REFUSED, []), (["--to", "bills"], DONE, ["hello"])])
def test_dead_letters_of_a_subscription_go_only_where_the_operator_says(
    bus: Bus, to: list[str], status: int, found: list[str]
) -> None:
    with bus.client.get_topic_sender("events") as sender:
        sender.send_messages(ServiceBusMessage("hello"))
    with bus.client.get_subscription_receiver("events", "audit") as receiver:
        receiver.abandon_message(receiver.receive_messages(1)[0])

    ran = bus.run("retry", "--yes", *to, queue="events/subscriptions/audit/$deadletterqueue")

    assert (ran.status, bus.bodies("bills")) == (status, found)


def test_what_is_passed_over_is_given_back_in_its_order(bus: Bus) -> None:
    for number in range(6):
        kind = "CardDeclined" if number % 2 else "BankDown"
        bus.send_failed(str(number), headers=allowing(bus, type=kind, id=str(number)))

    ran = bus.run("retry", "--type", "CardDeclined", "--allow", "bills", "--yes")

    assert (ran.status, bus.bodies("bills"), bus.bodies()) == (DONE, ["1", "3", "5"], ["0", "2", "4"])
    assert [(each.state, each.delivery_count) for each in bus.seen()] == [("active", 1), ("active", 1), ("active", 1)]


def test_what_lies_behind_the_last_chosen_message_is_not_touched(bus: Bus) -> None:
    for number in range(30):
        bus.send_failed(str(number), headers=allowing(bus, id=str(number)))

    bus.run("retry", "--id", "0", "--allow", "bills", "--yes")

    assert sum(each.delivery_count for each in bus.seen()) <= 9  # one receive takes ten


def test_a_message_that_passing_over_might_dead_letter_is_not_passed_over(bus: Bus) -> None:
    bus.send_failed("first", headers=allowing(bus, id="1"))
    with bus.receiver() as receiver:
        for _ in range(9):
            receiver.abandon_message(receiver.receive_messages(1)[0])
    bus.send_failed("second", headers=allowing(bus, id="2"))

    refused = bus.run("retry", "--id", "2", "--allow", "bills", "--yes")
    both = bus.run("retry", "--allow", "bills", "--yes")

    assert (refused.status, both.status, bus.bodies("bills")) == (REFUSED, DONE, ["first", "second"])
    assert "a message before the chosen ones was delivered 9 times" in refused.err


def test_a_queue_with_more_deliveries_is_believed(new_bus: NewBus) -> None:
    bus = new_bus(max_delivery_count=100)
    bus.send_failed("first", headers=allowing(bus, id="1"))
    with bus.receiver() as receiver:
        for _ in range(9):
            receiver.abandon_message(receiver.receive_messages(1)[0])
    bus.send_failed("second", headers=allowing(bus, id="2"))

    ran = bus.run("retry", "--id", "2", "--allow", "bills", "--max-delivery-count", "100", "--yes")

    assert (ran.status, bus.bodies("bills"), bus.bodies()) == (DONE, ["second"], ["first"])


def test_what_another_receiver_holds_is_not_reached(bus: Bus) -> None:
    bus.send_failed("held", headers=allowing(bus, id="1"))
    with bus.receiver() as receiver:
        receiver.receive_messages(1)
        bus.send_failed("free", headers=allowing(bus, id="2"))

        ran = bus.run("retry", "--allow", "bills", "--yes")

    assert (ran.status, bus.bodies("bills"), bus.bodies()) == (PARTLY, ["free"], ["held"])
    assert "1 messages were not reached: they are no longer there, or locked by another receiver" in ran.out


def test_the_same_original_makes_the_same_copy_where_duplicates_are_detected(bus: Bus) -> None:
    bus.send_failed(headers=allowing(bus, "once"))
    bus.run("export", "--file", "/dev/null")  # changes nothing
    [seen] = bus.seen()
    bus.run("retry", "--allow", "once", "--yes", "--journal", ":memory:")
    bus.send_failed(headers=allowing(bus, "once"))

    bus.run("retry", "--allow", "once", "--yes", "--journal", ":memory:")

    assert (len(bus.seen("once")), seen.sequence_number) == (2, 1)


def test_an_exported_message_is_sent_back_as_it_was(bus: Bus, tmp_path: Any) -> None:
    bus.send_failed("hello", headers={**allowing(bus), "tenant": 7}, session_id="s1", subject="s")
    file = tmp_path / "failed.jsonl"
    bus.run("export", "--file", str(file))

    ran = bus.run("import", "--file", str(file), "--allow", "bills", "--yes")

    [seen] = bus.seen("bills")
    assert (ran.status, seen.body, seen.application_properties["tenant"], seen.session_id) == (DONE, b"hello", 7, "s1")


def test_purging_deletes_what_it_showed(bus: Bus, tmp_path: Any) -> None:
    bus.send_failed("bad", headers=fault_headers(type="CardDeclined"))
    bus.send_failed("kept")
    words = ["--type", "CardDeclined", "--file", str(tmp_path / "purged.jsonl"), "--confirm", ERROR]

    ran = bus.run("purge", *words)

    assert (ran.status, bus.bodies(), len((tmp_path / "purged.jsonl").read_text().splitlines())) == (DONE, ["kept"], 1)


def test_a_body_that_is_no_bytes_stays(bus: Bus) -> None:
    from azure.servicebus.amqp import AmqpAnnotatedMessage

    with bus.client.get_queue_sender(ERROR) as sender:
        sender.send_messages(AmqpAnnotatedMessage(value_body={"id": 1}, application_properties=allowing(bus)))

    ran = bus.run("retry", "--allow", "bills", "--yes")

    assert (ran.status, len(bus.seen()), bus.seen("bills")) == (REFUSED, 1, [])
    assert "leave 1: message 1 cannot be copied: its body is an AMQP value" in ran.out


def test_a_canary_that_comes_back_stops_the_rest(bus: Bus) -> None:
    for number in range(5):
        bus.send_failed(headers=allowing(bus, id=f"m{number}"))

    def fail_again() -> None:
        with bus.receiver("bills") as receiver:
            [message] = receiver.receive_messages(1, max_wait_time=60)
            receiver.complete_message(message)
        bus.send_failed(headers=allowing(bus, id="m0"))

    handler = Thread(target=fail_again)
    handler.start()
    ran = bus.run("retry", "--canary", "1", "--canary-wait", "60s", "--allow", "bills", "--yes")
    handler.join()

    assert (ran.status, len(bus.seen("bills")), len(bus.seen())) == (PARTLY, 0, 5)
    assert "Came back: m0." in ran.out


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        ("no-such", "recoverable errors: there is no queue sb://127.0.0.1:{port}/no-such\n"),
        ("", "recoverable errors: 'sb://127.0.0.1:{port}/' is no queue; write sb://NAMESPACE/QUEUE, "),
    ],
)
def test_a_queue_that_is_none_is_named(bus: Bus, queue: str, said: str) -> None:
    ran = bus.run("list", queue=queue)

    assert (ran.status, ran.err[: len(said.format(port=bus.namespace.port))]) == (
        REFUSED, said.format(port=bus.namespace.port)
    )  # fmt: skip


def test_a_connection_of_another_namespace_is_refused(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "Endpoint=sb://other.servicebus.windows.net;SharedAccessKeyName=a;SharedAccessKey=secret"
    monkeypatch.setenv("SERVICE_BUS_CONNECTION", other)

    ran = bus.run("list")

    assert (ran.status, "secret" in ran.err, "of other.servicebus.windows.net" in ran.err) == (REFUSED, False, True)


@pytest.mark.slow
def test_two_thousand_are_sent_back(bus: Bus) -> None:
    with bus.client.get_queue_sender(ERROR) as sender:
        for start in range(0, 2_000, 100):
            made: Any = [(str(n), allowing(bus, id=str(n))) for n in range(start, start + 100)]
            sender.send_messages([ServiceBusMessage(body, application_properties=each) for body, each in made])

    ran = bus.run("retry", "--allow", "bills", "--rate", "0", "--yes")

    assert (ran.status, len({each.body for each in bus.seen("bills")}), bus.seen()) == (DONE, 2_000, [])


def test_messages_are_taken_ten_at_a_time(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(25):
        bus.send_failed(str(number))
    asked = list[int]()
    receive = Receiver.receive

    def noted(self: Receiver, count: int) -> Any:
        asked.append(count)
        return receive(self, count)

    monkeypatch.setattr(Receiver, "receive", noted)

    bus.run("retry", "--to", "orders", "--yes")

    assert (asked[:3], len(bus.seen("orders"))) == ([1, 10, 10], 25)


def test_a_busy_namespace_is_asked_again_after_a_pause(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable_operate.errors._azure.senders_client.PAUSES", (0.0, 0.0))
    bus.send_failed(headers=allowing(bus))
    bus.namespace.fail(Operation.SEND, path="bills", times=2)

    ran = bus.run("retry", "--allow", "bills", "--yes")

    assert (ran.status, len(bus.seen("bills")), bus.seen()) == (DONE, 1, [])


def test_a_connection_that_is_not_set_is_named_before_the_network_is_asked(bus: Bus) -> None:
    ran = bus.run("list", "--connection", "BUSS")

    assert (ran.status, ran.err) == (
        REFUSED,
        "recoverable errors: the environment variable BUSS is not set; put a connection string of Service Bus into it\n",
    )


def test_a_proxy_is_asked_for_the_way_by_websockets(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recoverable_operate.errors._azure.namespace_client.TRIES_AGAIN", 0)
    text = "Endpoint=sb://shop.servicebus.windows.net;SharedAccessKeyName=a;SharedAccessKey=b"
    monkeypatch.setenv("SERVICE_BUS_CONNECTION", text)
    asked = list[str]()

    class Refusing(BaseRequestHandler):
        def handle(self) -> None:
            asked.append(self.request.recv(1_000).decode().splitlines()[0])
            self.request.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")

    with TCPServer(("127.0.0.1", 0), Refusing) as proxy:
        Thread(target=proxy.serve_forever).start()
        url = f"http://127.0.0.1:{proxy.server_address[1]}"
        ran = errors("list", "--queue", "sb://shop.servicebus.windows.net/orders-error", "--proxy", url)
        proxy.shutdown()

    assert (ran.status, asked[0]) == (REFUSED, "CONNECT shop.servicebus.windows.net:443 HTTP/1.1")


def test_a_connection_with_a_queue_of_sqs_says_how_one_of_service_bus_is_named(errors: Errors) -> None:
    ran = errors("list", "--queue", "orders-error", "--connection", "BUSS")

    assert (ran.status, "write --queue sb://NAMESPACE/QUEUE" in ran.err) == (REFUSED, True)
