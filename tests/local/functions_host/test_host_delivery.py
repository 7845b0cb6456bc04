"""Test what the Functions host passes to functions: how many messages at a time, their order, and their metadata."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusMessage

from local.functions_host.conftest import Start
from local.functions_host.running_functions import RunningFunctions
from recoverable_local.functions_host import Delivered, Ended, Invoked, Raised, Started, Trouble
from recoverable_local.service_bus import Depth

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("functions_host")]

TRIGGER = '@app.service_bus_queue_trigger(arg_name="message", queue_name="{queue}", connection="ServiceBus", {more})'


def showing(queue: str = "orders", more: str = 'data_type="binary"') -> str:
    """Write a function that prints the metadata of a message."""
    return f"""
{TRIGGER.format(queue=queue, more=more)}
def show(message: func.ServiceBusMessage) -> None:
    say("TOLD", json.dumps(message.metadata, sort_keys=True, default=str))
    say("COUNT", message.delivery_count, message.message_id)
"""


IN_SESSION = f"""
{TRIGGER.format(queue="orders", more='data_type="binary", is_sessions_enabled=True')}
def step(message: func.ServiceBusMessage) -> None:
    time.sleep(0.05)
    say("STEP", message.session_id, message.get_body().decode(), message.delivery_count)
    if message.get_body() == b"bad" and message.delivery_count == 1:
        raise ValueError
"""

MANY = """
from typing import List

@app.service_bus_queue_trigger(arg_name="messages", queue_name="orders", connection="ServiceBus", data_type="binary", cardinality="many")
def many(messages: List[func.ServiceBusMessage]) -> None:
    say("BATCH", json.dumps([[each.get_body().decode(), each.delivery_count, each.correlation_id] for each in messages]))
    if any(each.get_body() == b"bad" for each in messages) and messages[0].delivery_count == 1:
        raise ValueError("bad")
"""


def completed(running: RunningFunctions, count: int) -> list[Ended]:
    """Wait until this many invocations have completed their messages, and return all that have ended."""
    running.until(lambda: sum(each.settled == "completed" for each in running.all(Ended)) >= count)
    return running.all(Ended)


def test_a_message_is_told_of_by_the_names_of_the_service_bus_extension(start: Start) -> None:
    running = start(showing())
    running.host.send(
        "orders",
        "hello",
        message_id="m-1",
        subject="placed",
        application_properties={"tenant": "north", "count": 2, "late": True},
        time_to_live=timedelta(days=1),
    )
    completed(running, 1)
    [told] = [json.loads(line) for line in running.lines("TOLD", 1)]
    dates = {name: told.pop(name) for name in ("EnqueuedTime", "EnqueuedTimeUtc", "ExpiresAt", "ExpiresAtUtc")}
    lock = told.pop("LockToken")

    mine = {"tenant": "north", "count": 2, "late": True}
    assert told == {
        "ApplicationProperties": mine, "UserProperties": mine, "DeliveryCount": 1, "MessageId": "m-1",
        "SequenceNumber": 1, "Subject": "placed", "Label": "placed",
    }  # fmt: skip
    assert (len(lock), dates["EnqueuedTime"]) == (36, dates["EnqueuedTimeUtc"] + "+00:00")
    assert dates["ExpiresAt"] == dates["ExpiresAtUtc"] + "+00:00"


def test_a_message_without_a_time_to_live_expires_at_the_end_of_time(start: Start) -> None:
    running = start(showing())
    running.host.send("orders", "hello")
    completed(running, 1)

    assert json.loads(running.lines("TOLD", 1)[0])["ExpiresAtUtc"] == "9999-12-31T23:59:59.9999999"


@pytest.mark.parametrize(("kind", "count"), [("string", "7 mine"), ("binary", "1 m-1")])
def test_a_json_body_rewrites_what_a_trigger_of_text_is_told(start: Start, kind: str, count: str) -> None:
    running = start(showing(more=f'data_type="{kind}"'))
    running.host.send("orders", {"deliveryCount": 7, "messageID": "mine"}, message_id="m-1")
    completed(running, 1)

    assert running.lines("COUNT", 1) == [count]


def test_what_is_no_text_cannot_be_given_to_a_trigger_of_text(start: Start) -> None:
    running = start(showing(more='data_type="string"'), max_delivery_count=2)
    running.host.send("orders", b"\xff")
    [outcome, _] = [entry.outcome for entry in running.ended(2)]

    assert isinstance(outcome, Raised)
    assert outcome.message.startswith("the message cannot be passed to the function: 'utf-8' codec")


def test_no_more_run_beside_each_other_than_host_json_says(start: Start, tmp_path: Path) -> None:
    running, gate = start(service_bus={"maxConcurrentCalls": 2}), tmp_path / "gate"
    running.host.send("orders", *[f"wait {gate}"] * 6)
    running.until(lambda: len(running.lines_with("RUN")) >= 2)
    gate.touch()
    completed(running, 6)

    assert running.most_at_a_time() == 2


def test_a_session_s_messages_run_in_order_and_one_at_a_time(start: Start) -> None:
    running = start(IN_SESSION, service_bus={"sessionIdleTimeout": "00:00:01"})
    for session, body in [("a", "1"), ("b", "1"), ("a", "bad"), ("b", "2"), ("a", "3")]:
        running.host.send("orders", body, session_id=session)
    completed(running, 5)

    steps = [line.split(" ", 1) for line in running.lines("STEP", 6)]
    assert {one: [step for session, step in steps if session == one] for one in "ab"} == {
        "a": ["1 1", "bad 1", "bad 2", "3 1"],
        "b": ["1 1", "2 1"],
    }


def test_a_session_that_is_idle_makes_room_for_the_next(start: Start) -> None:
    running = start(IN_SESSION, service_bus={"sessionIdleTimeout": "00:00:01", "maxConcurrentSessions": 1})
    for session in ("a", "b", "c"):
        running.host.send("orders", "1", session_id=session)
    completed(running, 3)

    assert (sorted(running.lines("STEP", 3)), running.most_at_a_time()) == (["a 1 1", "b 1 1", "c 1 1"], 1)


def test_a_batch_is_completed_or_abandoned_together(start: Start) -> None:
    running = start(MANY)
    running.host.send("orders", "good", "bad")
    completed(running, 1)

    batches = [
        [(each.sequence_number, each.delivery_count) for each in entry.messages] for entry in running.all(Invoked)
    ]
    assert batches == [[(1, 1), (2, 1)], [(1, 2), (2, 2)]]
    assert running.host.queue("orders").depth() == Depth()


def test_no_batch_is_larger_than_host_json_says(start: Start) -> None:
    running = start(MANY, service_bus={"maxMessageBatchSize": 3})
    running.host.send("orders", *"1234567")
    running.until(lambda: sum(len(entry.messages) for entry in running.all(Invoked)) >= 7)

    assert max(len(entry.messages) for entry in running.all(Invoked)) == 3


def test_in_a_batch_what_a_message_lacks_is_told_of_it_all_the_same(start: Start) -> None:
    """The host leaves out empty strings of an array, so the first message gets the second's correlation id."""
    running = start(MANY)
    running.host.send("orders", ServiceBusMessage("one"), ServiceBusMessage("two", correlation_id="c-2"))
    completed(running, 1)

    assert [json.loads(line) for line in running.lines("BATCH", 1)] == [[["one", 1, "c-2"], ["two", 1, None]]]


