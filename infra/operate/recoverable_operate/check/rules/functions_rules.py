"""Rules on a Function App: its `host.json`, its triggers and its settings."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_operate.check.functions_app.threads import THREADS
from recoverable_operate.check.known import known
from recoverable_operate.check.rule import Problem, rule
from recoverable_operate.check.rules.variable_problems import variable_problems
from recoverable_operate.check.service_bus import OnServiceBus

HOST = "host.json"


@rule("`functionTimeout` is set, and `maxAutoLockRenewalDuration` is at least as long.")
def lock_renewal(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find locks that end before a function may: its message can then no longer be completed."""
    host = known(deployed.host)
    timeout, renewal = host.function_timeout, host.max_auto_lock_renewal_duration
    if timeout is None or renewal < timeout:
        longest = "for any time" if timeout is None else f"for {timeout}"
        yield Problem(
            HOST,
            f"host.json lets a function run {longest} and renews locks for {renewal}",
            "a message that takes longer cannot be completed, and runs again until it is given up",
            "write functionTimeout, and a longer maxAutoLockRenewalDuration",
        )


@rule("`prefetchCount` is 0.")
def prefetch(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find prefetching: a prefetched message is locked, and its lock is not renewed before it runs."""
    if count := known(deployed.host).prefetch_count:
        yield Problem(
            HOST,
            f"host.json prefetches {count} messages, and a lock that expires while its message waits counts as a delivery",
            "messages lose attempts without having run",
            "write a prefetchCount of 0",
        )


@rule("The worker has as many threads as plain functions may run at a time.")
def threads(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find too few threads for plain functions; coroutines need none."""
    load = known(deployed.workload)
    if load.calls > load.threads:
        yield Problem(
            HOST,
            f"up to {load.calls} invocations of plain functions run at a time, and the worker has {load.threads} threads",
            "the others wait for one while their functionTimeout runs",
            f"write a maxConcurrentCalls of {load.threads} into host.json, or the app setting {THREADS} of {load.calls}",
        )


@rule("The trigger gives binary data, as `blueprint()` sets it.")
def binary_data(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that gives text: the host makes trigger metadata of what a JSON body says."""
    trigger = known(deployed.trigger)
    if not trigger.binary:
        yield Problem(
            trigger.function,
            f"{trigger.function} gets text",
            "the values of a JSON body overwrite the trigger metadata, including the delivery count",
            "write data_type=func.DataType.BINARY on the trigger",
        )


@rule("The host completes a message when its function has returned.")
def completion(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that completes nothing: the endpoint raises an error only for a message that is to stay."""
    trigger = known(deployed.trigger)
    if not (known(deployed.host).auto_complete_messages if trigger.completes is None else trigger.completes):
        yield Problem(
            trigger.function,
            f"messages of {trigger.function} are not completed when it returns",
            "a processed message runs again when its lock expires",
            "write auto_complete_messages=True on the trigger",
        )


@rule("Each queue or subscription is read by one function.")
def one_reader(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find functions that share a queue: it gives each message to one of them."""
    trigger = known(deployed.trigger)
    if trigger.other_readers:
        others = ", ".join(trigger.other_readers)
        yield Problem(
            trigger.function,
            f"{trigger.function} reads the same queue as {others}",
            "each message runs in one of them only, whichever receives it first",
            "write a queue for each, fed by a topic's subscriptions",
        )


@rule("App settings that begin with `RECOVERABLE_` have values that `Recoverability.from_environment` can read.")
def settings(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find settings that cannot be read: a function that reads them raises an error when it is loaded."""
    yield from variable_problems("the app", known(deployed.settings))
