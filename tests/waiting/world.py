"""Provide a shop in virtual time whose messages wait in a store, and whose dispatcher runs each minute."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from builders import seconds
from recoverable.timeouts import CriticalError, Dispatcher, Report, Store, Timeouts
from recoverable_local.testing import SqsWorld

MINUTE = seconds(60)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TIME_OF_A_RUN = 50.0
"""Seconds that a run may ask a store again and again."""


class Shop:
    """A shop with its virtual world, its timeouts and its dispatcher.

    Args:
        store: where they wait.
        queues: the queues that there are.
        receiving: whether messages are received, or stay where they are.
        settings: the dispatcher's.
    """

    def __init__(
        self, store: Store, *, queues: tuple[str, ...] = ("orders",), receiving: bool = True, **settings: Any
    ) -> None:
        self.world = SqsWorld(create_missing=False)
        self.store = store
        for queue in queues:
            self.world.create_queue(queue, retention=14 * DAY)
        self.timeouts = Timeouts(store, endpoint="shop", client=self.world.client, clock=self.now)
        self.dispatcher = self.new_dispatcher(**settings)
        self.arrived: dict[str, list[datetime]] = defaultdict(list)
        self.reports: list[Report] = []
        self.critical: list[datetime] = []
        self._left = 0.0
        if receiving:
            for queue in queues:
                self.world.serve(queue, self._receive)

    def now(self) -> datetime:
        """Return the time."""
        return self.world.now

    def new_dispatcher(self, **settings: Any) -> Dispatcher:
        """Return one more dispatcher. Its waiting uses up the time of its own run only."""
        given = {"client": self.world.client, "clock": self.now, "sleep": self._wait}
        return Dispatcher(self.store, **{**given, **settings})

    def run_each_minute(self, time: timedelta) -> None:
        """Let this time pass, with a run of the dispatcher now and each minute."""
        end = self.now() + time

        def tick() -> None:
            self.dispatch()
            if self.now() + MINUTE <= end:
                self.world.at(MINUTE, tick)

        self.world.at(0, tick)
        self.world.run(for_=time)

    def dispatch(self) -> Report | None:
        """Run the dispatcher now, and return its report; None when it ends with a critical error."""
        self._left = TIME_OF_A_RUN
        try:
            report = self.dispatcher.run(lambda: self._left)
        except CriticalError:
            self.critical.append(self.now())
            return None
        self.reports.append(report)
        return report

    def bodies(self, queue: str) -> list[str]:
        """Return the bodies in a queue, in flight or not, that nobody has received and deleted."""
        return [message.body for message in self.world.queue(queue)]

    def _wait(self, duration: float) -> None:
        self._left -= duration

    def _receive(self, event: Any, _context: object) -> dict[str, list[object]]:
        for record in event["Records"]:
            self.arrived[id_in(record)].append(self.now())
        return {"batchItemFailures": []}


def id_in(record: Any) -> str:
    """Return the id in a message's headers."""
    headers = record["messageAttributes"]["NServiceBus.AmazonSQS.Headers"]["stringValue"]
    return str(json.loads(headers)["NServiceBus.MessageId"])


Meddle = Callable[[str], object]


class Meddled:
    """An object whose calls a test can observe and make fail.

    Args:
        real: whose calls they are.
        before: told the name of each call before it is made; what it raises is what the call comes to.
        after: told afterwards.
    """

    def __init__(self, real: object, *, before: Meddle = str, after: Meddle = str) -> None:
        self._real, self._before, self._after = real, before, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            self._before(name)
            answer = found(*given, **named)
            self._after(name)
            return answer

        return call
