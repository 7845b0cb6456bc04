"""Any interleaving of instances that share a circuit, with deaths and a store that comes and goes: what must hold in all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from builders import Boom, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Instance, Store, delay_after, delay_before
from recoverable._rate_limit.state import LEASE, Closed, Open
from recoverable._rate_limit.store import LEAVE_ALONE_FOR

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._rate_limit.limiter import Limiter

pytestmark = pytest.mark.slow
WAIT = seconds(3)
INSTANCES = st.integers(0, 3)


@dataclass(frozen=True)
class Running:
    """An attempt that has started: on which instance, in which invocation, of which message."""

    instance: Instance
    limiter: Limiter
    delivery: Delivery


class SharedCircuit(RuleBasedStateMachine):
    """Four instances, each with any number of invocations at once."""

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.store, self.calls = Clock(), Store(), Calls()
        limit = self.calls.limit(2, wait=WAIT, store=self.store)
        self.instances = [Instance(limit, self.clock) for _ in range(4)]
        self.running = list[Running]()
        self.probes = list[tuple[datetime, datetime]]()
        self.number = 0
        self.was_away = self.was_lost = False

    @initialize(outage=st.booleans())
    def began(self, *, outage: bool) -> None:
        """Begin half of the runs in an outage that each instance knows of."""
        if outage:
            for instance in self.instances:
                instance.fail(2)

    def receive(self, of: int) -> None:
        """Give a message to an instance, and begin its attempt unless it is held."""
        instance, self.number = self.instances[of], self.number + 1
        limiter, message = instance.limiter(), delivery(id=f"m-{self.number}")
        if (wait := delay_before(limiter, message)) is not None:
            assert timedelta(0) < wait <= timedelta(minutes=15)
            return
        self.running.append(Running(instance, limiter, message))
        circuit = instance.breaker.snapshot.circuit
        if isinstance(circuit, Open) and not self.was_away:
            self.probes.append((circuit.since, self.clock.now))

    @rule(of=INSTANCES)
    def received(self, of: int) -> None:
        self.receive(of)

    @rule(of=INSTANCES, other=INSTANCES)
    def received_while_another_receives(self, of: int, other: int) -> None:
        self.store.meanwhile = lambda: self.receive(other)
        self.receive(of)
        self.store.meanwhile = None

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def succeeded(self, data: st.DataObject) -> None:
        ended = self.end(data)
        ended.limiter.after(delivery(), None)
        assert ended.instance.breaker.snapshot.circuit == Closed()
        assert not ended.instance.breaker.alert or self.was_away

    @precondition(lambda self: self.running)
    @rule(data=st.data(), other=INSTANCES)
    def failed(self, data: st.DataObject, other: int) -> None:
        ended = self.end(data)
        self.store.meanwhile = lambda: self.receive(other)
        wait = delay_after(ended.limiter, ended.delivery, Boom("down"))
        self.store.meanwhile = None
        assert wait is None or timedelta(0) < wait <= timedelta(minutes=15)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def died(self, data: st.DataObject) -> None:
        self.end(data)

    def end(self, data: st.DataObject) -> Running:
        """End an attempt."""
        return self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))

    @rule(by=st.sampled_from([0.5, 1, 2.5, 3, 10, 31]))
    def time_passed(self, by: float) -> None:
        self.clock.advance(seconds(by))

    @rule()
    def store_went_or_came(self) -> None:
        self.store.unavailable = not self.store.unavailable
        self.was_away = True

    @rule()
    def next_answer_is_lost(self) -> None:
        self.store.answer_lost = self.was_lost = self.was_away = True

    @invariant()
    def probes_are_a_wait_apart(self) -> None:
        for since in {since for since, _ in self.probes}:
            starts = sorted(start for limited, start in self.probes if limited == since)
            assert all(late - early >= WAIT for early, late in pairwise(starts))

    @invariant()
    def callbacks_take_turns(self) -> None:
        if not self.was_lost:
            assert self.calls == (["started", "ended"] * len(self.calls))[: len(self.calls)]

    @invariant()
    def no_switch_is_called_back_twice(self) -> None:
        assert Counter(self.calls) <= self.store.switches

    @invariant()
    def callbacks_tell_what_the_store_holds(self) -> None:
        if not self.was_away:
            limited = isinstance(self.store._snapshot.circuit, Open)
            assert limited == (self.calls[-1:] == ["started"])

    def teardown(self) -> None:
        """Check that nothing is limited for ever: once all is well, each instance attempts, and the first success frees all of them."""
        self.store.unavailable = self.store.answer_lost = False
        self.clock.advance(max(LEASE, WAIT, LEAVE_ALONE_FOR))
        for instance in self.instances:
            assert instance.attempt() == "attempted"
            assert (instance.breaker.snapshot.circuit, instance.breaker.alert) == (Closed(), False)
        assert self.store.read().circuit == Closed()


SharedCircuit.TestCase.settings = settings(max_examples=200, stateful_step_count=40)
TestSharedCircuit = SharedCircuit.TestCase
