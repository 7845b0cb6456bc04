"""Keep the queues of a broker by name."""

from __future__ import annotations

from random import Random
from re import fullmatch

from recoverable_local.testing.aws.broker.order import FifoOrder, StandardOrder
from recoverable_local.testing.aws.broker.queue import Queue
from recoverable_local.testing.aws.broker.queues import QUEUE_NAME, Settings
from recoverable_local.testing.aws.broker.refusals import no_such_queue


class Registry:
    """The queues of a broker, by name.

    Args:
        seed: what the order of standard queues is drawn from; None for the order of sends.
        create_missing: True if a queue is made when it is first named.
    """

    def __init__(self, seed: int | None, *, create_missing: bool) -> None:
        self.queues: dict[str, Queue] = {}
        self._chance = None if seed is None else Random(seed)  # noqa: S311  # no secret: it must be the same in each run
        self._create_missing = create_missing

    def create(self, settings: Settings) -> Queue:
        """Make a queue, or change the settings of an existing one; its messages stay.

        Raises:
            ValueError: SQS takes no queue of that name, or no dead-letter queue of the other kind.
        """
        if not fullmatch(QUEUE_NAME, settings.name):
            raise ValueError(
                f"{settings.name!r} is no queue's name; write 1 to 80 letters, digits, - and _, with .fifo at the end of a FIFO queue's"
            )
        if (target := settings.redrive) and target.to.endswith(".fifo") != settings.fifo:
            raise ValueError(
                f"the dead-letter queue of {settings.name!r} is {target.to!r}; SQS takes a FIFO queue for a FIFO queue, and a standard"
                " queue for a standard one"
            )
        if settings.name in self.queues:
            self.queues[settings.name].settings = settings
        else:
            order = FifoOrder() if settings.fifo else StandardOrder(self._chance)
            self.queues[settings.name] = Queue(settings, order)
        return self.queues[settings.name]

    def queue(self, name: str) -> Queue:
        """Return the queue of a name.

        Raises:
            Refusal: there is none, and none is to be made.
        """
        if name not in self.queues:
            if not self._create_missing:
                raise no_such_queue()
            self.create(Settings(name=name))
        return self.queues[name]
