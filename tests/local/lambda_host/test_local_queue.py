"""Test the depth of a queue, for a caller that waits until it is empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from recoverable_local.lambda_host.local_queue import Depth, LocalQueue
from recoverable_local.lambda_host.services.sqs import Sqs


@dataclass
class Answering:
    """A broker that says these depths, one at a time, then that the queue is empty.

    Args:
        depths: Visible, in flight and delayed messages.
    """

    depths: list[tuple[int, int, int]] = field(default_factory=list)

    def attributes(self, _url: str, *names: str) -> dict[str, str]:
        """Return what `Sqs.attributes` returns."""
        said = self.depths.pop(0) if self.depths else (0, 0, 0)
        return {name: str(number) for name, number in zip(names, said, strict=True)}


def queue(*depths: tuple[int, int, int]) -> LocalQueue:
    """Create a queue whose broker reports these depths."""
    return LocalQueue("orders", "url", "arn", cast("Sqs", Answering([*depths])))


def test_a_message_that_the_broker_overlooks_while_its_delay_ends_is_counted() -> None:
    assert queue((0, 0, 0), (1, 0, 0)).depth() == Depth(visible=1, in_flight=0, delayed=0)


def test_an_empty_queue_is_empty() -> None:
    assert queue().depth() == Depth(visible=0, in_flight=0, delayed=0)
