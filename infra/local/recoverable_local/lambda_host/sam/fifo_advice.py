"""Find settings of a FIFO queue in a template that AWS accepts but that cost messages their retries. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Queue, Redrive

_SPARE_RECEIVES = 10
"""`maxReceiveCount` of a FIFO queue must be at least all attempts plus this number."""

_DEFAULT_ATTEMPTS = 24
"""Attempts of the default ladder, (5 + 1) × (3 + 1)."""


def batch_notes(mapping: EventSourceMapping) -> Iterator[str]:
    """Yield what to change about the mapping."""
    if mapping.batch_size > 1:
        yield (
            f"{mapping.name} has a BatchSize of {mapping.batch_size}, and what is held back in a batch of a FIFO queue uses up deliveries;"
            " write BatchSize: 1"
        )


def receive_notes(queue: Queue, redrive: Redrive) -> Iterator[str]:
    """Yield what to change about the number of receives: each attempt of each round is one."""
    attempts = redrive.max_receive_count - _SPARE_RECEIVES
    if attempts < _DEFAULT_ATTEMPTS:
        yield (
            f"{queue.name} has a maxReceiveCount of {redrive.max_receive_count}, which has room for {max(attempts, 0)} of the"
            f" {_DEFAULT_ATTEMPTS} attempts of the default ladder, and SQS dead-letters the message without a reason; write"
            f" (immediate retries + 1) × (delayed retries + 1) + {_SPARE_RECEIVES} or more,"
            f" {_DEFAULT_ATTEMPTS + _SPARE_RECEIVES} for the default ladder"
        )
