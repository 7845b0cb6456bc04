"""Say what the Functions host and its queue count and can do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from recoverable._ladder.delivery import Platform
from recoverable._service_bus.app_settings import host, machine

if TYPE_CHECKING:
    from recoverable._config import Delayed
    from recoverable._ladder.delivery import Counter, Delivery


def platform_for(delayed: Delayed, *, batch: bool, ordered: bool) -> Platform:
    """Return what a queue on this host can do.

    Args:
        delayed: the delays.
        batch: True if the trigger gives many messages at once, which the host can only abandon together.
        ordered: True if the order of sessions is kept over delayed retries too.

    Raises:
        ValueError: order is kept, and an invocation cannot wait out one of the delays.
    """
    counter: Counter = "header" if batch else "native"
    platform = Platform(
        counter,
        shared_process=True,
        text_log=True,
        is_source=is_source,
        host=host(os.environ),
        machine=machine(os.environ),
    )
    if not ordered:
        return platform
    from recoverable.azure._ordered import check_delays  # noqa: PLC0415  # for ordered sessions alone
    from recoverable.azure._waiting import host_options, longest_wait  # noqa: PLC0415  # as above

    longest = longest_wait(host_options(os.environ))
    check_delays(delayed, longest)
    return platform.__replace__(redelivers_only=True, longest_delay=longest)


def is_source(name: str, delivery: Delivery) -> bool:
    """True if a name is that of the queue that a delivery came from; Service Bus takes upper for lower case."""
    return name.lower() == delivery.message.queue.lower()
