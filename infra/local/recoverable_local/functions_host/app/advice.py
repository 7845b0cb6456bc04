"""Find settings of an app that Azure accepts but that repeat messages or miscount their attempts, by the rules of `recoverable check`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recoverable._service_bus.host_json import CALLS_PER_CORE, CORES, HostOptions
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_operate import rules
from recoverable_operate.rules import SERVICE_BUS_RULES, OnServiceBus, Unknown, Workload, check, worker_threads

SERVED_HERE = Unknown("the queues are those that are served here")


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
    described = describe(options, triggers, settings, cores)
    checks = [each for one in described for each in check(SERVICE_BUS_RULES, one)]
    return tuple(dict.fromkeys(str(problem) for each in checks for problem in each.problems))


def describe(
    options: HostOptions, triggers: Sequence[Trigger], settings: Mapping[str, str], cores: int
) -> Iterator[OnServiceBus]:
    """Yield a description of each trigger of the app."""
    plain = [each for each in triggers if not each.is_coroutine]
    calls = sum(_at_a_time(options, each, cores) for each in plain)
    by_calls = len(plain) == 1 and not plain[0].many and not plain[0].sessions
    for number, each in enumerate(triggers):
        yield OnServiceBus(
            SERVED_HERE,
            SERVED_HERE,
            host=options,
            trigger=_described(each, [other for other in triggers[number + 1 :] if _same_queue(each, other)]),
            workload=Workload(calls, worker_threads(settings, cores), by_calls=by_calls),
            settings=settings,
        )


def _described(trigger: Trigger, others: Sequence[Trigger]) -> rules.Trigger:
    return rules.Trigger(
        trigger.function,
        binary=trigger.binary,
        completes=trigger.auto_complete,
        many=trigger.many,
        other_readers=tuple(each.function for each in others),
    )


def _same_queue(first: Trigger, second: Trigger) -> bool:
    return (first.path.lower(), first.connection) == (second.path.lower(), second.connection)


def _at_a_time(options: HostOptions, trigger: Trigger, cores: int) -> int:
    if trigger.many:
        return 1
    if trigger.sessions:
        return options.max_concurrent_sessions
    return options.max_concurrent_calls or CALLS_PER_CORE * cores