def test_a_subscription_is_read_as_a_queue_is(start: Start) -> None:
    running = start("""
@app.service_bus_topic_trigger(arg_name="message", topic_name="sales", subscription_name="shop", connection="ServiceBus", data_type="binary")
def sold(message: func.ServiceBusMessage) -> None:
    say("SOLD", message.get_body().decode())
""")  # fmt: skip
    running.host.send("sales", "order 42")
    completed(running, 1)

    assert running.lines("SOLD", 1) == ["order 42"]


def test_the_functions_of_an_app_run_beside_each_other_in_one_worker(start: Start) -> None:
    other = showing("invoices").replace("def show", "def invoice")
    running = start(showing("orders"), other)
    running.host.send("orders", "1")
    running.host.send("invoices", "2")
    completed(running, 2)

    assert sorted(entry.function for entry in running.all(Invoked)) == ["invoice", "show"]
    assert [entry.functions for entry in running.all(Started)] == [("show", "invoice")]


def test_names_in_percent_signs_are_app_settings(start: Start) -> None:
    running = start(
        showing("%Queue%"), showing("%Missing%").replace("def show", "def lost"), app_settings={"Queue": "mine"}
    )
    running.host.send("mine", "1")
    completed(running, 1)

    [lost] = running.host.served.not_served
    assert (lost.function, lost.reason.startswith("%Missing% in '%Missing%' is no app setting")) == ("lost", True)


def test_a_connection_string_in_place_of_a_settings_name_is_refused_and_not_shown(start: Start) -> None:
    running = start(showing().replace('"ServiceBus"', '"Endpoint=sb://shop;SharedAccessKey=secret"'))

    assert [(each.function, each.reason) for each in running.host.served.not_served] == [
        (
            "show",
            "the connection of its binding 'message' is a connection string, which is not shown here because it holds a key; Azure looks for"
            " an app setting of that name: put the string into an app setting, and write the setting's name",
        )
    ]


def test_a_connections_name_in_percent_signs_is_an_app_setting(start: Start) -> None:
    running = start(showing().replace('"ServiceBus"', '"%Which%"'), app_settings={"Which": "Shop"})
    running.host.send("orders", "1")
    completed(running, 1)

    assert [each.connection for each in running.host.served.triggers] == ["Shop"]


def test_what_has_no_service_bus_trigger_is_not_run(start: Start) -> None:
    running = start(showing(), """
@app.timer_trigger(arg_name="timer", schedule="0 0 * * * *")
def tidy(timer: func.TimerRequest) -> None:
    pass
""")  # fmt: skip

    assert [(each.function, each.reason) for each in running.host.served.not_served] == [
        ("tidy", "it has no Service Bus trigger; its bindings are timerTrigger")
    ]


def test_each_delivery_is_written_in_the_journal(start: Start) -> None:
    running = start()
    running.host.send("orders", "good", message_id="m-1")
    completed(running, 1)

    assert running.delivered() == [Delivered("m-1", 1, 1)]


def test_under_load_each_message_is_handled_once(start: Start) -> None:
    """Receiving and settling share one link, over which large messages come in many frames."""
    running = start()
    bodies = [f"good {number} {'x' * (200_000 if number % 20 == 0 else 10)}" for number in range(200)]
    for first in range(0, 200, 20):
        running.host.send("orders", bodies[first])
        running.host.send("orders", *bodies[first + 1 : first + 20])
    ended = completed(running, 200)

    assert sorted(each.sequence_number for each in running.delivered()) == list(range(1, 201))
    assert ({entry.settled for entry in ended}, running.all(Trouble)) == ({"completed"}, [])
