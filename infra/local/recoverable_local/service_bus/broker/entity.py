"""One place where messages are: takes them in, delivers them, and does what receivers decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from recoverable_local.service_bus.broker.agenda import Agenda, Clock
from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.dispatcher import Dispatcher
from recoverable_local.service_bus.broker.endings import Endings
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.duplicates import Duplicates
from recoverable_local.service_bus.broker.holding.locks import Locks
from recoverable_local.service_bus.broker.holding.messages import Message, State, Verb, Verdict
from recoverable_local.service_bus.broker.holding.sessions import Sessions
from recoverable_local.service_bus.broker.holding.shelf import Shelf
from recoverable_local.service_bus.broker.limits import check_content
from recoverable_local.service_bus.broker.profile import Profile
from recoverable_local.service_bus.broker.refusals import RefusedError, message_not_found, no_session_id

Outlet = Callable[[Message], None]

_ABANDON = Verdict(Verb.ABANDON)
_RELEASE = Verdict(Verb.RELEASE)


class Entity:
    """A queue, a dead-letter queue, a topic or a subscription.

    Args:
        profile: What it is like.
        clock: The time, in seconds since 1970.
        agenda: Where what happens later is noted.
        bury: Gets what is dead-lettered; None for a dead-letter queue, which keeps it.
        outlet: Gets all messages, so that nobody can receive here; raises RefusedError for those that cannot be handed on.
        strand: Gets what cannot be handed on; where None, that is dead-lettered.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        clock: Clock,
        agenda: Agenda,
        bury: Outlet | None = None,
        outlet: Outlet | None = None,
        strand: Outlet | None = None,
    ) -> None:
        self.profile, self.outlet, self._clock, self._agenda = profile, outlet, clock, agenda
        self.shelf = Shelf(by_session=profile.sessions)
        self.locks = Locks(profile.lock, clock, agenda, lambda each: self._endings.apply(each, _ABANDON))
        self.sessions = Sessions(profile.lock, clock, agenda, lambda each: self._hand_back_session(each, _ABANDON))
        self._duplicates = None if profile.window is None else Duplicates(profile.window)
        self.receivers = Dispatcher(self.shelf, self.locks, self.sessions if profile.sessions else None)
        self._endings = Endings(profile, clock, self.shelf, self.receivers.dispatch, bury, strand)

    def check(self, content: Content) -> None:
        """Refuse a message that breaks a rule.

        Raises:
            RefusedError: It does.
        """
        check_content(content)
        if self.profile.sessions and content.value_of("session_id") is None:
            raise no_session_id(self.profile.path)

    def put(self, content: Content, *, hops: int = 0, first_number: int | None = None) -> int:
        """Take in a message; gives its sequence number.

        Raises:
            RefusedError: The message breaks a rule.
        """
        self.check(content)
        now, number = self._clock(), self.shelf.next_number()
        if self._duplicates and not self._duplicates.is_new(str(content.value_of("message_id")), now):
            return number  # told as taken, and dropped
        message = Message(content, number, now, hops=hops, first_number=first_number)
        if content.scheduled is not None and content.scheduled / 1000 > now:
            self._schedule(message, content.scheduled / 1000)
        else:
            self._activate(message)
        return number

    def keep(self, message: Message) -> None:
        """Take in a dead letter, which keeps its number and its count."""
        message.state, message.expires_at, message.lock = State.ACTIVE, None, None
        self._admit(message)

    def take_over(self, message: Message) -> None:
        """Take in what a topic publishes; what is not allowed here is a dead letter here."""
        content, first = message.content, message.sequence_number
        try:
            self.put(content, hops=message.hops, first_number=first)
        except RefusedError as refused:
            orphan = Message(content, self.shelf.next_number(), self._clock(), first_number=first)
            self._endings.dead_letter(orphan, Verdict(Verb.DEAD_LETTER, refused.condition, refused.description))

    def cancel(self, numbers: Sequence[int]) -> None:
        """Forget scheduled messages, all or none.

        Raises:
            RefusedError: One of the numbers is of no scheduled message.
        """
        for message in [self._in_state(number, State.SCHEDULED) for number in numbers]:
            self.shelf.remove(message)

    def receive_deferred(self, numbers: Sequence[int], *, settled: bool) -> list[Message]:
        """Take deferred messages by their numbers, all or none; locked, unless they are to be gone with this.

        Raises:
            RefusedError: One of the numbers is of no message that is deferred and free.
        """
        messages = [self._in_state(number, State.DEFERRED) for number in numbers]
        for message in messages:
            if settled:
                self.shelf.remove(message)
            else:
                self.receivers.lock(message)
        return messages

    def leave(self, consumer: Consumer) -> None:
        """Deliver to a receiver no more; its session is free, and what it had not settled of it comes again, uncounted."""
        self.receivers.remove(consumer)
        session_id = self.sessions.leave(consumer)
        if session_id is not None:
            self._hand_back_session(session_id, _RELEASE)

    def renew_session(self, session_id: str) -> float:
        """Hold a session and its messages longer; gives until when.

        Raises:
            RefusedError: It is not held.
        """
        until = self.sessions.renew(session_id)
        self.locks.extend_session(session_id, until)
        return until

    def take_back(self, message: Message) -> None:
        """Hold a message again that could not be delivered, uncounted."""
        if message.lock is not None:
            self.settle(message.lock.token, _RELEASE)
            return
        self.shelf.offer(message)
        self.receivers.dispatch()

    def settle(self, token: UUID, verdict: Verdict) -> None:
        """Do what a receiver has decided.

        Raises:
            RefusedError: It does not hold the lock any more.
        """
        self._endings.apply(self.locks.release(token), verdict)

    def _in_state(self, number: int, state: State) -> Message:
        message = self.shelf.find(number)
        if message is None or message.state is not state or message.lock is not None:
            raise message_not_found(number)
        return message

    def _schedule(self, message: Message, when: float) -> None:
        message.state, message.enqueued_at = State.SCHEDULED, when
        self.shelf.keep(message)
        self._agenda.at(when, lambda: self._scheduled(message))

    def _scheduled(self, message: Message) -> None:
        if self.shelf.find(message.sequence_number) is not message:  # cancelled
            return
        self.shelf.remove(message)
        message.sequence_number, message.enqueued_at = self.shelf.next_number(), self._clock()
        message.state = State.ACTIVE
        self._activate(message)

    def _activate(self, message: Message) -> None:
        lives = self.profile.longest_life(message.content.time_to_live)
        if lives is not None:
            message.expires_at = message.enqueued_at + lives
            self._agenda.at(message.expires_at, lambda: self._endings.expire(message))
        self._admit(message)

    def _admit(self, message: Message) -> None:
        if self.outlet is None:
            self.shelf.offer(message)
            self.receivers.dispatch()
            return
        try:
            self.outlet(message)
        except RefusedError as refused:
            self._endings.strand(message, refused)

    def _hand_back_session(self, session_id: str, verdict: Verdict) -> None:
        for message in self.locks.of_session(session_id):
            self._endings.apply(message, verdict)
        self.receivers.dispatch()
