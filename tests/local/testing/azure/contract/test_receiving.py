"""Check that received messages are locked, settled, counted, and dead-lettered in the end."""

from __future__ import annotations

from datetime import timedelta

from azure.servicebus import NEXT_AVAILABLE_SESSION

from azure.sdk_versions import settlements_are_answered
from deadlines import DEADLINE
from local.testing.azure.contract.servers import MINUTE, Server, bodies


def test_a_locked_message_is_hidden_until_its_lock_ends_and_that_counts(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    [first] = server.next(receiver)
    hidden = server.nothing_comes(receiver)
    server.wait(MINUTE + timedelta(seconds=1))
    [second] = server.next(receiver)
    assert (hidden, first.delivery_count, second.delivery_count) == (True, 0, 1)


def test_a_completed_message_is_gone(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    receiver.complete_message(server.next(receiver)[0])
    server.wait(2 * MINUTE)
    assert server.nothing_comes(receiver)


def test_an_abandoned_message_comes_back_at_once_and_that_counts(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    counts = []
    for _ in range(3):
        [message] = server.next(receiver)
        counts.append(message.delivery_count)
        receiver.abandon_message(message)
    assert counts == [0, 1, 2]


def test_a_lock_can_be_renewed(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    [message] = server.next(receiver)
    server.wait(timedelta(seconds=50))
    receiver.renew_message_lock(message)
    server.wait(timedelta(seconds=50))
    assert server.nothing_comes(receiver)
    receiver.complete_message(message)


@settlements_are_answered
def test_a_lock_that_has_ended_completes_nothing(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    [message] = server.next(receiver)
    server.wait(2 * MINUTE)
    assert server.refusal(receiver.complete_message, message) == "MessageLockLostError"
    assert bodies(server.next(receiver)) == ["x"]


def test_a_deferred_message_comes_by_its_number_only(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    [message] = server.next(receiver)
    receiver.defer_message(message)
    gone = server.nothing_comes(receiver)
    assert (gone, bodies(receiver.receive_deferred_messages(message.sequence_number or 0))) == (True, ["x"])


def test_a_peek_locks_nothing(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x")
    receiver = server.receiver(queue)
    assert bodies(receiver.peek_messages()) == bodies(server.next(receiver)) == ["x"]


def test_too_many_deliveries_make_a_dead_letter_that_says_so(server: Server) -> None:
    queue = server.queue("brief")
    server.send(queue, "x")
    receiver = server.receiver(queue)
    for _ in range(2):
        receiver.abandon_message(server.next(receiver)[0])
    [dead] = server.next(server.receiver(queue, sub_queue="deadletter"))
    assert (server.nothing_comes(receiver), dead.dead_letter_reason, dead.delivery_count) == (
        True,
        "MaxDeliveryCountExceeded",
        2,
    )


def test_a_dead_letter_says_why_its_receiver_gave_it_up(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x", application_properties={"mine": 1})
    receiver = server.receiver(queue)
    receiver.dead_letter_message(server.next(receiver)[0], "unwanted", "nobody wants it")
    [dead] = server.next(server.receiver(queue, sub_queue="deadletter"))
    assert (dead.dead_letter_reason, dead.dead_letter_error_description, dead.application_properties) == (
        "unwanted",
        "nobody wants it",
        {b"mine": 1, b"DeadLetterReason": b"unwanted", b"DeadLetterErrorDescription": b"nobody wants it"},
    )


def test_a_dead_letter_is_forwarded_and_says_where_from(server: Server) -> None:
    queue = server.queue("buried")
    server.send(queue, "x", message_id="m1")
    receiver = server.receiver(queue)
    receiver.abandon_message(server.next(receiver)[0])
    [dead] = server.next(server.receiver(f"{queue}-target"))
    assert (dead.message_id, dead.dead_letter_source, dead.delivery_count) == ("m1", queue, 0)


def test_a_message_lives_no_longer_than_its_queue_lets_it(server: Server) -> None:
    queue = server.queue("mortal")
    server.send(queue, "x", time_to_live=timedelta(hours=1))
    server.wait(MINUTE + timedelta(seconds=1))
    assert server.nothing_comes(server.receiver(queue))


def test_a_message_lives_no_longer_than_it_says(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "x", time_to_live=timedelta(seconds=10))
    server.wait(timedelta(seconds=11))
    assert server.nothing_comes(server.receiver(queue))


def test_what_expires_is_a_dead_letter_where_the_queue_says_so(server: Server) -> None:
    queue = server.queue("remembered")
    server.send(queue, "x")
    server.wait(MINUTE + timedelta(seconds=1))
    [dead] = server.next(server.receiver(queue, sub_queue="deadletter"))
    assert dead.dead_letter_reason == "TTLExpiredException"


def test_a_session_has_one_receiver_and_its_order(server: Server) -> None:
    queue = server.queue("session")
    for body, session in (("a1", "a"), ("b1", "b"), ("a2", "a")):
        server.send(queue, body, session_id=session)
    first, second = (
        server.receiver(queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=DEADLINE) for _ in range(2)
    )
    assert [bodies(server.next(first, 2)), bodies(server.next(second))] == [["a1", "a2"], ["b1"]]
    third = server.receiver(queue, session_id="a", max_wait_time=DEADLINE)
    assert server.refusal(third.receive_messages, 1) == "SessionCannotBeLockedError"


def test_a_queue_with_sessions_takes_no_message_without_one(server: Server) -> None:
    sender = server.client.get_queue_sender(server.queue("session"))
    from azure.servicebus import ServiceBusMessage

    assert server.refusal(sender.send_messages, ServiceBusMessage("x")) == "ServiceBusError"


@settlements_are_answered
def test_a_session_whose_lock_has_ended_settles_nothing(server: Server) -> None:
    queue = server.queue("session")
    server.send(queue, "x", session_id="a")
    receiver = server.receiver(queue, session_id="a", max_wait_time=DEADLINE)
    [message] = server.next(receiver)
    server.wait(2 * MINUTE)
    assert server.refusal(receiver.complete_message, message) == "SessionLockLostError"


def test_an_abandoned_message_of_a_session_comes_before_the_next(server: Server) -> None:
    queue = server.queue("session")
    server.send(queue, "a1", "a2", session_id="a")
    receiver = server.receiver(queue, session_id="a", max_wait_time=DEADLINE)
    [message] = server.next(receiver)
    receiver.abandon_message(message)
    assert bodies(server.next(receiver, 2)) == ["a1", "a2"]


def test_no_session_within_the_wait_is_a_time_out(server: Server) -> None:
    receiver = server.receiver(server.queue("session"), session_id=NEXT_AVAILABLE_SESSION, max_wait_time=0.5)
    assert server.refusal(receiver.receive_messages, 1) == "OperationTimeoutError"
