"""Each rule for a function on Service Bus finds what it is for in one file or app, and nothing in those that are right."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from operate.check.bicep_files import GOOD, HOST, changed, host, written
from operate.check.conftest import Check
from recoverable._service_bus.app_settings import LOCK_DURATION
from recoverable._service_bus.host_json import HostOptions
from recoverable_operate.rules import SERVICE_BUS_RULES, Finding, OnServiceBus, ServiceBusQueue, Trigger, results

ROOT = Path(__file__).parents[3]
IN_CODE = (
    "not checked: binary-data, completion, one-reader, batch-lock: function_app.py does not say in plain words which function reads orders;"
    " `recoverable local azure` loads the code.\n"
)


class Case(NamedTuple):
    """A Bicep file and a host.json that trip one rule, and what is found."""

    text: str
    bicep: str = GOOD
    host: dict[str, Any] = HOST


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
    "threads": Case(
        "up to 16 invocations of plain functions run at a time, and the worker has 5 threads, so the others wait for one while their functionTimeout"
        " runs; write a maxConcurrentCalls of 5 into host.json, or the app setting PYTHON_THREADPOOL_THREAD_COUNT of 16",
        changed("PYTHON_THREADPOOL_THREAD_COUNT: '16'"),
    ),
    "max-delivery-count": Case(
        "orders has a maxDeliveryCount of 10, too few for a ladder of 5 immediate and 3 delayed retries, so Service Bus dead-letters messages before"
        " their retries are used up, and without a reason; write immediate retries + 6, which is 11, or more; 100 does for most",
        changed("maxDeliveryCount: 100", ""),
    ),
    "dead-letters": Case(
        "orders forwards its dead letters to no queue, so dead letters stay where nobody looks; write forwardDeadLetteredMessagesTo with the error"
        " queue's name",
        changed("forwardDeadLetteredMessagesTo: errorQueue.name").replace(
            "PYTHON_", "RECOVERABLE_ERROR_QUEUE: errorQueue.name\n    PYTHON_"
        ),
    ),
    "expiry": Case(
        "orders keeps messages for 14 days, 0:00:00 and drops those that expire, so messages of a function that is broken for longer are lost; write"
        " deadLetteringOnMessageExpiration: true",
        changed("requiresDuplicateDetection: true", "defaultMessageTimeToLive: 'P14D'"),
    ),
    "subscriptions": Case(
        "the subscription placed forwards its dead letters to no queue, so events for which a filter fails, or that expire, stay where nobody looks;"
        " write forwardDeadLetteredMessagesTo with the error queue's name",
        changed("forwardDeadLetteredMessagesTo: 'orders-error'"),
    ),
    "tier": Case(
        "the namespace is of the tier Basic, so no message can be scheduled, so delayed retries are refused, and dead letters cannot be forwarded;"
        " write the tier Standard or Premium; a namespace that is deployed keeps the tier that it has",
        changed("name: 'Standard'", "name: 'Basic'"),
    ),
    "error-queue-duplicates": Case(
        "orders-error is an error queue and detects duplicates, so a dead letter that was sent back, and is dead-lettered again within the window, is"
        " dropped; write requiresDuplicateDetection: false",
        changed("maxDeliveryCount: 2000", "requiresDuplicateDetection: true"),
    ),
    "error-queue-expiry": Case(
        "orders-error is an error queue and drops what expires, so a dead letter whose sender gave it a time to live is lost when that ends; write"
        " deadLetteringOnMessageExpiration: true",
        changed("deadLetteringOnMessageExpiration: true"),
    ),
    "error-queue-forwards": Case(
        "orders-error is an error queue and forwards to cellar, so messages that were given up leave it, with or without having been looked at; leave"
        " forwardTo and forwardDeadLetteredMessagesTo out",
        changed("maxDeliveryCount: 2000", "forwardTo: 'cellar'"),
    ),
    "roles": Case(
        "the app's identity has no role Azure Service Bus Data Sender on orders-error, so copies are refused: what is given up waits, and delayed"
        " retries come at once; assign Azure Service Bus Data Sender with orders-error as scope",
        changed("scope: errorQueue\n  properties: { roleDefinitionId: sender", "scope: errorQueue\n  properties: { roleDefinitionId: receiver"),
    ),
    "settings": Case(
        "the environment variable RECOVERABLE_TIME_INCREASE is '10', so the app does not start where it reads its settings from the environment; write"
        " a duration such as 10s, 5m, 1h or 00:00:10, up to 121 days, 16:00:00",
        changed("PYTHON_", "RECOVERABLE_TIME_INCREASE: '10'\n    PYTHON_"),
    ),
}  # fmt: skip

BATCHES = OnServiceBus(
    ServiceBusQueue(
        "orders", lock=timedelta(minutes=1), max_delivery_count=100, dead_letters_to="orders-error", forwards_to=None,
        duplicate_detection=True, lives=None, dead_letters_expired=True,
    ),
    error_queue=None,
    host=HostOptions(function_timeout=timedelta(minutes=5), max_auto_lock_renewal_duration=timedelta(minutes=5)),
    trigger=Trigger("orders", binary=True, completes=None, many=True),
    settings={LOCK_DURATION: "PT2M"},
)  # fmt: skip
TRIGGERS: dict[str, tuple[Trigger, str]] = {
    "binary-data": (
        Trigger("orders", binary=False, completes=None),
        "orders gets text, so the values of a JSON body overwrite the trigger metadata, including the delivery count; write"
        " data_type=func.DataType.BINARY on the trigger",
    ),
    "completion": (
        Trigger("orders", binary=True, completes=False),
        "messages of orders are not completed when it returns, so a processed message runs again when its lock expires; write"
        " auto_complete_messages=True on the trigger",
    ),
    "one-reader": (
        Trigger("orders", binary=True, completes=None, other_readers=("audit",)),
        "orders reads the same queue as audit, so each message runs in one of them only, whichever receives it first; write a queue for each, fed by"
        " a topic's subscriptions",
    ),
    "batch-lock": (
        Trigger("orders", binary=True, completes=None, many=True),
        "orders locks messages for 0:01:00, and RECOVERABLE_LOCK_DURATION says 0:02:00, so a batch that takes longer sends copies of messages that are"
        " delivered again beside them, and they multiply; write the same for lockDuration and RECOVERABLE_LOCK_DURATION, from one variable",
    ),
}


def test_each_rule_has_a_case() -> None:
    assert {each.name for each in SERVICE_BUS_RULES} == CASES.keys() | TRIGGERS.keys()


def test_nothing_is_found_where_all_is_right(check: Check, tmp_path: Path) -> None:
    assert check(written(tmp_path, GOOD)) == (0, f"{IN_CODE}Nothing found.\n", "")


@pytest.mark.parametrize("file", ["main.bicep", "queue.bicep"])
def test_nothing_is_found_in_the_example_shop(check: Check, file: str) -> None:
    ran = check(str(ROOT / "infra" / "azure" / file))

    assert (ran.status, ran.out.splitlines()[-1], ran.err) == (0, "Nothing found.", "")


@pytest.mark.parametrize("rule", CASES)
def test_what_is_wrong_is_found_with_what_it_causes_and_what_to_write(check: Check, tmp_path: Path, rule: str) -> None:
    case = CASES[rule]

    ran = check(written(tmp_path, case.bicep, case.host), "--json")
    read = [json.loads(line) for line in ran.out.splitlines()]
    found = [
        (each["rule"], f"{each['wrong']}, so {each['causes']}; {each['write']}") for each in read if "wrong" in each
    ]

    assert (ran.status, found) == (1, [(rule, case.text)])


@pytest.mark.parametrize("rule", TRIGGERS)
def test_what_is_wrong_with_a_trigger_is_found_where_the_code_is_loaded(rule: str) -> None:
    trigger, text = TRIGGERS[rule]

    found = [
        each for each in results(SERVICE_BUS_RULES, replace(BATCHES, trigger=trigger)) if isinstance(each, Finding)
    ]

    assert [(each.rule, str(each)) for each in found] == [(rule, text)]


LOCKS: dict[str, tuple[str, str]] = {
    "as long": ("PT1M", ""),
    "shorter": ("PT30S", ""),
    "no duration": ("60", "'60' is no duration such as PT1M"),
    "no setting": ("", "RECOVERABLE_LOCK_DURATION is no app setting, and ServiceBusEndpoint(lock=...) is not read"),
}


@pytest.mark.parametrize("said", LOCKS)
def test_a_batch_is_told_no_longer_lock_than_its_queue_has(said: str) -> None:
    text, found = LOCKS[said]
    deployed = replace(BATCHES, settings={LOCK_DURATION: text} if text else {})

    read = {
        each.rule: str(each) if isinstance(each, Finding) else each.why for each in results(SERVICE_BUS_RULES, deployed)
    }

    assert read.get("batch-lock", "").partition(", so")[0] == found


def test_a_trigger_of_single_messages_that_completes_needs_no_longer_lock() -> None:
    right = Trigger("orders", binary=True, completes=None)

    assert [
        each for each in results(SERVICE_BUS_RULES, replace(BATCHES, trigger=right)) if isinstance(each, Finding)
    ] == []
