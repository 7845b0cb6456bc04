"""Take in the messages of one entity, deliver them, and apply the receivers' settlements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from recoverable_local.service_bus.broker.agenda import Agenda, Clock
from recoverable_local.service_bus.broker.consumers import Consumer
from recoverable_local.service_bus.broker.dispatcher import Dispatcher
from recoverable_local.service_bus.broker.filters import Rule
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.holding.duplicates import Duplicates
from recoverable_local.service_bus.broker.holding.locks import Locks
from recoverable_local.service_bus.broker.holding.message_store import MessageStore
from recoverable_local.service_bus.broker.holding.messages import Message, State, Verb, Verdict
from recoverable_local.service_bus.broker.holding.sessions import Sessions
from recoverable_local.service_bus.broker.limits import check_content
from recoverable_local.service_bus.broker.profile import Profile
from recoverable_local.service_bus.broker.refusals import RefusedError, message_not_found, no_session_id
from recoverable_local.service_bus.broker.settler import Settler

Outlet = Callable[[Message], None]

_ABANDON = Verdict(Verb.ABANDON)
_RELEASE = Verdict(Verb.RELEASE)


class Entity:
    """A queue, a dead-letter queue, a topic or a subscription.

    Args:
        profile: Its settings.
        clock: Returns the time, in seconds since 1970.
        agenda: Runs actions at their times.
        dead_letter_to: Takes dead-lettered messages; None for a dead-letter queue, which keeps them.
        outlet: Takes all messages of an entity that forwards them, so that nobody can receive here; raises RefusedError for a
            message that cannot be forwarded.
        transfer_to: Takes messages that cannot be forwarded; None dead-letters them.

    `rules` are those of a subscription by their names; None for what is none. `dead_letters_unfiltered` says what becomes of a message
    of which none of them can be decided.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        clock: Clock,
        agenda: Agenda,
        dead_letter_to: Outlet | None = None,
        outlet: Outlet | None = None,
        transfer_to: Outlet | None = None,
    ) -> None:
        self.profile, self.outlet, self._clock, self._agenda = profile, outlet, clock, agenda
        self.rules: dict[str, Rule] | None = None
        self.dead_letters_unfiltered = True
        self.store = MessageStore(by_session=profile.sessions)
        self.locks = Locks(profile.lock, clock, agenda, lambda each: self._settler.apply(each, _ABANDON))
        self.sessions = Sessions(profile.lock, clock, agenda, lambda each: self._hand_back_session(each, _ABANDON))
        self._duplicates = None if profile.window is None else Duplicates(profile.window)
        self.receivers = Dispatcher(self.store, self.locks, self.sessions if profile.sessions else None)
        self._settler = Settler(profile, clock, self.store, self.receivers.dispatch, dead_letter_to, transfer_to)

    def check(self, content: Content) -> None:
        """Check a message against the limits and the entity's settings.

        Raises:
            RefusedError: The message breaks a rule.
        """
        check_content(content)
        if self.profile.sessions and content.value_of("session_id") is None:
            raise no_session_id(self.profile.path)

    def put(self, content: Content, *, hops: int = 0, first_number: int | None = None) -> int:
        """Take in a message, and return its sequence number.

        Raises:
            RefusedError: The message breaks a rule.
        """
        self.check(content)
        now, number = self._clock(), self.store.next_number()
        if self._duplicates and not self._duplicates.is_new(str(content.value_of("message_id")), now):
            return number  # a duplicate is confirmed and dropped
        message = Message(content, number, now, hops=hops, first_number=first_number)
        if content.scheduled is not None and content.scheduled / 1000 > now:
            self._schedule(message, content.scheduled / 1000)
        else:
            self._activate(message)
        return number

    def keep(self, message: Message) -> None:
        """Take in a dead letter, which keeps its sequence number and its delivery count."""
        message.state, message.expires_at, message.lock = State.ACTIVE, None, None
        self._admit(message)

    def put_published(self, message: Message) -> None:
        """Take in a message that a topic publishes; dead-letter it if the entity does not allow it."""
        content, first = message.content, message.sequence_number
        try:
            self.put(content, hops=message.hops, first_number=first)
        except RefusedError as refused:
            orphan = Message(content, self.store.next_number(), self._clock(), first_number=first)
            self._settler.dead_letter(orphan, Verdict(Verb.DEAD_LETTER, refused.condition, refused.description))

    def refuse_published(self, message: Message, why: str) -> None:
        """Dead-letter a message that a topic publishes and no rule can be decided for, or drop it, as the subscription says."""
        if self.dead_letters_unfiltered:
            orphan = Message(
                message.content, self.store.next_number(), self._clock(), first_number=message.sequence_number
            )
            self._settler.dead_letter(orphan, Verdict(Verb.DEAD_LETTER, "FilterEvaluationException", why))

    def cancel(self, numbers: Sequence[int]) -> None:
        """Cancel scheduled messages, all or none.

        Raises:
            RefusedError: One of the numbers belongs to no scheduled message.
        """
        for message in [self._in_state(number, State.SCHEDULED) for number in numbers]:
            self.store.remove(message)

    def receive_deferred(self, numbers: Sequence[int], *, settled: bool) -> list[Message]:
        """Receive deferred messages by their sequence numbers, all or none. Lock them or, with `settled`, remove them.

        Raises:
            RefusedError: One of the numbers belongs to no deferred message without a lock.
        """
        messages = [self._in_state(number, State.DEFERRED) for number in numbers]
        for message in messages:
            if settled:
                self.store.remove(message)
            else:
                self.receivers.lock(message)
        return messages

    def leave(self, consumer: Consumer) -> None:
        """Remove a receiver. Free its session; the session's unsettled messages are delivered again, without a counted delivery."""
        self.receivers.remove(consumer)
        session_id = self.sessions.leave(consumer)
        if session_id is not None:
            self._hand_back_session(session_id, _RELEASE)

    def renew_session(self, session_id: str) -> float:
        """Renew the lock of a session and of its messages, and return the new end.

        Raises:
            RefusedError: Nobody holds the session.
        """
        until = self.sessions.renew(session_id)
        self.locks.extend_session(session_id, until)
        return until

    def take_back(self, message: Message) -> None:
        """Return a message that could not be delivered, without counting a delivery."""
        if message.lock is not None:
            self.settle(message.lock.token, _RELEASE)
            return
        self.store.offer(message)
        self.receivers.dispatch()

    def settle(self, token: UUID, verdict: Verdict) -> None:
        """Settle a message by its lock token.

        Raises:
            RefusedError: The lock has ended.
        """
        self._settler.apply(self.locks.release(token), verdict)

    def _in_state(self, number: int, state: State) -> Message:
        message = self.store.find(number)
        if message is None or message.state is not state or message.lock is not None:
            raise message_not_found(number)
        return message

    def _schedule(self, message: Message, when: float) -> None:
        message.state, message.enqueued_at = State.SCHEDULED, when
        self.store.keep(message)
        self._agenda.at(when, lambda: self._scheduled(message))

    def _scheduled(self, message: Message) -> None:
        if self.store.find(message.sequence_number) is not message:  # cancelled
            return
        self.store.remove(message)
        message.sequence_number, message.enqueued_at = self.store.next_number(), self._clock()
        message.state = State.ACTIVE
        self._activate(message)

    def _activate(self, message: Message) -> None:
        lives = self.profile.lifetime_limit(message.content.time_to_live)
        if lives is not None:
            message.expires_at = message.enqueued_at + lives
            self._agenda.at(message.expires_at, lambda: self._settler.expire(message))
        self._admit(message)

    def _admit(self, message: Message) -> None:
        if self.outlet is None:
            self.store.offer(message)
            self.receivers.dispatch()
            return
        try:
            self.outlet(message)
        except RefusedError as refused:
            self._settler.transfer(message, refused)

    def _hand_back_session(self, session_id: str, verdict: Verdict) -> None:
        for message in self.locks.release_session(session_id):
            self._settler.apply(message, verdict)
        self.receivers.dispatch()
