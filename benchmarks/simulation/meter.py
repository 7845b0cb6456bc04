"""Counts what AWS would bill: the functions' calls, those of the event source mapping, and the invocations with their time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from math import ceil
from typing import Any

from recoverable.hosting import Environment, current_environment
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.engine.fault_plan import FaultPoint
from simulation.prices import chunks

CALL_TIME = 0.01
"""Seconds of the world's time that a function waits for one call to SQS."""

BATCH = 10
"""The most messages of one call."""

Handler = Callable[[dict[str, Any], Any], Any]


class Debt:
    """The time that an invocation has taken and not yet let pass."""

    seconds = 0.0


current_debt: ContextVar[Debt] = ContextVar("debt")


class Meter:
    """Stands between a world and its function.

    Attempts are let take their time before the next call and before the end, not one by one: nobody else sees when they were made.

    Args:
        world: where the function runs.
        calls_take_time: whether the client lets `CALL_TIME` pass; a function of coroutines does so itself.
    """

    def __init__(self, world: SqsWorld, *, calls_take_time: bool) -> None:
        self._world, self._calls_take_time = world, calls_take_time
        self.calls: Counter[str] = Counter()  # of the function
        self.requests = 0  # as SQS bills them, the mapping's too
        self.invocations = self.milliseconds = 0
        self.at_once = self.most_at_once = 0
        world.ask_at_each_point(self._settled)

    def client(self) -> Any:
        """Return the world's SQS client, with its calls counted."""
        return MeteredClient(self._world.client, self._called)

    def over(self, handler: Handler) -> Handler:
        """Wrap a handler so that its runs are counted; an endpoint in it gets the counting client."""

        @wraps(handler)
        def metered(event: dict[str, Any], context: Any) -> Any:
            self._received(event)
            began = self._world.now
            tokens = current_environment.set(self._with_metered_client()), current_debt.set(Debt())
            try:
                return handler(event, context)
            finally:
                self._pay()
                current_environment.reset(tokens[0])
                current_debt.reset(tokens[1])
                self.at_once -= 1
                self.milliseconds += ceil((self._world.now - began).total_seconds() * 1_000)

        return metered

    def take(self, seconds: float) -> None:
        """Let the invocation that is at work take so much time."""
        current_debt.get().seconds += seconds

    def _pay(self) -> None:
        debt = current_debt.get()
        owed, debt.seconds = debt.seconds, 0.0
        if owed:
            self._world.spend(owed)

    def _with_metered_client(self) -> Environment:
        world = current_environment.get()
        assert world is not None, "a world hands itself over before it invokes a function"
        return Environment(
            self.client(),
            world.clock,
            world.deadline,
            world.runner,
            world.wrap_handler,
            world.kept,
            sleep=world.sleep,
            call_within=world.call_within,
            seconds=world.seconds,
        )

    def _received(self, event: dict[str, Any]) -> None:
        self.requests += max(ceil(len(event["Records"]) / BATCH), chunks(json.dumps(event)))
        self.invocations += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)

    def _called(self, operation: str, request: dict[str, Any]) -> None:
        if self._calls_take_time:
            self.take(CALL_TIME)
            self._pay()
        self.calls[operation] += 1
        self.requests += chunks(json.dumps(request))

    def _settled(self, point: FaultPoint) -> None:
        if (point.when, point.what) == ("before", "settle"):
            self.requests += ceil(len(point.message_ids) / BATCH)


class MeteredClient:
    """An SQS client that reports each call before it makes it.

    Args:
        client: makes the calls.
        called: gets the operation and the request.
    """

    def __init__(self, client: Any, called: Callable[[str, dict[str, Any]], None]) -> None:
        self._client, self._called, self.meta = client, called, client.meta

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return partial(self._call, operation)

    def _call(self, operation: str, **request: Any) -> Any:
        self._called(operation, request)
        return getattr(self._client, operation)(**request)
