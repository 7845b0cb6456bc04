"""Copies that a queue refuses: neighbours do not multiply, what is given up waits and is sent on, and what may help is repeated."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch
from azure.servicebus.exceptions import ServiceBusError

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient, RecordingSender, messages_of, properties
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, seconds
from recoverable import (
    Action,
    Delayed,
    ErrorContext,
    Failed,
    Immediate,
    Message,
    MoveToError,
    Policy,
    Recoverability,
    default_policy,
)
from recoverable._ladder.faults import EXCEPTION_TYPE, FAILED_QUEUE
from recoverable.azure import ServiceBusEndpoint
from recoverable.extensions import Observe
from recoverable.headers import REFUSED_SENDS
from recoverable_local.testing import Refused, ServiceBusWorld, Throttled

QUEUE, ERROR = "orders", "error"
KIB = 1024
HOUR = timedelta(hours=1)


class Orders:
    """A handler that counts its runs by the first letter of the body, and fails for all but C."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()

    def __call__(self, message: Message) -> None:
        self.runs[message.text[:1]] += 1
        if message.text != "C":
            raise ValueError(message.text[:1])


def world_with(*queues: str) -> ServiceBusWorld:
    """Return a world with the queue and these others, and no more."""
    world = ServiceBusWorld(create_missing=False, most_invocations=3_000)
    for queue in queues:
        world.create_queue(queue)
    world.create_queue(QUEUE, dead_letter_queue=ERROR if ERROR in queues else None)
    return world


def serve(
    world: ServiceBusWorld,
    immediate: int = 0,
    delayed: int = 0,
    policy: Policy | None = None,
    observe: Observe | None = None,
    **parts: Any,
) -> Orders:
    """Serve the queue."""
    orders = Orders()
    settings = Recoverability(Immediate(immediate), Delayed(delayed), Failed(ERROR), policy=policy)
    world.serve(
        QUEUE,
        ServiceBusEndpoint(
            orders,
            settings,
            queue=QUEUE,
            connection="ServiceBus",
            name="orders",
            lock=timedelta(minutes=1),
            extensions=() if observe is None else (observe,),
            **parts,
        ),
    )
    return orders


def moves_b_to_a_missing_queue(settings: Recoverability, context: ErrorContext) -> Action:
    """Name a queue that does not exist for B."""
    return MoveToError("missing") if context.message.text == "B" else default_policy(settings, context)


def letters(world: ServiceBusWorld, queue: str) -> Counter[str]:
    """Return how often each message is in a queue."""
    return Counter(seen.body[:1] for seen in world.queue(queue))


def test_a_policy_that_names_a_missing_queue_for_one_message_multiplies_none_of_its_batch() -> None:
    world = world_with(ERROR)
    orders = serve(world, batch=True, policy=moves_b_to_a_missing_queue)

    for body in "ABC":
        world.send(QUEUE, body)
    world.run(for_=HOUR)

    assert (orders.runs, letters(world, ERROR)) == ({"A": 1, "B": 1, "C": 1}, {"A": 1, "B": 1})
    assert letters(world, QUEUE) == {}


def test_properties_that_leave_no_room_for_a_retry_multiply_no_neighbour() -> None:
    world = world_with(ERROR)
    orders = serve(world, 5, 3, batch=True)

    world.send(QUEUE, "A" * (255 * KIB - 120))
    world.send(QUEUE, "B", attributes={"a": "x" * 32_000, "b": "x" * 32_000, "c": "x" * 1_400})
    world.send(QUEUE, "C")
    world.run(for_=HOUR)

    assert (orders.runs, letters(world, ERROR)) == ({"A": 24, "B": 1, "C": 1}, {"A": 1, "B": 1})


def test_a_message_whose_retry_can_never_be_sent_is_redelivered_only_after_all_pauses() -> None:
    """The host redelivers at once, and a send that breaks a limit is not repeated: without the pauses that is a hot loop."""
    world = world_with(ERROR)
    serve(world, 0, 1, resend_for=seconds(10))

    world.send(QUEUE, "B", attributes={"a": "x" * 32_000, "b": "x" * 32_000, "c": "x" * 1_400})
    world.run(for_=timedelta(minutes=1))

    received = [event.at for event in world.timeline() if event.what == "received"]
    assert {later - earlier for earlier, later in pairwise(received)} == {seconds(0.25 + 0.5 + 1 + 2 + 4)}


