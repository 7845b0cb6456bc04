"""Each rule for a function on Service Bus finds what it is for in one app, nothing in those that are right, and says what cannot be known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from operate.check.arm_templates import (
    ALL_DONE,
    CODE,
    ELSEWHERE,
    GOOD,
    HOST,
    OF_APP,
    OF_ERRORS,
    OF_QUEUE,
    OF_SUBSCRIPTION,
    RECEIVER,
    changed,
    host,
    role,
    written,
)
from operate.check.conftest import Check, found, not_checked, rules_found
from operate.check.templates import Template
from recoverable._service_bus.host_json import HostOptions
from recoverable_operate.rules import SERVICE_BUS_RULES, OnServiceBus, ServiceBusQueue, Trigger
from recoverable_operate.rules import check as check_all

COMPILED = Path(__file__).parent / "compiled"


def endpoint(more: str) -> str:
    """Return code whose endpoint has further arguments."""
    return "from datetime import timedelta\n" + CODE.replace(
        'connection="ServiceBus"', f'connection="ServiceBus", {more}'
    )


TRIGGER = """
import azure.functions as func
@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", {})
def place_order(message): return orders(message)
"""
UNBOUND = CODE.replace("app.register_functions(orders.blueprint())\n", "")
RIGHT = "data_type=func.DataType.BINARY"


class Case(NamedTuple):
    """A template, a host.json and code that trip one rule, and what is found."""

    text: str
    template: Template = GOOD
    host: dict[str, Any] = HOST
    code: str = CODE


LOCKED = changed({f"{OF_QUEUE}.lockDuration": "PT2M"})

CASES: dict[str, Case] = {
    "lock-renewal": Case(
        "host.json lets a function run for 0:05:00 and renews locks for 0:04:00, so a message that takes longer cannot be completed, and runs again"
        " until it is given up; write functionTimeout, and a longer maxAutoLockRenewalDuration",
        host=host(maxAutoLockRenewalDuration="00:04:00"),
    ),
    "prefetch": Case(
        "host.json prefetches 7 messages, and a lock that expires while its message waits counts as a delivery, so messages lose attempts without"
        " having run; write a prefetchCount of 0",
        host=host(prefetchCount=7),
    ),
    "plan-timeout": Case(
        "host.json has a functionTimeout of 0:20:00, and the plan Consumption allows 0:10:00, so the host does not start; write a functionTimeout of"
        " 00:10:00 at most, or another plan",
        {**GOOD, "plan": {"type": "Microsoft.Web/serverfarms", "name": "plan", "sku": {"name": "Y1", "tier": "Dynamic"}}},
        {**host(maxAutoLockRenewalDuration="00:20:00"), "functionTimeout": "00:20:00"},
    ),
    "session-calls": Case(
        "host.json has a maxConcurrentCallsPerSession of 2, so messages of one session run at the same time, and their order is lost; leave"
        " maxConcurrentCallsPerSession out",
        changed({f"{OF_QUEUE}.requiresSession": True, f"{OF_QUEUE}.deadLetteringOnMessageExpiration": True, f"{OF_QUEUE}.defaultMessageTimeToLive": "P4D"}),
        host(maxConcurrentCallsPerSession=2),
        endpoint('sessions="ordered"'),
    ),
    "sampling": Case(
        "host.json has samplingSettings that do not exclude Trace, so lines of the log are dropped when there is much, and counts of them are too"
        ' low; write "excludedTypes": "Trace;Exception"',
        host={**HOST, "logging": {"applicationInsights": {"samplingSettings": {"isEnabled": True, "excludedTypes": "Request"}}}},
    ),
    "host-names": Case(
        "host.json has prefetchcont in extensions.serviceBus, which the extension does not obey, so what it is to set has its default; write"
        " prefetchcount",
        host=host(prefetchCont=5),
    ),
    "accepted-values": Case(
        "orders has a maxDeliveryCount of 5000, so it cannot be deployed; write a number from 1 to 2000",
        changed({f"{OF_QUEUE}.maxDeliveryCount": 5000}),
    ),
    "queue-stays": Case(
        "orders has an autoDeleteOnIdle of 7 days, 0:00:00, so Service Bus deletes it, with the messages that are in it, when nobody uses it for so"
        " long; leave autoDeleteOnIdle out",
        changed({f"{OF_QUEUE}.autoDeleteOnIdle": "P7D"}),
    ),
    "delay-life": Case(
        "orders keeps messages for 0:00:20, and the longest delay of the ladder is 0:00:30, so messages expire before their retries are used up;"
        " write a longer defaultMessageTimeToLive, or shorter delays",
        changed({f"{OF_QUEUE}.defaultMessageTimeToLive": "PT20S", f"{OF_QUEUE}.deadLetteringOnMessageExpiration": True}),
    ),
    "threads": Case(
        "up to 16 invocations of plain functions run at a time, and the worker has 5 threads, so the others wait for one while their functionTimeout"
        " runs; write a maxConcurrentCalls of 5 into host.json, or the app setting PYTHON_THREADPOOL_THREAD_COUNT of 16",
        changed({f"{OF_APP}.PYTHON_THREADPOOL_THREAD_COUNT": None}),
    ),
    "max-delivery-count": Case(
        "orders has a maxDeliveryCount of 10, too few for a ladder of 5 immediate and 3 delayed retries, so Service Bus dead-letters messages before"
        " their retries are used up, and without a reason; write immediate retries + 6, which is 11, or more; 100 does for most",
        changed({f"{OF_QUEUE}.maxDeliveryCount": None}),
    ),
    "dead-letters": Case(
        "orders forwards its dead letters to no queue, so dead letters stay where nobody looks; write forwardDeadLetteredMessagesTo with the error"
        " queue's name",
        changed({f"{OF_QUEUE}.forwardDeadLetteredMessagesTo": None}),
    ),
    "expiry": Case(
        "orders keeps messages for 14 days, 0:00:00 and drops those that expire, so messages of a function that is broken for longer are lost; write"
        " deadLetteringOnMessageExpiration: true",
        changed({f"{OF_QUEUE}.defaultMessageTimeToLive": "P14D"}),
    ),
    "subscriptions": Case(
        "the subscription placed forwards its dead letters to no queue, so events for which a filter fails, or that expire, stay where nobody looks;"
        " write forwardDeadLetteredMessagesTo with the error queue's name",
        changed({f"{OF_SUBSCRIPTION}.forwardDeadLetteredMessagesTo": None}),
    ),
    "tier": Case(
        "the namespace is of the tier Basic, so no message can be scheduled, so delayed retries are refused, and dead letters cannot be forwarded;"
        " write the tier Standard or Premium; a namespace that is deployed keeps the tier that it has",
        changed({"bus.sku.name": "Basic"}),
    ),
    "error-queue-duplicates": Case(
        "orders-error is an error queue and detects duplicates, so a dead letter that was sent back, and is dead-lettered again within the window, is"
        " dropped; write requiresDuplicateDetection: false",
        changed({f"{OF_ERRORS}.requiresDuplicateDetection": True}),
    ),
    "error-queue-expiry": Case(
        "orders-error is an error queue and drops what expires, so a dead letter whose sender gave it a time to live is lost when that ends; write"
        " deadLetteringOnMessageExpiration: true",
        changed({f"{OF_ERRORS}.deadLetteringOnMessageExpiration": None}),
    ),
    "error-queue-forwards": Case(
        "orders-error is an error queue and forwards to cellar, so messages that were given up leave it, with or without having been looked at; leave"
        " forwardTo and forwardDeadLetteredMessagesTo out",
        changed({f"{OF_ERRORS}.forwardTo": "cellar"}),
    ),
    "roles": Case(
        "the app's identity has no role Azure Service Bus Data Sender on orders-error, so copies are refused: what is given up waits, and delayed"
        " retries come at once; assign Azure Service Bus Data Sender with orders-error as scope to the app's identity",
        changed({"maySendErrors": role(RECEIVER, "orders-error")}),
    ),
    "settings": Case(
        "the environment variable RECOVERABLE_TIME_INCREASE is '10', so the app does not start where it reads its settings from the environment; write"
        " a duration such as 10s, 5m, 1h or 00:00:10, up to 121 days, 16:00:00",
        changed({f"{OF_APP}.RECOVERABLE_TIME_INCREASE": "10"}),
    ),
    "extension-bundle": Case(
        "host.json takes extension bundle 3 ([3.3.0, 4.0.0)), so copies lack session, partition key and subject, which the trigger does not give;"
        ' write "version": "[4.*, 5.0.0)"',
        host={**HOST, "extensionBundle": {**HOST["extensionBundle"], "version": "[3.3.0, 4.0.0)"}},
    ),
    "binary-data": Case(
        "place_order gets text, so the values of a JSON body overwrite the trigger metadata, including the delivery count; write"
        " data_type=func.DataType.BINARY on the trigger",
        code=UNBOUND + TRIGGER.format(""),
    ),
    "cardinality": Case(
        "function_app.py:5 has no batch=True, and the trigger of place_order gives many messages, so the endpoint refuses what it is given; write"
        " cardinality=ONE on the trigger, or batch=True",
        changed({f"{OF_QUEUE}.lockDuration": "PT5M"}),
        {**HOST, "functionTimeout": "00:04:00"},
        UNBOUND + TRIGGER.format(f"{RIGHT}, cardinality=func.Cardinality.MANY"),
    ),
    "completion": Case(
        "messages of place_order are not completed when it returns, so a processed message runs again when its lock expires; write"
        " auto_complete_messages=True on the trigger",
        code=UNBOUND + TRIGGER.format(f"{RIGHT}, auto_complete_messages=False"),
    ),
    "one-reader": Case(
        "orders reads the same queue as place_order, so each message runs in one of them only, whichever receives it first; write a queue for each,"
        " fed by a topic's subscriptions",
        code=CODE + TRIGGER.format(RIGHT),
    ),
    "connections": Case(
        "the connection 'Servicebuss' is not among the app settings, so the host does not start the function; add Servicebuss with a connection"
        " string, or Servicebuss__fullyQualifiedNamespace with a namespace such as shop.servicebus.windows.net",
        code=CODE.replace('"ServiceBus"', '"Servicebuss"'),
    ),
    "session-kind": Case(
        "function_app.py:6 has sessions, and orders has none, so the host cannot receive from it; leave sessions out, or write requiresSession:"
        " true on the queue",
        code=endpoint("sessions=True"),
    ),
    "same-error-queue": Case(
        "orders has its dead letters forwarded to orders-error, and its messages that are given up go to faults, so who looks at one of the two misses"
        " what is in the other; to a queue that does not exist nothing can be moved; write faults into forwardDeadLetteredMessagesTo, or orders-error"
        " as the error queue",
        changed({f"{OF_APP}.RECOVERABLE_ERROR_QUEUE": "faults"}),
    ),
    "entity-names": Case(
        "the code names the queue ordres, and the one that is made here is orders, so the two do not find each other; write orders",
        code=CODE.replace('queue="orders"', 'queue="ordres"'),
    ),
    "session-expiry": Case(
        "orders has sessions and keeps messages for ever, so a message that takes the host along runs again and again, uncounted, and its session"
        " stands still; write a defaultMessageTimeToLive such as 'P4D', and deadLetteringOnMessageExpiration: true",
        changed({f"{OF_QUEUE}.requiresSession": True}),
        code=endpoint("sessions=True"),
    ),
    "ladder-life": Case(
        "orders keeps messages for 0:04:00, and 4 times all delays of the ladder take 0:04:00, so messages expire while they wait behind one of their"
        " session; write a longer defaultMessageTimeToLive, or shorter delays",
        changed({f"{OF_QUEUE}.requiresSession": True, f"{OF_QUEUE}.deadLetteringOnMessageExpiration": True, f"{OF_QUEUE}.defaultMessageTimeToLive": "PT4M"}),
        code=endpoint('sessions="ordered"'),
    ),
    "batch-lock": Case(
        "orders locks messages for 0:01:00, and orders may take 0:05:00 for a batch, whose locks are not renewed, so a batch that takes longer runs"
        " again until it is given up; write a lockDuration of up to PT5M and a shorter functionTimeout, or let single messages trigger the function",
        code=endpoint("batch=True"),
    ),
    "stated-lock": Case(
        "function_app.py:6 says a lock of 0:03:00, and orders locks messages for 0:02:00, so batches run again while they are still worked on, and"
        " their messages multiply; write lock=timedelta(seconds=120), or a longer lockDuration",
        LOCKED,
        {**HOST, "functionTimeout": "00:01:00"},
        endpoint("batch=True, lock=timedelta(minutes=3)"),
    ),
    "handler-limit": Case(
        "function_app.py:6 has a handler_timeout of 0:06:00, and functionTimeout is 0:05:00, so the function ends before its handler is stopped;"
        " write a shorter handler_timeout, or a longer time for the function",
        code=endpoint("handler_timeout=timedelta(minutes=6)"),
    ),
}  # fmt: skip


BATCHES = OnServiceBus(
    ServiceBusQueue(
        "orders", lock=timedelta(minutes=1), max_delivery_count=100, dead_letters_to="orders-error", forwards_to=None,
        duplicate_detection=True, lives=None, dead_letters_expired=True,
    ),
    error_queue=None,
    trigger=Trigger("orders", binary=True, completes=None, many=True),
)  # fmt: skip


def test_each_rule_has_a_case() -> None:
    assert {each.name for each in SERVICE_BUS_RULES} == CASES.keys()


def test_nothing_is_found_where_all_is_right(check: Check, tmp_path: Path) -> None:
    assert check(written(tmp_path, GOOD)) == (0, ALL_DONE, "")


def test_a_lock_that_an_app_setting_states_is_compared_too(check: Check, tmp_path: Path) -> None:
    stated = changed({f"{OF_APP}.RECOVERABLE_LOCK_DURATION": "PT3M"}, LOCKED)
    file = written(tmp_path, stated, {**HOST, "functionTimeout": "00:01:00"}, endpoint("batch=True"))

    assert "RECOVERABLE_LOCK_DURATION says a lock of 0:03:00, and orders locks messages for 0:02:00" in check(file).out


def test_nothing_is_found_in_the_example_shop(check: Check) -> None:
    ran = check(str(COMPILED / "main.json"))

    assert ran == (0, f"left alone, because no code there uses this package: orders-placed.\n{ALL_DONE}", "")


@pytest.mark.parametrize("rule", CASES)
def test_what_is_wrong_is_found_with_what_it_causes_and_what_to_write(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    case = CASES[rule]

    monkeypatch.chdir(tmp_path)
    written(tmp_path, case.template, case.host, case.code)

    ran = check("infra/main.json", "--json")

    assert (ran.status, found(ran)) == (1, [(rule, case.text)])


OF_THE_APP = (
    "lock-renewal", "prefetch", "extension-bundle", "threads", "binary-data", "cardinality", "completion", "one-reader",
    "connections", "session-kind", "batch-lock", "stated-lock", "handler-limit", "session-calls", "sampling", "host-names",
)  # fmt: skip
"""Rules on host.json and code, of which neither is there."""

SESSIONS = changed({f"{OF_QUEUE}.requiresSession": True, f"{OF_QUEUE}.defaultMessageTimeToLive": ELSEWHERE})
NOT_KNOWN: dict[str, Template] = {
    "max-delivery-count": changed({f"{OF_QUEUE}.maxDeliveryCount": ELSEWHERE}),
    "dead-letters": changed({f"{OF_QUEUE}.forwardDeadLetteredMessagesTo": ELSEWHERE}),
    "same-error-queue": changed({f"{OF_APP}.RECOVERABLE_ERROR_QUEUE": ELSEWHERE}),
    "entity-names": changed({f"{OF_APP}.RECOVERABLE_ERROR_QUEUE": ELSEWHERE}),
    "expiry": changed({f"{OF_QUEUE}.defaultMessageTimeToLive": ELSEWHERE}),
    "delay-life": changed({f"{OF_QUEUE}.defaultMessageTimeToLive": ELSEWHERE}),
    "queue-stays": changed({f"{OF_QUEUE}.autoDeleteOnIdle": ELSEWHERE}),
    "ladder-life": SESSIONS,
    "session-expiry": SESSIONS,
    "subscriptions": changed({f"{OF_SUBSCRIPTION}.forwardDeadLetteredMessagesTo": ELSEWHERE}),
    "tier": changed({"bus.sku.name": ELSEWHERE}),
    "error-queue-duplicates": changed({f"{OF_ERRORS}.requiresDuplicateDetection": ELSEWHERE}),
    "error-queue-expiry": changed({f"{OF_ERRORS}.defaultMessageTimeToLive": ELSEWHERE}),
    "error-queue-forwards": changed({f"{OF_ERRORS}.forwardTo": ELSEWHERE}),
    "roles": changed({"mayReceive.properties.principalId": "8a1b6c3d-0000-0000-0000-000000000000"}),
    "settings": {**GOOD, "more": {**GOOD["appSettings"], "properties": {}}},
}


@pytest.mark.parametrize("rule", NOT_KNOWN)
def test_what_cannot_be_known_is_not_checked(check: Check, tmp_path: Path, rule: str) -> None:
    code = endpoint('sessions="ordered"') if NOT_KNOWN[rule] is SESSIONS else CODE

    ran = check(written(tmp_path, NOT_KNOWN[rule], code=code), "--json")

    assert (ran.status, rules_found(ran), rule in not_checked(ran)) == (0, [], True)


def test_what_cannot_be_known_of_an_app_that_is_not_there_is_not_checked(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, code=None)
    (tmp_path / "host.json").unlink()

    unknown = not_checked(check(path, "--json"))

    assert set(OF_THE_APP) <= unknown.keys()
    # a value that is not known is refused by nobody, and a plan may be of another file
    assert {each.name for each in SERVICE_BUS_RULES} == {*OF_THE_APP, *NOT_KNOWN, "accepted-values", "plan-timeout"}


def test_a_role_of_somebody_else_is_none_of_the_apps(check: Check, tmp_path: Path) -> None:
    theirs = {
        **GOOD,
        "other": {**GOOD["identity"], "name": "other"},
        "mayReceive": role(RECEIVER, "orders", "[reference('other', '2024-11-30').principalId]"),
    }

    [(rule, text)] = found(check(written(tmp_path, theirs), "--json"))

    assert (rule, text.partition(",")[0]) == (
        "roles",
        "only other has the role Azure Service Bus Data Receiver on orders",
    )


def test_a_role_to_receive_that_nobody_has_is_found(check: Check, tmp_path: Path) -> None:
    assert rules_found(check(written(tmp_path, changed({"mayReceive": None})), "--json")) == ["roles"]


@pytest.mark.parametrize(("timeout", "problems"), [(None, 1), (1, 1), (0.9, 0)])
def test_a_batch_must_end_before_its_locks(timeout: float | None, problems: int) -> None:
    host = HostOptions(function_timeout=None if timeout is None else timedelta(minutes=timeout))

    checks = {each.rule: each for each in check_all(SERVICE_BUS_RULES, replace(BATCHES, host=host))}

    assert len(checks["batch-lock"].problems) == problems
