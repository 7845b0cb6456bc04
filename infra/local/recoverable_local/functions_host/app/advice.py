"""Find settings of an app that Azure accepts but that repeat messages or miscount their attempts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from recoverable.azure.host.app_settings import find_setting
from recoverable_local.functions_host.app.host_json import CALLS_PER_CORE, CORES, HostOptions
from recoverable_local.functions_host.app.triggers import Trigger

THREADS = "PYTHON_THREADPOOL_THREAD_COUNT"


def advice(
    options: HostOptions, triggers: Sequence[Trigger], settings: Mapping[str, str], *, cores: int = CORES
) -> tuple[str, ...]:
    """Return what to change before the app is published, one sentence each.

    Args:
        options: The options of `host.json`.
        triggers: The triggers of the functions that run.
        settings: The app settings.
        cores: The processors of the machine.
    """
    return (
        *_of_host(options),
        *_of_threads(options, triggers, settings, cores),
        *_of_triggers(options, triggers),
        *_of_shared_queues(triggers),
    )


def _of_host(options: HostOptions) -> Iterator[str]:
    timeout, renewal = options.function_timeout, options.max_auto_lock_renewal_duration
    if timeout is None or renewal < timeout:
        longest = "for any time" if timeout is None else f"for {timeout}"
        yield (
            f"host.json lets a function run {longest} and renews locks for {renewal}, so a message that takes longer runs again;"
            " write functionTimeout, and a longer maxAutoLockRenewalDuration"
        )
    if options.prefetch_count:
        yield (
            f"host.json prefetches {options.prefetch_count} messages, and a lock that expires while its message waits counts as a delivery;"
            " write a prefetchCount of 0"
        )


def _of_threads(
    options: HostOptions, triggers: Sequence[Trigger], settings: Mapping[str, str], cores: int
) -> Iterator[str]:
    """Compare what may run at a time in plain functions with the worker's threads; coroutines need none."""
    calls = sum(_at_a_time(options, each, cores) for each in triggers if not each.is_coroutine)
    threads = worker_threads(settings, cores)
    if calls > threads:
        yield (
            f"up to {calls} invocations of plain functions run at a time, and the worker has {threads} threads, so the others wait for one"
            f" while their functionTimeout runs; write a maxConcurrentCalls of {threads} into host.json, or the app setting {THREADS} of"
            f" {calls}"
        )


def worker_threads(settings: Mapping[str, str], cores: int = CORES) -> int:
    """Return how many threads the worker has (azure-functions-runtime, `threadpool.py`; Python, `ThreadPoolExecutor`)."""
    said = find_setting(THREADS, settings) or ""
    return int(said) if said.isdecimal() and int(said) >= 1 else min(32, cores + 4)


def _at_a_time(options: HostOptions, trigger: Trigger, cores: int) -> int:
    if trigger.many:
        return 1
    if trigger.sessions:
        return options.max_concurrent_sessions
    return options.max_concurrent_calls or CALLS_PER_CORE * cores


def _of_shared_queues(triggers: Sequence[Trigger]) -> Iterator[str]:
    for first, second in combinations(triggers, 2):
        if (first.path.lower(), first.connection) == (second.path.lower(), second.connection):
            yield (
                f"{first.function} and {second.function} both read {first.path}, so each message runs in one of them only, whichever"
                " receives it first; write a queue for each, fed by a topic's subscriptions"
            )


def _of_triggers(options: HostOptions, triggers: Sequence[Trigger]) -> Iterator[str]:
    for trigger in triggers:
        if not trigger.binary:
            yield (
                f"{trigger.function} gets text, so the values of a JSON body overwrite the trigger metadata, including the delivery count;"
                " write data_type=func.DataType.BINARY on the trigger"
            )
        if not (options.auto_complete_messages if trigger.auto_complete is None else trigger.auto_complete):
            yield (
                f"messages of {trigger.function} are not completed when it returns, so a processed message runs again when its lock expires;"
                " write auto_complete_messages=True on the trigger"
            )
