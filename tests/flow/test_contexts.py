"""What a coroutine handler sets in its context (`contextvars`): it is there in its own message's log lines, and for no other message."""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar, Token

import pytest

from builders import Boom, delivery, recoverability
from flow.invocations import attempts, invocation
from recoverable import Message
from recoverable._ladder.settlement import COMPLETE, Settlement

tenant: ContextVar[str] = ContextVar("tenant", default="nobody")

CONCURRENCY = pytest.mark.parametrize("concurrency", [1, 2, 10])
IDS = [f"m-{number}" for number in range(10)]


def settled(handler: object, concurrency: int) -> dict[str, Settlement]:
    """Return the settlements of ten messages, by their ids."""
    deliveries = [delivery(id=each) for each in IDS]
    found = attempts(handler, deliveries, invocation(recoverability(0, 0)), concurrency)  # type: ignore[arg-type]  # a handler
    return dict(zip(IDS, found, strict=True))


@CONCURRENCY
def test_each_message_sees_what_the_invocation_has_set_and_nothing_of_others(concurrency: int) -> None:
    seen: dict[str, tuple[str, str]] = {}

    async def handle(message: Message) -> None:
        before = tenant.get()
        tenant.set(message.id)
        await asyncio.sleep(0)
        seen[message.id] = (before, tenant.get())

    token = tenant.set("of the invocation")
    settled(handle, concurrency)
    after = tenant.get()
    tenant.reset(token)

    assert seen == {each: ("of the invocation", each) for each in IDS}
    assert after == "of the invocation"


class Bound(logging.Filter):
    """Notes the tenant of each line as it is logged, as structlog and Sentry do with what is bound."""

    def __init__(self) -> None:
        super().__init__()
        self.tenants: list[tuple[str, str]] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Note it."""
        self.tenants.append((vars(record)["message_id"], tenant.get()))
        return True


@CONCURRENCY
def test_the_line_about_a_failure_is_logged_where_its_handler_ran(concurrency: int) -> None:
    async def handle(message: Message) -> None:
        tenant.set(f"tenant of {message.id}")
        await asyncio.sleep(0)
        raise Boom

    bound, log = Bound(), logging.getLogger("recoverable.move_to_error")
    log.addFilter(bound)
    settled(handle, concurrency)
    log.removeFilter(bound)

    assert sorted(bound.tenants) == [(each, f"tenant of {each}") for each in IDS]


@CONCURRENCY
def test_a_token_of_another_message_fails_the_message_that_resets_it_alone(concurrency: int) -> None:
    tokens: list[Token[str]] = []

    async def handle(message: Message) -> None:
        if message.id == "m-0":
            tokens.append(tenant.set("north"))
        if message.id == "m-9":
            tenant.reset(tokens[0])

    found = settled(handle, concurrency)

    assert [each for each in IDS if found[each] is not COMPLETE] == ["m-9"]


@CONCURRENCY
def test_who_ends_the_process_is_settled_with_its_neighbours_before(concurrency: int) -> None:
    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        if message.id == "m-4":
            raise SystemExit(3)

    deliveries = [delivery(id=each) for each in IDS]
    running = invocation(recoverability(0, 0))
    attempts(handle, deliveries, running, concurrency)

    assert (str(running.interruption), len(running.settlements)) == ("3", 10)


@CONCURRENCY
def test_a_message_has_one_task(concurrency: int) -> None:
    tasks: list[asyncio.Task[object] | None] = []

    async def handle(message: Message) -> None:
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) <= concurrency + 1

    found = settled(handle, concurrency)

    assert (len(set(tasks)), set(found.values())) == (10, {COMPLETE})