@pytest.mark.parametrize("batch", [False, True], ids=["one message", "batch"])
def test_a_retry_that_its_own_queue_refuses_for_good_moves_to_the_error_queue_with_its_reason(*, batch: bool) -> None:
    world = world_with(ERROR)
    world.fail("send_messages", Refused("amqp:unauthorized-access"), queue=QUEUE)
    orders = serve(world, 0, 3, batch=batch)

    for body in "AC":
        world.send(QUEUE, body)
    world.run(for_=HOUR)

    [arrived] = world.queue(ERROR)
    runs = 1 if batch else 3  # by itself it is redelivered first, as often as a message may come without an outcome
    assert (orders.runs, arrived.exception_type, world.queue(QUEUE)) == ({"A": runs, "C": 1}, "ValueError", [])


def test_it_is_reported_as_given_up() -> None:
    world, reported = world_with(ERROR), list[str]()
    world.fail("send_messages", Refused("amqp:unauthorized-access"), queue=QUEUE)
    observe = Observe(
        on_delayed_retry=lambda facts, _: reported.append("delayed retry"),
        on_error=lambda facts, _: reported.append(f"moved to {facts.error_queue}"),
    )
    serve(world, 0, 3, observe=observe, batch=True)

    world.send(QUEUE, "A")
    world.run(for_=HOUR)

    assert reported == [f"moved to {ERROR}"]


def test_a_retry_that_its_own_queue_does_not_take_for_now_is_not_given_up() -> None:
    world = world_with(ERROR)
    world.fail("send_messages", Throttled(), queue=QUEUE, during=timedelta(minutes=2))
    orders = serve(world, 0, 3, batch=True)

    world.send(QUEUE, "A")
    world.run(for_=timedelta(minutes=2))

    assert (orders.runs["A"] > 1, world.queue(ERROR)) == (True, [])


@pytest.mark.parametrize("batch", [False, True], ids=["one message", "batch"])
def test_while_the_error_queue_is_missing_a_message_waits_in_its_own_queue_and_its_handler_does_not_run(
    *, batch: bool
) -> None:
    world = world_with()
    orders = serve(world, batch=batch)

    world.send(QUEUE, "A")
    world.run(for_=HOUR)
    waiting = [(seen.headers[REFUSED_SENDS], seen.headers[EXCEPTION_TYPE]) for seen in world.queue(QUEUE)]
    world.create_queue(ERROR)
    world.run()

    [arrived] = world.queue(ERROR)
    assert waiting == [("12", "ValueError")]
    assert (orders.runs, arrived.exception_type, REFUSED_SENDS in arrived.headers) == ({"A": 1}, "ValueError", False)


@pytest.mark.parametrize(("refused", "goes_to"), [(9, QUEUE), (10, ERROR_QUEUE)])
def test_after_ten_answers_that_nobody_knows_a_copy_goes_to_the_error_queue_without_the_headers_that_say_why(
    refused: int, goes_to: str
) -> None:
    client = RefusingFaults()
    waiting = {REFUSED_SENDS: str(refused), FAILED_QUEUE: QUEUE, EXCEPTION_TYPE: "ValueError"}

    ended(endpoint(client=client), trigger_message(b"A", properties=waiting))

    assert [queue for queue, _ in client.sent] == [goes_to]


class RefusingFaults(RecordingClient):
    """A namespace whose error queue gives an unknown answer to each message that says why it failed."""

    def get_queue_sender(self, queue_name: str, *, keep_alive: float | None = None) -> RecordingSender:  # as the SDK
        return RefusingFaultsSender(self, queue_name)


class RefusingFaultsSender(RecordingSender):
    """The sender of one queue."""

    def _send(self, message: ServiceBusMessage | ServiceBusMessageBatch) -> None:
        if self.entity_name == ERROR_QUEUE and any(EXCEPTION_TYPE in properties(each) for each in messages_of(message)):
            raise ServiceBusError(message="please retry", condition="amqp:internal-error")
        super()._send(message)


def test_while_access_to_the_error_queue_is_denied_no_delivery_is_lost_and_no_round() -> None:
    world = world_with(ERROR)
    rule = world.fail("send_messages", Refused("amqp:unauthorized-access", "no role"), queue=ERROR)
    orders = serve(world, 1, 1)

    world.send(QUEUE, "A")
    world.run(for_=timedelta(minutes=2))
    rule.stop()
    world.run()

    assert (orders.runs, letters(world, ERROR)) == ({"A": 4}, {"A": 1})
    assert world.queue(ERROR)[0].exception_type == "ValueError"


