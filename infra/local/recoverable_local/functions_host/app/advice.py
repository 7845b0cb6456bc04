"""Find settings of an app that Azure accepts but that repeat messages or miscount their attempts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recoverable_local.functions_host.app.host_json import HostOptions
from recoverable_local.functions_host.app.triggers import Trigger


def advice(options: HostOptions, triggers: Sequence[Trigger]) -> tuple[str, ...]:
    """Return what to change before the app is published, one sentence each."""
    return (*_of_host(options), *_of_triggers(options, triggers))


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
