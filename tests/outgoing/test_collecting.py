"""What `Message.send` collects: snapshots, identities and errors, on no platform, as in a unit test of a handler."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import permutations
from threading import Event, Thread
from typing import Any

import pytest

from builders import Boom, delivery, environment, message, platform, recoverability, seconds
from recoverable import Message
from recoverable._flow.flow import attempt_each, drive
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Delivery
from recoverable._outgoing.outbox import InMemory
from recoverable.hosting import Deadline


def sent(work: Message) -> list[tuple[str, str, str | bytes]]:
    """Return intent, destination and body of each outgoing message."""
    return [(each.intent, each.destination, each.body) for each in work.outgoing]


def test_a_handler_can_be_tested_without_a_world() -> None:
    work = message()

    work.send("invoices", {"order": 42})
    work.publish("events", b"placed")

    assert sent(work) == [("Send", "invoices", '{"order": 42}'), ("Publish", "events", b"placed")]


def test_a_body_is_taken_as_it_is_when_it_is_sent() -> None:
    work, body = message(), {"order": 42}

    work.send("invoices", body)
    body["order"] = 43

    assert work.outgoing[0].json() == {"order": 42}


def identities(*bodies: str) -> dict[str, list[str | None]]:
    """Return the ids under which the bodies are sent, in this order."""
    work = message()
    for body in bodies:
        work.send("invoices", body)
    found: dict[str, list[str | None]] = {}
    for each in work.outgoing:
        found.setdefault(str(each.body), []).append(each.message_id)
    return found


def test_ids_do_not_depend_on_the_order_of_sends() -> None:
    every = [identities(*bodies) for bodies in permutations(["a", "b", "b", "c"])]

    assert all(each == every[0] for each in every)


def test_equal_messages_of_one_attempt_have_ids_of_their_own() -> None:
    ids = identities("a", "a", "a")["a"]

    assert len(set(ids)) == 3


def id_of(**parts: Any) -> str | None:
    """Return the id of a message with a header and two attributes, of which some parts are other ones."""
    work = message()
    usual = {"headers": {"kind": "usual"}, "attributes": {"kind": "usual", "count": 1}}
    work.send(**{"queue": "invoices", "body": "a", **usual, **parts})
    return work.outgoing[0].message_id


CONTENT: dict[str, dict[str, Any]] = {
    "queue": {"queue": "bills"},
    "body": {"body": "b"},
    "header": {"headers": {"kind": "urgent"}},
    "header's name": {"headers": {"sort": "usual"}},
    "attribute": {"attributes": {"kind": "urgent", "count": 1}},
    "attribute's name": {"attributes": {"sort": "usual", "count": 1}},
    "attribute's type": {"attributes": {"kind": "usual", "count": "1"}},
    "group": {"group_id": "a"},
}


@pytest.mark.parametrize("parts", CONTENT.values(), ids=CONTENT)
def test_another_content_has_another_id(parts: dict[str, Any]) -> None:
    assert id_of(**parts) != id_of()


@pytest.mark.parametrize("part", ["headers", "attributes"])
def test_the_order_of_names_does_not_change_the_id(part: str) -> None:
    first, second = {"tenant": "blue", "kind": "urgent"}, {"kind": "urgent", "tenant": "blue"}

    assert id_of(**{part: first}) == id_of(**{part: second})


def test_a_delay_that_is_reckoned_anew_does_not_change_the_id() -> None:
    assert id_of(delay=seconds(10)) == id_of(delay=seconds(9))


def test_the_handler_may_name_a_message() -> None:
    work = message()
    work.send("invoices", "a", message_id="invoice-42")

    assert work.outgoing[0].headers["NServiceBus.MessageId"] == "invoice-42"


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "an empty body": ({"body": ""}, ValueError, "is empty"),
    "a body that is no JSON": ({"body": object()}, TypeError, "no JSON"),
    "a number that JSON does not have": ({"body": {"price": float("nan")}}, TypeError, "no JSON"),
    "a blank queue": ({"queue": " "}, ValueError, "is blank"),
    "a negative delay": ({"delay": seconds(-1)}, ValueError, "delay"),
    "a delay that is none": ({"delay": 5}, TypeError, "timedelta"),
    "a blank id": ({"message_id": ""}, ValueError, "message_id"),
    "a long group": ({"group_id": "g" * 129}, ValueError, "129 characters"),
    "a header of recovery": ({"headers": {"NServiceBus.Retries": "2"}}, ValueError, "NServiceBus.Retries"),
    "a header of our own": ({"headers": {"Recoverable.Origin": "x"}}, ValueError, "Recoverable.Origin"),
    "an attribute that is a header of recovery": ({"attributes": {"NServiceBus.Retries": 2}}, ValueError, "Retries"),
    "an attribute of our own": ({"attributes": {"Recoverable.Origin": "x"}}, ValueError, r"attributes.*Origin"),
    "a header that is no text": ({"headers": {"tries": 2}}, TypeError, "write names and texts"),
}


@pytest.mark.parametrize(("parts", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_sent_is_refused_at_once(parts: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        message().send(**{"queue": "invoices", "body": "hello", **parts})


def attempted(handler: Any, sender: Callable[[], InMemory] = InMemory) -> tuple[Delivery, Invocation]:
    """Return a delivery after its attempt, and the invocation that it was made in; its first send asks for the sender."""
    invocation = Invocation(
        recoverability(), platform(), environment(lambda: InMemory().now()), Deadline(), sender=sender
    )
    attempt = delivery()
    drive(attempt_each([attempt.message], invocation), handler, invocation.deadline)
    return attempt, invocation


def test_an_attempt_that_fails_has_nothing_to_send() -> None:
    def fail(message: Message) -> None:
        message.send("invoices", "hello")
        raise Boom

    _, invocation = attempted(fail)

    assert invocation.outgoing == []


def test_a_message_whose_outgoing_ones_are_not_yet_sent_is_not_completed() -> None:
    attempt, invocation = attempted(lambda message: message.send("invoices", "hello"))

    assert (invocation.settlement_of(attempt), len(invocation.outgoing)) == (None, 1)


def test_after_the_attempt_a_send_says_that_it_is_too_late() -> None:
    kept: list[Message] = []
    attempted(kept.append)

    with pytest.raises(RuntimeError, match="has ended"):
        kept[0].send("invoices", "hello")


def test_a_send_that_a_thread_began_in_time_says_that_it_is_too_late_once_the_attempt_has_ended() -> None:
    began, over, sends = Event(), Event(), list[Future[None]]()

    def slow_sender() -> InMemory:
        began.set()
        over.wait(60)
        return InMemory()

    with ThreadPoolExecutor() as pool:

        def leave_a_thread_behind(message: Message) -> None:
            sends.append(pool.submit(message.send, "invoices", "hello"))
            assert began.wait(60)

        _, invocation = attempted(leave_a_thread_behind, slow_sender)
        over.set()

        with pytest.raises(RuntimeError, match="has ended"):
            sends[0].result(60)
    assert invocation.outgoing == []


def test_once_its_entries_are_taken_an_outbox_says_that_it_is_too_late() -> None:
    _, invocation = attempted(lambda message: message.send("invoices", "hello"))
    [(_, outbox, _)] = invocation.outgoing
    [entry] = outbox.close()

    with pytest.raises(RuntimeError, match="has ended"):
        outbox.add(entry)


def test_threads_of_a_handler_send_together() -> None:
    def fan_out(message: Message) -> None:
        threads = [Thread(target=message.send, args=("invoices", str(number))) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    _, invocation = attempted(fan_out)

    [(_, outbox, _)] = invocation.outgoing
    assert sorted(int(str(each.body)) for each in outbox.close()) == list(range(20))
