"""Perform the operations of an entity's `$management` node, with the SDKs' arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.broker.entity import Entity
from recoverable_local.service_bus.broker.holding.content import Content, parse
from recoverable_local.service_bus.broker.holding.messages import Message, Verb, Verdict
from recoverable_local.service_bus.broker.limits import check_size
from recoverable_local.service_bus.broker.profile import check_target
from recoverable_local.service_bus.faults import Faults, Operation
from recoverable_local.service_bus.links import rules
from recoverable_local.service_bus.links.requests import Answer, Request
from recoverable_local.service_bus.links.settling import encoded

Arguments = Mapping[str, Any]

_DEFAULT_LISTING = 253_402_300_800_000  # milliseconds; the year 10000 asks for sessions with messages or a state
_VERBS = {
    "completed": Verb.COMPLETE,
    "abandoned": Verb.ABANDON,
    "defered": Verb.DEFER,  # as Service Bus spells it
    "suspended": Verb.DEAD_LETTER,
}


def manage(entity: Entity, request: Request, faults: Faults) -> Answer:
    """Perform a request.

    Raises:
        RefusedError: The broker refuses it.
    """
    if request.operation == "update-disposition":
        return _update_disposition(entity, request.body, faults)
    operation = _OPERATIONS.get(request.operation)
    if operation is None:
        return Answer(501, f"The operation {request.operation!r} is not supported.", condition="amqp:not-implemented")
    path = entity.profile.path
    return faults.perform(Operation(request.operation), path, lambda: operation(entity, request.body))


def _schedule(entity: Entity, body: Arguments) -> Answer:
    check_target(entity.profile.path)
    contents = [_content(entity, each["message"]) for each in body["messages"]]
    for content in contents:
        entity.check(content)
    return _ok({"sequence-numbers": e.array([e.int64(entity.put(content)) for content in contents])})


def _content(entity: Entity, data: bytes) -> Content:
    check_size(len(data), most=entity.profile.max_message_size)
    return parse(data)


def _cancel(entity: Entity, body: Arguments) -> Answer:
    entity.cancel(body["sequence-numbers"])
    return _ok()


def _peek(entity: Entity, body: Arguments) -> Answer:
    session_id, max_messages = body.get("session-id"), body["message-count"]
    messages = entity.store.from_number(body["from-sequence-number"])
    found = [each for each in messages if session_id in (None, each.session_id)][:max_messages]
    if not found:
        return Answer(204, "There are no messages.")
    return _messages(found, with_tokens=False)


def _renew(entity: Entity, body: Arguments) -> Answer:
    ends = [entity.locks.renew(token) for token in body["lock-tokens"]]
    return _ok({"expirations": e.array([e.timestamp(int(end * 1000)) for end in ends])})


def _update_disposition(entity: Entity, body: Arguments, faults: Faults) -> Answer:
    verb = _VERBS[body["disposition-status"]]
    changes = encoded(body.get("properties-to-modify") or {})
    verdict = Verdict(verb, body.get("deadletter-reason"), body.get("deadletter-description"), changes)

    def settle() -> None:
        if entity.profile.sessions:
            entity.sessions.until(body.get("session-id"))
        for token in body["lock-tokens"]:
            entity.settle(token, verdict)

    faults.perform(Operation(verb.value), entity.profile.path, settle)
    return _ok()


def _receive_deferred(entity: Entity, body: Arguments) -> Answer:
    settled = body.get("receiver-settle-mode", 1) == 0
    return _messages(entity.receive_deferred(body["sequence-numbers"], settled=settled), with_tokens=True)


def _renew_session(entity: Entity, body: Arguments) -> Answer:
    until = entity.renew_session(body["session-id"])
    return _ok({"expiration": e.timestamp(int(until * 1000))})


def _get_state(entity: Entity, body: Arguments) -> Answer:
    entity.sessions.until(body["session-id"])
    state, _ = entity.sessions.states.get(body["session-id"], (None, 0.0))
    return _ok({"session-state": e.plain(state)})


def _set_state(entity: Entity, body: Arguments) -> Answer:
    entity.sessions.set_state(body["session-id"], body["session-state"])
    return _ok()


def _list_sessions(entity: Entity, body: Arguments) -> Answer:
    since, skip = body["last-updated-time"], body["skip"]
    states = entity.sessions.states
    changed = [session_id for session_id, (_, when) in states.items() if when * 1000 > since]
    names = sorted({*entity.store.sessions(), *states} if since >= _DEFAULT_LISTING else set(changed))
    page = names[skip : skip + body["top"]]
    if not page:
        return Answer(204, "There are no sessions.")
    return _ok({"skip": e.int32(skip + len(page)), "sessions-ids": e.sequence([e.string(name) for name in page])})


def _list_rules(entity: Entity, body: Arguments) -> Answer:
    found = rules.listed(entity, body)
    return _ok({"rules": e.sequence(found)}) if found else Answer(204, "There are no rules.")


def _add_rule(entity: Entity, body: Arguments) -> Answer:
    rules.add(entity, body)
    return _ok()


def _remove_rule(entity: Entity, body: Arguments) -> Answer:
    rules.remove(entity, body)
    return _ok()


def _messages(messages: Sequence[Message], *, with_tokens: bool) -> Answer:
    items = []
    for message in messages:
        token = message.lock.token if message.lock else UUID(int=0)
        pairs = [(e.string("lock-token"), e.uuid(token))] if with_tokens else []
        items.append(e.mapping([*pairs, (e.string("message"), e.binary(message.encode()))]))
    return _ok({"messages": e.sequence(items)})


def _ok(result: Mapping[str, bytes] | None = None) -> Answer:
    pairs = [(e.string(name), value) for name, value in (result or {}).items()]
    return Answer(200, "OK", e.mapping(pairs) if result else e.NULL)


_OPERATIONS: dict[str, Callable[[Entity, Arguments], Answer]] = {
    "schedule-message": _schedule,
    "cancel-scheduled-message": _cancel,
    "peek-message": _peek,
    "renew-lock": _renew,
    "receive-by-sequence-number": _receive_deferred,
    "renew-session-lock": _renew_session,
    "get-session-state": _get_state,
    "set-session-state": _set_state,
    "get-message-sessions": _list_sessions,
    "enumerate-rules": _list_rules,
    "add-rule": _add_rule,
    "remove-rule": _remove_rule,
}
