"""Test delayed retries that are too long for SQS: they are stored, dispatched, and go on; in virtual time."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import Dispatcher, StoreUnavailable, Timeouts, TooLarge
from recoverable_local.testing import SqsWorld
from recoverable_local.timeouts import SqliteStore

AN_HOUR = timedelta(hours=1)
SETTINGS = Recoverability(Immediate(0), Delayed(2, AN_HOUR))


class Bank:
    """A handler that fails twice, and records when it was called.

    Args:
        world: whose time it lives in.
    """

    def __init__(self, world: SqsWorld) -> None:
        self._world, self.asked = world, list[datetime]()

    def __call__(self, message: Message) -> None:
        """Record the time, and fail at first."""
        self.asked.append(self._world.now)
        if len(self.asked) < 3:
            raise ConnectionError("the bank is closed")


class Outage(SqliteStore):
    """A store that takes nothing until it is back."""

    away = True

    def put(self, *timeout: object, **when: object) -> str:
        """Store the timeout, or raise while the store is away."""
        if self.away:
            raise StoreUnavailable("it is away")
        return super().put(*timeout, **when)  # type: ignore[arg-type]  # passed on as it came


def served(world: SqsWorld, store: SqliteStore) -> Bank:
    """Return the bank, behind an endpoint that stores long delays, after one message was sent."""
    bank = Bank(world)
    timeouts = Timeouts(store, clock=lambda: world.now)
    world.create_queue("orders", dead_letter_queue="error")
    world.serve("orders", SqsEndpoint(bank, SETTINGS, timeouts=timeouts), recursive_loop="Allow")
    world.send("orders", "a card")
    return bank


def minutes(world: SqsWorld, store: SqliteStore, count: int) -> None:
    """Let so many minutes pass, with a run of the dispatcher at the end of each."""
    dispatcher = Dispatcher(store, client=world.client, clock=lambda: world.now)
    for _ in range(count):
        world.run(for_=timedelta(minutes=1))
        dispatcher({}, None)


def test_each_round_starts_when_its_delay_is_over(sqs_world: SqsWorld) -> None:
    store = SqliteStore(":memory:")
    bank = served(sqs_world, store)

    minutes(sqs_world, store, 200)

    first, second, third = bank.asked
    assert timedelta(0) <= second - first - AN_HOUR <= timedelta(seconds=2)
    assert timedelta(0) <= third - second - 2 * AN_HOUR <= timedelta(seconds=2)
    assert (sqs_world.queue("orders"), sqs_world.queue("error")) == ([], [])


@pytest.mark.parametrize("early", [timedelta(seconds=1.2), timedelta(minutes=5)], ids=str)
def test_what_comes_early_waits_in_the_queue_for_what_is_left(sqs_world: SqsWorld, early: timedelta) -> None:
    store = SqliteStore(":memory:")
    bank = served(sqs_world, store)
    sqs_world.run(for_=AN_HOUR - early)
    Dispatcher(store, client=sqs_world.client, clock=lambda: sqs_world.now + AN_HOUR)({}, None)
    sqs_world.run(for_=AN_HOUR)

    first, second, *_ = bank.asked
    assert timedelta(0) <= second - first - AN_HOUR <= timedelta(seconds=2)


def test_what_waits_in_the_store_is_no_more_in_the_queue(sqs_world: SqsWorld) -> None:
    store = SqliteStore(":memory:")
    served(sqs_world, store)

    sqs_world.run(for_=timedelta(minutes=5))

    assert sqs_world.queue("orders") == []


def test_what_cannot_be_stored_stays_and_comes_back(sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture) -> None:
    store = Outage(":memory:")
    bank = served(sqs_world, store)
    sqs_world.run(for_=timedelta(minutes=5))
    tried = len(bank.asked)

    store.away = False
    minutes(sqs_world, store, 250)

    assert tried >= 2
    assert len(sqs_world.queue("orders")) + len(sqs_world.queue("error")) == 0
    assert "from 'orders' failed (StoreUnavailable). The message stays on the queue" in caplog.text


def test_what_cannot_be_stored_hops_at_its_last_receive(sqs_world: SqsWorld) -> None:
    def fail(_: Message) -> None:
        raise ConnectionError("the bank is closed")

    timeouts = Timeouts(Outage(":memory:"), clock=lambda: sqs_world.now)
    sqs_world.serve("orders", SqsEndpoint(fail, SETTINGS, timeouts=timeouts), recursive_loop="Allow")
    sqs_world.send("orders", "a card")
    sqs_world.run()

    assert [seen.exception_type for seen in sqs_world.queue("error")] == ["ConnectionError"]


def test_what_no_store_can_take_hops(sqs_world: SqsWorld) -> None:
    class Small(SqliteStore):
        def put(self, *timeout: object, **when: object) -> str:
            raise TooLarge("a message of 300 KB; the store takes 1 KB")

    store = Small(":memory:")
    bank = served(sqs_world, store)

    sqs_world.run()

    first, second, third = bank.asked
    assert AN_HOUR <= second - first <= AN_HOUR + timedelta(seconds=5)
    assert 2 * AN_HOUR <= third - second <= 2 * AN_HOUR + timedelta(seconds=5)


def test_a_delay_that_sqs_can_do_touches_no_store(sqs_world: SqsWorld) -> None:
    bank = Bank(sqs_world)
    settings = Recoverability(Immediate(0), Delayed(2, timedelta(minutes=5)))
    timeouts = Timeouts(Outage(":memory:"), clock=lambda: sqs_world.now)
    sqs_world.serve("orders", SqsEndpoint(bank, settings, timeouts=timeouts), recursive_loop="Allow")
    sqs_world.send("orders", "a card")

    sqs_world.run()

    assert len(bank.asked) == 3


def test_what_is_no_timeouts_is_refused() -> None:
    with pytest.raises(TypeError, match=r"SqsEndpoint\(timeouts\) is 'table'; write Timeouts\(store\), or None"):
        SqsEndpoint(lambda message: None, timeouts="table")  # type: ignore[arg-type]  # as it may be written


def test_an_end_too_short_for_a_store_that_does_not_answer_is_refused() -> None:
    timeouts, handle = Timeouts(SqliteStore()), lambda message: None

    with pytest.raises(ValueError, match=r"settle_within\) is 0:00:01; with timeouts write at least 0:00:02"):
        SqsEndpoint(handle, timeouts=timeouts, settle_within=timedelta(seconds=1))
    SqsEndpoint(handle, timeouts=timeouts, settle_within=timedelta(seconds=2))
    SqsEndpoint(handle, settle_within=timedelta(seconds=1))