@pytest.mark.parametrize("busy_for", [5, 50])
def test_a_busy_namespace_costs_no_delivery(busy_for: int) -> None:
    world = world_with(ERROR)
    world.fail("send_messages", Throttled(), during=seconds(busy_for))
    orders = serve(world)

    world.send(QUEUE, "A")
    world.run()

    assert (orders.runs, letters(world, ERROR)) == ({"A": 1}, {"A": 1})
    assert "abandoned" not in str(world.timeline())


@pytest.mark.parametrize("queues", [(ERROR,), (QUEUE, ERROR)], ids=["one that waits for nothing", "its own too"])
def test_a_denial_of_all_queues_is_waited_for_as_credentials_that_expired(queues: tuple[str, ...]) -> None:
    world = world_with(ERROR)
    for queue in queues:
        world.fail("send_messages", Refused("amqp:unauthorized-access"), during=seconds(5), queue=queue)
    orders = serve(world)

    world.send(QUEUE, "A")
    world.run()

    assert (orders.runs, letters(world, ERROR)) == ({"A": 1}, {"A": 1})
    assert "abandoned" not in str(world.timeline())


def test_when_the_namespace_is_busy_for_longer_the_message_comes_back() -> None:
    world = world_with(ERROR)
    world.fail("send_messages", Throttled(), during=seconds(100))
    orders = serve(world)

    world.send(QUEUE, "A")
    world.run()

    assert (orders.runs, letters(world, ERROR)) == ({"A": 2}, {"A": 1})


def test_the_patience_is_a_setting() -> None:
    world = world_with(ERROR)
    world.fail("send_messages", Throttled(), during=seconds(100))
    orders = serve(world, resend_for=seconds(200))

    world.send(QUEUE, "A")
    world.run()

    assert orders.runs == {"A": 1}


@pytest.mark.parametrize(
    ("of_the_policy", "setting"),
    [
        (None, "Failed(error_queue=...), or the setting RECOVERABLE_ERROR_QUEUE"),
        ("fraud", "the policy's MoveToError(error_queue=...)"),
    ],
)
def test_a_missing_queue_is_an_error_in_the_log_that_names_the_queue_and_the_setting(
    caplog: pytest.LogCaptureFixture, of_the_policy: str | None, setting: str
) -> None:
    world, queue = world_with(), of_the_policy or ERROR
    serve(world, policy=None if of_the_policy is None else lambda *_: MoveToError(of_the_policy))

    world.send(QUEUE, "A")
    world.run(for_=timedelta(seconds=1))

    [(level, text)] = [(each.levelno, each.message) for each in caplog.records if each.name == "recoverable.settlement"]
    assert (level, text) == (
        logging.ERROR,
        f"Service Bus send to '{queue}' failed for 1 messages (MessagingEntityNotFoundError). Their copies wait in 'orders' for "
        f"2.5 s and are sent on then; no handler runs for them. Create the queue '{queue}', or correct its name. "
        f"The connection is 'ServiceBus'. Its name is in {setting}.",
    )


def test_a_sender_cannot_have_a_message_sent_to_another_queue_by_headers() -> None:
    world = world_with(ERROR, "payments")
    orders = serve(world)

    world.send(
        QUEUE, "A", attributes={REFUSED_SENDS: "1", "NServiceBus.FailedQ": "payments", "Recoverable.To": "payments"}
    )
    world.run()

    assert (orders.runs, letters(world, ERROR), letters(world, "payments")) == ({}, {"A": 1}, {})


def test_a_copy_that_waits_to_be_sent_on_does_not_expire() -> None:
    world = world_with()
    serve(world)

    world.send(QUEUE, "A", time_to_live=seconds(30))
    world.run(for_=HOUR)

    assert letters(world, QUEUE) == {"A": 1}


def test_on_error_names_the_queue_that_took_the_copy_and_not_the_one_that_refused_it() -> None:
    world, told = world_with(ERROR), list[tuple[str, str]]()
    failed = Recoverability(Immediate(0), Delayed(0), Failed(ERROR), policy=lambda *_: MoveToError("missing"))
    observing = Observe(on_error=lambda facts, message: told.append((message.text, facts.error_queue)))
    served = ServiceBusEndpoint(
        Orders(), failed, queue=QUEUE, connection="ServiceBus", name="orders", extensions=(observing,)
    )
    world.serve(QUEUE, served)

    world.send(QUEUE, "A")
    world.run()

    assert (told, letters(world, ERROR)) == ([("A", ERROR)], {"A": 1})
