"""One place where messages are: takes them in, delivers them, and does what receivers decide."""

from __future__ import annotations

import collections
from collections.abc import Callable
from uuid import UUID

from recoverable.local.service_bus.broker.agenda import Agenda
from recoverable.local.service_bus.broker.consumers import Consumer
from recoverable.local.service_bus.broker.content import Content
from recoverable.local.service_bus.broker.duplicates import Duplicates
from recoverable.local.service_bus.broker.limits import check_content
from recoverable.local.service_bus.broker.locks import Locks
from recoverable.local.service_bus.broker.messages import Message, State, Verb, Verdict
from recoverable.local.service_bus.broker.profile import Profile
from recoverable.local.service_bus.broker.refusals import RefusedError, message_not_found, not_allowed
from recoverable.local.service_bus.broker.sessions import Sessions
from recoverable.local.service_bus.broker.shelf import Shelf

Clock = Callable[[], float]
Outlet = Callable[[Message], None]

_ABANDON = Verdict(Verb.ABANDON)
_RELEASE = Verdict(Verb.RELEASE)
_EXPIRED = Verdict(Verb.DEAD_LETTER, "TTLExpiredException", "The message expired and was dead lettered.")


class Entity:
    """A queue, a dead-letter queue, a topic or a subscription.

    Args:
        profile: What it is like.
        clock: The time, in seconds since 1970.
        agenda: Where what happens later is noted.
        bury: Gets what is dead-lettered; None for a dead-letter queue, which keeps it.
        outlet: Gets all messages, so that nobody can receive here; raises RefusedError for those that cannot be handed on.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        clock: Clock,
        agenda: Agenda,
        bury: Outlet | None = None,
        outlet: Outlet | None = None,
    ) -> None:
        self.profile, self._clock, self._agenda, self._bury, self.outlet = (
            profile,
            clock,
            agenda,
            bury,
            outlet,
        )
        self.shelf = Shelf(by_session=profile.sessions)
        self.locks = Locks(profile.lock, clock, agenda, lambda message: self._apply(message, _ABANDON))
        self.sessions = Sessions(profile.lock, clock, agenda, self._session_expired)
        self._duplicates = None if profile.window is None else Duplicates(profile.window)
        self._consumers: collections.deque[Consumer] = collections.deque()

    def check(self, content: Content) -> None:
        """Refuse a message that breaks a rule.

        Raises:
            RefusedError: It does.
        """
        check_content(content)
        if self.profile.sessions and content.value_of("session_id") is None:
            raise not_allowed(
                f"The SessionId was not set on a message, and it cannot be sent to the entity {self.profile.path!r}, which requires sessions."
            )

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

    def cancel(self, number: int) -> None:
        """Forget a scheduled message.

        Raises:
            RefusedError: No message with this number is scheduled.
        """
        self.shelf.remove(self._in_state(number, State.SCHEDULED))

    def receive_deferred(self, number: int, *, settled: bool) -> Message:
        """Take a deferred message by its number, locked unless it is to be gone with this.

        Raises:
            RefusedError: No message with this number is deferred and free.
        """
        message = self._in_state(number, State.DEFERRED)
        if message.lock is not None:
            raise message_not_found(number)
        if settled:
            self.shelf.remove(message)
        else:
            self._lock(message)
        return message

    def add(self, consumer: Consumer) -> None:
        """Deliver to a receiver from the next dispatch on."""
        self._consumers.append(consumer)

    def remove(self, consumer: Consumer) -> None:
        """Deliver to a receiver no more; the session that it held is free, and what it had not settled comes again, uncounted."""
        if consumer in self._consumers:
            self._consumers.remove(consumer)
        session_id = self.sessions.leave(consumer)
        if session_id is not None:
            for message in self.locks.of_session(session_id):
                self._apply(message, _RELEASE)
            self.dispatch()

    def renew_session(self, session_id: str) -> float:
        """Hold a session and its messages longer; gives until when.

        Raises:
            RefusedError: It is not held.
        """
        until = self.sessions.renew(session_id)
        self.locks.extend_session(session_id, until)
        return until

    def settle(self, token: UUID, verdict: Verdict) -> None:
        """Do what a receiver has decided.

        Raises:
            RefusedError: It does not hold the lock any more.
        """
        self._apply(self.locks.release(token), verdict)

    def dispatch(self) -> None:
        """Deliver what can be delivered, to the receivers in turn."""
        if self.profile.sessions:
            self.sessions.serve(self.shelf.sessions())
        idle = 0
        while idle < len(self._consumers):
            consumer = self._consumers[0]
            self._consumers.rotate(-1)
            idle = 0 if consumer.ready() and self._deliver_to(consumer) else idle + 1

    def _deliver_to(self, consumer: Consumer) -> bool:
        message = self.shelf.take(consumer.session_id)
        if message is None:
            return False
        if consumer.settled:
            self.shelf.remove(message)
        else:
            self._lock(message)
        consumer.deliver(message)
        return True

    def _lock(self, message: Message) -> None:
        if self.profile.sessions:
            self.locks.grant_until(message, self.sessions.until(message.session_id))
        else:
            self.locks.grant(message)

    def _in_state(self, number: int, state: State) -> Message:
        message = self.shelf.find(number)
        if message is None or message.state is not state:
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
        lives = [ms / 1000 for ms in (message.content.time_to_live,) if ms is not None]
        lives += [self.profile.time_to_live] if self.profile.time_to_live is not None else []
        if lives:
            message.expires_at = message.enqueued_at + min(lives)
            self._agenda.at(message.expires_at, lambda: self._expire(message))
        self._admit(message)

    def _admit(self, message: Message) -> None:
        if self.outlet is None:
            self.shelf.offer(message)
            self.dispatch()
            return
        try:
            self.outlet(message)
        except (
            RefusedError
        ) as refused:  # it cannot go on: it is dead-lettered here, and stays where it is dead already
            self._dead_letter(message, Verdict(Verb.DEAD_LETTER, refused.condition, refused.description))

    def _apply(self, message: Message, verdict: Verdict) -> None:
        match verdict.verb:
            case Verb.COMPLETE:
                self.shelf.remove(message)
            case Verb.DEAD_LETTER:
                self._dead_letter(message, verdict)
            case Verb.ABANDON | Verb.DEFER | Verb.RELEASE:
                self._hand_back(message, verdict)

    def _hand_back(self, message: Message, verdict: Verdict) -> None:
        message.content = message.content.with_application(verdict.changes())
        if verdict.verb is not Verb.RELEASE:
            message.delivery_count += 1
        if verdict.verb is Verb.DEFER:
            message.state = State.DEFERRED
        if self._exhausted(message):
            limit = self.profile.deliveries
            text = f"Message could not be consumed after {limit} delivery attempts."
            self._dead_letter(message, Verdict(Verb.DEAD_LETTER, "MaxDeliveryCountExceeded", text))
        elif message.expired(self._clock()):
            self._expire(message)
        elif message.state is State.ACTIVE:
            self.shelf.offer(message)
            self.dispatch()

    def _exhausted(self, message: Message) -> bool:
        limit = self.profile.deliveries
        return limit is not None and message.state is State.ACTIVE and message.delivery_count >= limit

    def _dead_letter(self, message: Message, verdict: Verdict) -> None:
        message.content = message.content.with_application(verdict.changes())
        self.shelf.remove(message)
        if self._bury is None:
            self.shelf.offer(message)
            self.dispatch()
        else:
            self._bury(message)

    def _expire(self, message: Message) -> None:
        """End the life of a message, unless it is gone or somebody is at it, or is a dead letter."""
        here = self.shelf.find(message.sequence_number) is message and message.lock is None
        if not here or not message.expired(self._clock()):
            return
        self.shelf.remove(message)
        if self.profile.buries_expired:
            self._dead_letter(message, _EXPIRED)

    def _session_expired(self, session_id: str) -> None:
        for message in self.locks.of_session(session_id):
            self._apply(message, _ABANDON)
