"""Test the broker alone, with the test's clock: no network, no thread, no waiting."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from local.service_bus.bus import orders
from recoverable_local.service_bus import Queue
from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.messages import Message, Verb, Verdict
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.refusals import RefusedError

LOCK = 60.0  # seconds


class Receiver:
    """A receiver that takes messages while it has credit."""

    settled = False
    session_id: str | None = None

    def __init__(self, entity: Entity, *, credit: int = 1) -> None:
        self.credit = credit
        self.got: list[Message] = []
        entity.receivers.add(self)

    def ready(self) -> bool:
        return self.credit > 0

    def deliver(self, message: Message) -> None:
        self.credit -= 1
        self.got.append(message)

    def session_accepted(self, session_id: str, until: float) -> None:
        self.session_id = session_id

    def dismissed(self, reason: RefusedError) -> None:
        raise reason


class World:
    """A namespace whose time stands still until it is moved."""

    def __init__(self, *queues: Queue) -> None:
        self.now = 1_000_000.0
        self.namespace = Namespace(queues, [], clock=lambda: self.now)

    def move(self, seconds: float) -> None:
        self.now += seconds
        self.namespace.tick()

    def count(self, path: str) -> int:
        return len(list(self.namespace.find(path).store.from_number(0)))


def content() -> Content:
    return Content(properties=(e.string("1"),), body=e.described(0x75, e.binary(b"hello")))


def test_receivers_get_messages_in_turn() -> None:
    world = World(orders())
    entity = world.namespace.find("orders")
    first, second = Receiver(entity, credit=9), Receiver(entity, credit=9)

    for _ in range(4):
        entity.put(content())

    assert ([each.sequence_number for each in first.got], [each.sequence_number for each in second.got]) == (
        [1, 3],
        [2, 4],
    )


@pytest.mark.parametrize(("waited", "state"), [(LOCK - 0.001, "locked"), (LOCK, "free")])
def test_a_lock_ends_to_the_moment(waited: float, state: str) -> None:
    world = World(orders())
    entity = world.namespace.find("orders")
    receiver = Receiver(entity)
    entity.put(content())

    world.move(waited)

    assert ("locked" if receiver.got[0].lock else "free") == state


def test_nothing_remains_to_be_done_when_all_is_done() -> None:
    world = World(orders())
    entity = world.namespace.find("orders")
    receiver = Receiver(entity)
    entity.put(content())
    lock = receiver.got[0].lock
    assert lock is not None

    entity.settle(lock.token, Verdict(Verb.COMPLETE))
    world.move(LOCK)

    assert (world.namespace.agenda.next_due(), world.count("orders")) == (None, 0)


def test_a_message_id_of_more_than_128_characters_is_refused() -> None:
    entity = World(orders()).namespace.find("orders")

    with pytest.raises(RefusedError, match="has 129 characters; 128 are allowed"):
        entity.put(Content(properties=(e.string("x" * 129),)))


class NoMessageIsLost(RuleBasedStateMachine):
    """Whatever receivers do and whenever locks end, each message is completed, or it is in the queue or a dead letter."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(orders(max_delivery_count=3, forward_dead_lettered_messages_to="error"), Queue("error"))
        self.entity = self.world.namespace.find("orders")
        self.receiver = Receiver(self.entity, credit=0)
        self.sent = self.completed = 0
        self.tokens: list[Any] = []

    @rule()
    def send(self) -> None:
        self.entity.put(content())
        self.sent += 1

    @rule(credit=st.integers(1, 3))
    def receive(self, credit: int) -> None:
        self.receiver.credit, self.receiver.got = credit, []
        self.entity.receivers.dispatch()
        self.tokens += [message.lock.token for message in self.receiver.got if message.lock]

    @precondition(lambda self: self.tokens)
    @rule(verb=st.sampled_from(Verb), data=st.data())
    def settle(self, verb: Verb, data: st.DataObject) -> None:
        token = self.tokens.pop(data.draw(st.integers(0, len(self.tokens) - 1)))
        with suppress(RefusedError):  # the lock is lost
            self.entity.settle(token, Verdict(verb))
            self.completed += verb is Verb.COMPLETE

    @rule(seconds=st.sampled_from([1.0, LOCK / 2, LOCK]))
    def wait(self, seconds: float) -> None:
        self.world.move(seconds)

    @invariant()
    def every_message_is_somewhere(self) -> None:
        left = self.world.count("orders") + self.world.count("error")
        assert self.sent == self.completed + left
        assert self.world.count("orders/$DeadLetterQueue") == 0


TestNoMessageIsLost = NoMessageIsLost.TestCase
TestNoMessageIsLost.settings = settings(max_examples=60, stateful_step_count=30)
