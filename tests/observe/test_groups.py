"""What a task of a handler's `asyncio.TaskGroup` raises climbs the ladder on both clouds as it would without the group, and is named so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

import pytest

from builders import ERROR_QUEUE, Boom
from observe.clouds import World, climb, on_both_clouds, settings
from recoverable import Failed, Message, RateLimit, Recoverability, RetryAfter
from recoverable.extensions import Observe
from recoverable.hosting import Facts
from recoverable_local.testing import ServiceBusWorld, SqsWorld

LADDER = Recoverability(failed=Failed(ERROR_QUEUE, unrecoverable=(Boom,)))
DECLINED = f"{Boom.__module__}.{Boom.__qualname__}"


class InTask:
    """A coroutine handler in one of whose tasks an exception is raised, the first time or each time.

    Args:
        errors: what its runs raise, one after the other.
    """

    def __init__(self, *errors: Exception) -> None:
        self.runs, self._errors = 0, list(errors)

    async def __call__(self, message: Message) -> None:
        """Count the run, and fail in a task if an error is left."""
        self.runs += 1
        if self._errors:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fail(self._errors.pop(0)))


async def fail(error: Exception) -> NoReturn:
    """Raise."""
    raise error


@on_both_clouds
def test_an_unrecoverable_failure_in_a_task_is_the_only_attempt(
    world: Callable[[], World], caplog: pytest.LogCaptureFixture
) -> None:
    here, handler, facts = world(), InTask(*[Boom("card declined") for _ in range(24)]), list[Facts]()

    climb(
        here, handler, {"recoverability": LADDER, "extensions": (Observe(on_error=lambda each, _: facts.append(each)),)}
    )

    [failed] = here.queue(ERROR_QUEUE)
    assert (handler.runs, failed.exception_type) == (1, DECLINED)
    assert [each.exception_type for each in facts] == [DECLINED]
    assert [vars(record)["exception_type"] for record in caplog.records if record.exc_info] == [DECLINED]


@on_both_clouds
def test_a_task_that_asks_to_wait_is_waited_for(world: Callable[[], World]) -> None:
    here, handler = world(), InTask(RetryAfter(timedelta(minutes=5)))
    began = here.now

    climb(here, handler, LADDER)

    assert (handler.runs, here.now - began) == (2, timedelta(minutes=5))


@on_both_clouds
@pytest.mark.parametrize(("error", "counts"), [(KeyError("no"), False), (OSError("away"), True)], ids=["none", "one"])
def test_a_failure_in_a_task_limits_the_rate_only_if_it_counts(
    world: Callable[[], World], error: Exception, *, counts: bool
) -> None:
    started: list[bool] = []
    limit = RateLimit(
        1, counts=lambda raised: not isinstance(raised, KeyError), on_started=lambda: started.append(True)
    )

    climb(world(), InTask(error), settings(rate_limit=limit))

    assert bool(started) == counts


def in_virtual_time(world: World) -> Callable[[Message], None]:
    """Return a plain handler in one of whose tasks all of its time passes, and more."""

    async def child() -> None:
        world.spend(1_000)

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(child())

    return lambda _message: asyncio.run(work())


LIMITED = {"handler_timeout": timedelta(seconds=5)}


@pytest.mark.parametrize(("world", "more"), [(SqsWorld, {}), (ServiceBusWorld, LIMITED)], ids=["SQS", "Service Bus"])
def test_a_plain_handler_that_is_stopped_in_a_task_has_timed_out(
    world: Callable[[], World], more: dict[str, timedelta]
) -> None:
    here = world()

    climb(here, in_virtual_time(here), {**settings(immediate=0, delayed=0), **more})

    [failed] = here.queue(ERROR_QUEUE)
    assert failed.exception_type == "recoverable.HandlerTimeout"
