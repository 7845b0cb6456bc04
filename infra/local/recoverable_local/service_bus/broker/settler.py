"""Settle the messages of an entity: remove, return, defer, dead-letter or expire them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recoverable_local.service_bus.broker.agenda import Clock
from recoverable_local.service_bus.broker.holding.message_store import MessageStore
from recoverable_local.service_bus.broker.holding.messages import Message, State, Verb, Verdict
from recoverable_local.service_bus.broker.profile import Profile
from recoverable_local.service_bus.broker.refusals import RefusedError

_EXPIRED = Verdict(Verb.DEAD_LETTER, "TTLExpiredException", "The message expired and was dead lettered.")


@dataclass(frozen=True, slots=True)
class Settler:
    """Applies settlements to the messages of one entity.

    Args:
        profile: The entity's settings.
        clock: Returns the time, in seconds since 1970.
        store: Its messages.
        dispatch: Delivers all messages that can be delivered.
        dead_letter_to: Takes dead-lettered messages; None for a dead-letter queue, which keeps them.
        transfer_to: Takes messages that cannot be forwarded; None dead-letters them.
    """

    profile: Profile
    clock: Clock
    store: MessageStore
    dispatch: Callable[[], None]
    dead_letter_to: Callable[[Message], None] | None
    transfer_to: Callable[[Message], None] | None

    def apply(self, message: Message, verdict: Verdict) -> None:
        """Apply a settlement to a message whose lock has ended."""
        match verdict.verb:
            case Verb.COMPLETE:
                self.store.remove(message)
            case Verb.DEAD_LETTER:
                self.dead_letter(message, verdict)
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
            self.dead_letter(message, Verdict(Verb.DEAD_LETTER, "MaxDeliveryCountExceeded", text))
        elif message.expired(self.clock()):
            self.expire(message)
        elif message.state is State.ACTIVE:
            self.store.offer(message)
            self.dispatch()

    def _exhausted(self, message: Message) -> bool:
        limit = self.profile.deliveries
        return limit is not None and message.state is State.ACTIVE and message.delivery_count >= limit

    def dead_letter(self, message: Message, verdict: Verdict) -> None:
        """Dead-letter a message; a dead letter stays where it is."""
        message.content = message.content.with_application(verdict.changes())
        self.store.remove(message)
        if self.dead_letter_to is None:
            self.store.offer(message)
            self.dispatch()
        else:
            self.dead_letter_to(message)

    def transfer(self, message: Message, refused: RefusedError) -> None:
        """Move a message that could not be forwarded to the transfer dead-letter queue; a dead letter stays where it is."""
        why = Verdict(Verb.DEAD_LETTER, refused.condition, refused.description)
        if self.transfer_to is None:
            self.dead_letter(message, why)
            return
        message.content = message.content.with_application(why.changes())
        self.transfer_to(message)

    def expire(self, message: Message) -> None:
        """Remove a message whose time to live is over, unless it is gone or locked; dead-letter it if the entity does so."""
        here = self.store.find(message.sequence_number) is message and message.lock is None
        if not here or not message.expired(self.clock()):
            return
        self.store.remove(message)
        if self.profile.dead_letters_expired:
            self.dead_letter(message, _EXPIRED)
