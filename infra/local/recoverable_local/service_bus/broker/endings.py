"""What becomes of a message: gone, handed back, deferred, dead-lettered, expired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recoverable_local.service_bus.broker.agenda import Clock
from recoverable_local.service_bus.broker.holding.messages import Message, State, Verb, Verdict
from recoverable_local.service_bus.broker.holding.shelf import Shelf
from recoverable_local.service_bus.broker.profile import Profile
from recoverable_local.service_bus.broker.refusals import RefusedError

_EXPIRED = Verdict(Verb.DEAD_LETTER, "TTLExpiredException", "The message expired and was dead lettered.")


@dataclass(frozen=True, slots=True)
class Endings:
    """Carries out verdicts on the messages of one entity.

    Args:
        profile: What the entity is like.
        clock: The time, in seconds since 1970.
        shelf: Its messages.
        dispatch: Delivers what can be delivered.
        bury: Gets what is dead-lettered; None for a dead-letter queue, which keeps it.
        transfer: Gets what cannot be handed on; where None, that is dead-lettered.
    """

    profile: Profile
    clock: Clock
    shelf: Shelf
    dispatch: Callable[[], None]
    bury: Callable[[Message], None] | None
    transfer: Callable[[Message], None] | None

    def apply(self, message: Message, verdict: Verdict) -> None:
        """Do what was decided of a message whose lock has ended."""
        match verdict.verb:
            case Verb.COMPLETE:
                self.shelf.remove(message)
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
            self.shelf.offer(message)
            self.dispatch()

    def _exhausted(self, message: Message) -> bool:
        limit = self.profile.deliveries
        return limit is not None and message.state is State.ACTIVE and message.delivery_count >= limit

    def dead_letter(self, message: Message, verdict: Verdict) -> None:
        """Put a message among the dead letters; a dead letter stays where it is."""
        message.content = message.content.with_application(verdict.changes())
        self.shelf.remove(message)
        if self.bury is None:
            self.shelf.offer(message)
            self.dispatch()
        else:
            self.bury(message)

    def strand(self, message: Message, refused: RefusedError) -> None:
        """Put a message where it can be found that could not be handed on; a dead letter stays where it is."""
        why = Verdict(Verb.DEAD_LETTER, refused.condition, refused.description)
        if self.transfer is None:
            self.dead_letter(message, why)
            return
        message.content = message.content.with_application(why.changes())
        self.transfer(message)

    def expire(self, message: Message) -> None:
        """End the life of a message, unless it is gone or somebody is at it, or is a dead letter."""
        here = self.shelf.find(message.sequence_number) is message and message.lock is None
        if not here or not message.expired(self.clock()):
            return
        self.shelf.remove(message)
        if self.profile.buries_expired:
            self.dead_letter(message, _EXPIRED)
