"""Apply the peer's dispositions to the entity's messages, and answer them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.performatives import Disposition
from recoverable_local.service_bus.amqp.types import Described
from recoverable_local.service_bus.broker.holding.messages import Verb, Verdict
from recoverable_local.service_bus.broker.refusals import RefusedError, session_lock_lost
from recoverable_local.service_bus.faults import Faults, Operation, SilencedError
from recoverable_local.service_bus.links.session import Session, Unsettled


def settle(session: Session, disposition: Disposition, faults: Faults) -> None:
    """Settle each delivery of a disposition, and answer those for which the peer waits."""
    for number in [each for each in session.unsettled if disposition.first <= each <= disposition.last]:
        unsettled = session.unsettled.pop(number)
        session.used(unsettled.link)
        try:
            _apply(unsettled, verdict_of(disposition.state), faults)
            state = replies.outcome(disposition.state.code if disposition.state else replies.RELEASED)
        except RefusedError as refused:
            state = replies.rejected(refused.condition, refused.description)
        except SilencedError:  # a planned fault: send no answer
            continue
        if not disposition.settled:
            session.say(replies.disposition(number, state, we_received=False))


def verdict_of(state: Described | None) -> Verdict:
    """Convert an AMQP outcome into a settlement; no outcome releases the message."""
    fields: list[Any] = state.value if state else []
    match state.code if state else None:
        case replies.ACCEPTED:
            return Verdict(Verb.COMPLETE)
        case replies.REJECTED:
            return _rejected(fields[0] if fields else None)
        case replies.MODIFIED:
            undeliverable_here = len(fields) > 1 and bool(fields[1])
            changes = fields[2] if len(fields) > 2 and fields[2] else {}  # noqa: PLR2004 -- its place in the list
            return Verdict(Verb.DEFER if undeliverable_here else Verb.ABANDON, properties=encoded(changes))
        case _:
            return Verdict(Verb.RELEASE)


def encoded(properties: Mapping[str, Any]) -> dict[str, bytes]:
    """Encode application properties that a receiver sets."""
    return {str(name): e.plain(value) for name, value in properties.items()}


def _rejected(error: Described | None) -> Verdict:
    fields = error.value if error else []
    info: dict[str, Any] = fields[2] if len(fields) > 2 and fields[2] else {}  # noqa: PLR2004 -- its place in the list
    given = {name: value for name, value in info.items() if value is not None}
    return Verdict(
        Verb.DEAD_LETTER,
        given.pop("DeadLetterReason", None),
        given.pop("DeadLetterErrorDescription", None),
        encoded(given),
    )


def _apply(unsettled: Unsettled, verdict: Verdict, faults: Faults) -> None:
    entity, held = unsettled.link.entity, unsettled.link.session_id
    if entity is None:
        return
    if held is not None and not entity.sessions.held_by(unsettled.link, held):
        raise session_lock_lost(held)
    faults.perform(Operation(verdict.verb.value), entity.profile.path, lambda: entity.settle(unsettled.token, verdict))
