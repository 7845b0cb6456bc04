"""Rate limiting where something is out of the common: hopeless messages, asked-for delays, messages handed back, stores that break."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from builders import NOW, Boom, Clock, delivery, environment, platform, recoverability, seconds
from flow.invocations import Handler, attempt
from rate_limit.rate_limited import Instance, Notice, Store, delay_before
from recoverable import Failed, MessageDeserializationError, RateLimit, RetryAfter
from recoverable._flow.invocation import Invocation
from recoverable._ladder.settlement import Forward
from recoverable._rate_limit.limiter import Limiter
from recoverable._rate_limit.state import CLOSED, Open, Snapshot
from recoverable._rate_limit.store import Breaker, MemoryCircuit
from recoverable.headers import HELD_SINCE
from recoverable.hosting import Deadline

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit

DOWN = Boom("down")
A_MINUTE = seconds(60)


class Broken(Store):
    """A store whose answers raise what no store should."""

    def read(self) -> Snapshot:
        """Raise, while it is unavailable."""
        if self.unavailable:
            raise OSError("secret://user:password@host")
        return super().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Raise, while it is unavailable."""
        if self.unavailable:
            raise OSError("secret://user:password@host")
        return super().compare_and_set(seen, circuit, switch)


def waits(error: BaseException, **failed: Any) -> timedelta | None:
    """Return how long a message waits whose failure with this exception limits the rate; None where its action is the ladder's.

    Args:
        error: what its handler raised.
        failed: as `Failed` takes it.
    """
    through = Limiter(Breaker(RateLimit(1), lambda *_: None), Clock())
    settings = recoverability().replace(failed=Failed(None, **failed))
    within = Invocation(settings, platform().replace(longest_delay=None), environment(), Deadline(), gates=(through,))
    settlement = attempt(Handler(error), delivery(id="second"), within)
    is_deferral = isinstance(settlement, Forward) and settlement.changes.get(HELD_SINCE) is not None
    return settlement.delay if isinstance(settlement, Forward) and is_deferral else None


@pytest.mark.parametrize("error", [MessageDeserializationError("no JSON"), LookupError("unknown")], ids=repr)
def test_what_no_waiting_mends_goes_on_at_once_though_the_rate_is_limited(error: Exception) -> None:
    assert waits(error, unrecoverable=[LookupError]) is None


def test_a_rule_that_raises_lets_its_message_wait() -> None:
    def rule(error: BaseException) -> bool:
        raise ZeroDivisionError

    assert isinstance(waits(DOWN, unrecoverable=[rule]), timedelta)


def test_a_handler_that_asks_for_a_longer_wait_gets_it() -> None:
    assert waits(RetryAfter(seconds(3_600))) == seconds(3_600)


def test_a_handler_that_asks_for_a_shorter_wait_waits_with_the_others() -> None:
    assert waits(RetryAfter(seconds(0))) == waits(DOWN)


def test_a_probe_that_is_handed_back_lets_another_be_it() -> None:
    clock = Clock()
    instance = Instance(RateLimit(1, A_MINUTE), clock)
    instance.fail()
    clock.advance(A_MINUTE)
    first, handed_back = instance.limiter(), delivery(id="first")
    claimed = delay_before(first, handed_back)
    meanwhile = delay_before(instance.limiter(), delivery(id="second"))

    first.release(handed_back)

    assert claimed is None
    assert isinstance(meanwhile, timedelta)
    assert delay_before(instance.limiter(), delivery(id="third")) is None


def test_what_was_no_probe_gives_up_nothing() -> None:
    clock = Clock()
    instance = Instance(RateLimit(1, A_MINUTE), clock)
    instance.fail()
    clock.advance(A_MINUTE)
    probing = instance.limiter()
    delay_before(probing, delivery(id="probe"))

    probing.release(delivery(id="other"))

    assert isinstance(delay_before(instance.limiter(), delivery(id="third")), timedelta)


def test_a_store_that_raises_what_no_store_should_costs_no_message_its_attempt() -> None:
    store = Broken()
    instance = Instance(RateLimit(1, store=store), Clock())
    store.unavailable = True

    waits = instance.fail(2)

    assert isinstance(instance.breaker.snapshot.circuit, Open)
    assert [isinstance(wait, timedelta) for wait in waits] == [True, True]
    assert (
        Notice(
            "warning",
            "Calling the circuit's store failed (OSError). This instance limits its rate by its own attempts, and calls the store again "
            "after 0:00:10. Check RateLimit(store).",
        )
        in instance.notices
    )


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), asyncio.CancelledError()], ids=repr)
def test_a_callback_that_raises_what_nobody_expects_costs_no_message_its_settlement(error: BaseException) -> None:
    def callback() -> None:
        raise error

    instance = Instance(RateLimit(1, on_started=callback), Clock())
    [wait] = instance.fail()

    assert isinstance(wait, timedelta)
    assert instance.notices[-1].text.startswith(
        f"RateLimit(on_started) failed ({type(error).__name__}). The messages are settled"
    )


def test_a_callback_during_which_somebody_stops_the_process_stops_it() -> None:
    def callback() -> None:
        raise KeyboardInterrupt

    instance = Instance(RateLimit(1, on_started=callback), Clock())

    with pytest.raises(KeyboardInterrupt):
        instance.fail()


def test_an_end_that_a_clock_behind_sees_before_its_start_took_no_time() -> None:
    store, clock, behind = MemoryCircuit(), Clock(), Clock()
    one, other = (Instance(RateLimit(1, store=store), each) for each in (clock, behind))
    clock.advance(seconds(20))
    one.fail()
    other.attempt(of=delivery(deliveries=2))
    behind.advance(seconds(-9))
    other.limiter().after(delivery(), DOWN)
    other.breaker.succeeded(behind.now)

    assert other.notices[-1].text.startswith("The circuit breaker is now disarmed, 0:00:00 after it was armed")


def test_of_threads_that_change_a_memory_circuit_each_version_has_one_winner() -> None:
    store, won = MemoryCircuit(), list[object]()
    circuits = (CLOSED, Open(NOW, NOW))

    def change() -> None:
        for number in range(2_000):
            if made := store.compare_and_set(store.read(), circuits[number % 2]):
                won.append(made.version)

    threads = [threading.Thread(target=change) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(won, key=str) == sorted(range(1, len(won) + 1), key=str)
    assert store.read().version == len(won)
