"""What in an app would make messages run again, or their attempts be miscounted, although no host refuses it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recoverable_local.functions_host.app.host_json import HostOptions
from recoverable_local.functions_host.app.triggers import Trigger


def advice(options: HostOptions, triggers: Sequence[Trigger]) -> tuple[str, ...]:
    """What to mend before the app is published, one sentence each."""
    return (*_of_host(options), *_of_triggers(options, triggers))


def _of_host(options: HostOptions) -> Iterator[str]:
    timeout, renewal = options.function_timeout, options.max_auto_lock_renewal_duration
    if timeout is None or renewal < timeout:
        longest = "for any time" if timeout is None else f"for {timeout}"
        yield (
            f"host.json lets a function run {longest} and renews locks for {renewal}, so what takes longer runs again;"
            " write functionTimeout, and a longer maxAutoLockRenewalDuration"
        )
    if options.prefetch_count:
        yield (
            f"host.json fetches {options.prefetch_count} messages ahead, and a lock that ends while its message waits counts as a delivery;"
            " write a prefetchCount of 0"
        )


def _of_triggers(options: HostOptions, triggers: Sequence[Trigger]) -> Iterator[str]:
    for trigger in triggers:
        if not trigger.binary:
            yield (
                f"{trigger.function} gets texts, and a JSON body overwrites what the host tells of its message, the delivery count included;"
                " write data_type=func.DataType.BINARY on the trigger"
            )
        if not (options.auto_complete_messages if trigger.auto_complete is None else trigger.auto_complete):
            yield (
                f"{trigger.function} is not completed when it returns, so what succeeds runs again when its lock ends;"
                " write auto_complete_messages=True on the trigger"
            )
