"""Make the queues that stand in for those which a template names but does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from recoverable_local.lambda_host.sam.stack import Queue

_VISIBILITY_FACTOR = 6  # Lambda, "Creating and configuring an Amazon SQS event source mapping"
_VISIBILITY = timedelta(seconds=30)  # SQS's default


def stand_ins(queues: tuple[Queue, ...], read: Iterable[tuple[str, timedelta]]) -> tuple[Queue, ...]:
    """Return a queue for each name that a mapping or a redrive policy has and the template has not.

    Args:
        queues: The template's queues.
        read: The names of the queues that mappings read, each with its function's time-out.
    """
    known = {queue.name for queue in queues}
    wanted = {queue.redrive.target: _VISIBILITY for queue in queues if queue.redrive is not None}
    for name, timeout in read:
        wanted[name] = max(_VISIBILITY_FACTOR * timeout, wanted.get(name, _VISIBILITY))
    return tuple(_queue(name, visibility) for name, visibility in wanted.items() if name not in known)


def stand_in_notes(queues: tuple[Queue, ...]) -> Iterator[str]:
    """Yield a note on each queue that stands in for one outside the template."""
    for queue in queues:
        if queue.outside:
            yield (
                f"{queue.name} is no queue of this template, so an empty one stands in for it; its messages and settings in AWS are"
                " not looked at"
            )


def _queue(name: str, visibility: timedelta) -> Queue:
    fifo = name.endswith(".fifo")
    return Queue(f"outside {name}", name, fifo, visibility, attributes={}, redrive=None, outside=True)
