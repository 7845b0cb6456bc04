"""Decide where a failed message is sent back to, and which headers its copy has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta

from recoverable import headers
from recoverable._ladder import faults
from recoverable._ladder.copy_headers import Changes
from recoverable_operate.errors._message import EDIT_OF, FailedMessage
from recoverable_operate.errors._queue import OperateError

SERVICE_CONTROL_RETRY = "ServiceControl.Retry."
"""With this begin the headers by which ServiceControl knows its own retries."""

DEFAULT_LADDER = timedelta(seconds=60)
"""How long the default ladder takes: delayed retries after 10, 20 and 30 s."""

Canonical = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Target:
    """The queue to which a message is sent back, by its full address."""

    queue: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that stays where it is.

    Args:
        reason: why.
        allow: the queue that `--allow` would have to name; None when only `--to` helps.
    """

    reason: str
    allow: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of which message may be sent where.

    Args:
        queue: the full address of the error queue.
        allowed: the full addresses of the queues to which a message's headers may send it.
        to: the queue that the operator names for all messages; None to believe the headers, as far as allowed.
        canonical: returns the full address of a queue; raises OperateError for what is none.
    """

    queue: str
    allowed: Collection[str]
    to: str | None
    canonical: Canonical


def destination(message: FailedMessage, rules: Rules, *, trusted_source: bool) -> Target | Refusal:
    """Return where a message is sent back to. Headers are untrusted, so they choose only among what is allowed.

    Args:
        message: the message.
        rules: what may be sent where.
        trusted_source: True if the broker's own word on where it dead-lettered a message from is enough.
    """
    if (why := reason_to_stay(message, rules)) is not None:
        return Refusal(why)
    if rules.to is not None:
        return checked(rules.to, rules)
    allowed = {*rules.allowed, *([message.source] if trusted_source and message.source else [])}
    if address := message.headers.get(headers.FAILED_QUEUE_ADDRESS):
        return by_address(address, allowed, rules)
    if name := message.headers.get(faults.FAILED_QUEUE):
        return by_name(name, allowed, rules)
    if message.source:
        return allowed_or_refused(message.source, allowed, rules)
    return Refusal("does not say where it failed; name a queue with --to")


def reason_to_stay(message: FailedMessage, rules: Rules) -> str | None:
    """Return why a message is sent nowhere, whatever its headers say; None when it may be."""
    if message.problem and not message.unsendable and rules.to is None:
        return f"cannot be read ({message.problem}); it goes only where --to names a queue"
    return reason_without_copy(message)


def reason_without_copy(message: FailedMessage) -> str | None:
    """Return why neither a queue nor a file can have a copy of a message; None when they can."""
    return f"message {message.broker_id} cannot be copied: {message.unsendable}" if message.unsendable else None


def by_address(address: str, allowed: Collection[str], rules: Rules) -> Target | Refusal:
    """Return the queue that a header names, if it is allowed."""
    try:
        return allowed_or_refused(rules.canonical(address), allowed, rules)
    except OperateError:
        return Refusal(f"says that it failed at {address}, which is no queue; name one with --to")


def allowed_or_refused(address: str, allowed: Collection[str], rules: Rules) -> Target | Refusal:
    """Return the queue if it is allowed."""
    if address in allowed:
        return checked(address, rules)
    return Refusal(f"says that it failed at {address}, which nothing here confirms", address)


def by_name(name: str, allowed: Collection[str], rules: Rules) -> Target | Refusal:
    """Return the allowed queue of this name, if there is exactly one."""
    fitting = sorted(address for address in allowed if name_of(address).lower() == name.lower())
    match fitting:
        case [address]:
            return checked(address, rules)
        case []:
            return Refusal(f"says that it failed at {name}, which nothing here confirms", name)
        case _:
            return Refusal(f"says that it failed at {name}, which may be any of {', '.join(fitting)}; use --to")


def checked(address: str, rules: Rules) -> Target | Refusal:
    """Return the queue, unless it is the error queue itself."""
    if address == rules.queue:
        return Refusal("would be sent to this error queue itself; name another queue with --to")
    return Target(address)


def name_of(address: str) -> str:
    """Return the last part of a queue's address."""
    return address.rstrip("/").replace("/", ":").rpartition(":")[2]


def copy_changes(message: FailedMessage) -> Changes:
    """Return the headers that the copy sets and removes.

    It is the same message, so it keeps its id and its origin, even where so far only the broker had these for it; what is
    said about the failure goes, and the ladder starts again. A message whose body was edited is another one.
    """
    new_id = message.new_id
    removed = [
        name for name in message.headers if faults.is_left_behind(name) or name.startswith(SERVICE_CONTROL_RETRY)
    ]
    sent = {headers.TIME_SENT: headers.write_date(message.sent_at)} if message.sent_at else {}
    edited = {EDIT_OF: message.id} if new_id else {}
    return {
        **dict.fromkeys(removed),
        headers.MESSAGE_ID: new_id or message.id,
        headers.ORIGIN: None if new_id else message.headers.get(headers.ORIGIN) or message.origin,
        **sent,
        headers.REDRIVES: str(message.redrives + 1),
        **edited,
    }


def ladder_time(message: FailedMessage) -> timedelta:
    """Return how long its attempts took last time, from the first failure to the last; nothing for a single one, and the default ladder's where that is not said."""
    first = headers.read_date(message.headers, headers.FIRST_FAILED_AT)
    last = headers.read_date(message.headers, faults.TIME_OF_FAILURE)
    if first and last:
        return max(last - first, timedelta(0))
    return timedelta(0) if message.attempts == 1 else DEFAULT_LADDER
