"""Name why a copy of a message was sent, from its headers and those of the message that it is a copy of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from recoverable import headers
from recoverable._ladder import faults
from recoverable_local.testing.timeline import STOPPED, Event

Headers = Mapping[str, str]


def with_reasons(events: Iterable[Event], headers_of: Callable[[str], Headers]) -> Iterator[Event]:
    """Yield the events; those of copies say first why the copy was sent: `deferred`, or the number of the delayed retry.

    Args:
        events: the events of all messages, in order.
        headers_of: the headers of a copy, given the broker's id.
    """
    received: dict[str, str] = {}
    attempts: dict[tuple[int, str], str] = {}
    for event in events:
        if event.what == "received":
            received[event.message_id] = event.broker_id
        elif event.what == "attempted":
            attempts[event.invocation, event.message_id] = event.detail
        original = received.get(event.message_id)
        if event.what != "sent" or not event.invocation or original is None:
            yield event
            continue
        attempt = attempts.get((event.invocation, event.message_id), "")
        reason = reason_of(headers_of(original), headers_of(event.broker_id), attempt)
        yield replace(event, detail=", ".join(filter(None, (reason, event.detail))))


def reason_of(before: Headers, after: Headers, attempt: str) -> str:
    """Return why a copy was sent: `delayed retry 2`, `deferred`, or nothing where the queue says it.

    Args:
        before: the headers of the message that it is a copy of.
        after: its own.
        attempt: how the attempt of this invocation ended; "" if there was none.
    """
    rounds = [headers.read_count(one, headers.DELAYED_RETRIES) for one in (before, after)]
    if faults.FAILED_QUEUE in after:
        return ""
    if rounds[1] > rounds[0]:
        return f"delayed retry {rounds[1]}"
    is_hop = headers.DUE_AT in after and before.get(headers.DUE_AT) == after[headers.DUE_AT]
    was_attempted = attempt and not (attempt.startswith(STOPPED) and headers.STOPPED in after)
    return "deferred" if headers.HELD_SINCE in after and not is_hop and not was_attempted else ""
