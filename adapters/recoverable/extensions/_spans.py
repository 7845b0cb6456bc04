"""Open one span around each run of a handler and end it with the facts, by OpenTelemetry's API where the application has loaded it."""

from __future__ import annotations

import re
import sys
from time import time_ns
from typing import TYPE_CHECKING, Any

from recoverable.headers import AWS_TRACE_HEADER, MADE_BY, write_trace_parent
from recoverable.hosting import log_observing_failed, redacted_text, traceback_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Link, Span, SpanContext

    from recoverable import Message
    from recoverable.hosting import Facts

    Redact = Callable[[str], str]

SCOPE = "recoverable"
"""The instrumentation scope of OpenTelemetry's metrics and spans."""

TRACEPARENT = r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?"
"""The form of `traceparent` (W3C, "Trace Context"), which `Diagnostic-Id` has too (Service Bus, "Distributed
tracing")."""

XRAY = r"(?=.*\bRoot=1-([0-9a-f]{8})-([0-9a-f]{24}))(?=.*\bParent=([0-9a-f]{16}))(?=.*\bSampled=([01]))?.*"
"""The form of `AWSTraceHeader` (AWS X-Ray, "Tracing header")."""


class OpenSpan:
    """A span around one run of a handler, current in its thread or task until the run has ended.

    Args:
        span: the span.
        token: what makes the surrounding one current again.
    """

    def __init__(self, span: Span, token: Any) -> None:
        self.span, self.token = span, token
        self.ended_at: int | None = None

    def __enter__(self) -> None:
        """Do nothing: it is current since it was made."""

    def __exit__(self, *_: object) -> None:
        """Make the surrounding span current again; this one ends when the message is settled, as of now."""
        self.ended_at = time_ns()
        sys.modules["opentelemetry.context"].detach(self.token)


class Tracer:
    """A maker of spans for the messages of one invocation.

    Args:
        redact: the user's redactor; None without one.
        system: OpenTelemetry's name of the broker.
        api: the module `opentelemetry.trace`.
    """

    def __init__(self, redact: Redact | None, system: str, api: Any) -> None:
        self._redact, self._system, self._api = redact, system, api
        self._tracer = api.get_tracer(SCOPE)

    def open(self, message: Message, earlier: OpenSpan | None = None) -> OpenSpan | None:
        """Return a span for a run that begins now, a child of the current one and linked to the sender; None if that fails.

        Args:
            message: the message.
            earlier: the span of its attempt before in the same invocation, whose trace this one shares.
        """
        api = self._api
        try:
            name, around = f"process {message.queue}", None
            if earlier is not None and not api.get_current_span().get_span_context().is_valid:
                around = api.set_span_in_context(earlier.span)
            span = self._tracer.start_span(name, around, kind=api.SpanKind.CONSUMER, links=self._links(message))
            token = sys.modules["opentelemetry.context"].attach(api.set_span_in_context(span))
            return OpenSpan(span, token)
        except Exception as error:  # noqa: BLE001  # logged; the handler runs without a span
            log_span_failed(error, self._redact)
            return None

    def carried(self, message: Message, opened: OpenSpan | None) -> dict[str, str]:
        """Return the headers of a copy: one names the attempt that it was made by, one keeps X-Ray's header of the sender.

        Detection of loops by Lambda travels in an `AWSTraceHeader` itself, which a copy is never given here.
        """
        made_by: dict[str, str] = {}
        if opened and (parent := write_trace_parent(opened.span.get_span_context())):
            made_by[MADE_BY] = parent
        sender = xray_header(message)
        return made_by | ({AWS_TRACE_HEADER: sender} if sender else {})

    def end(self, opened: OpenSpan, message: Message, facts: Facts | None, *, done: bool) -> None:
        """End a span with the facts about its message.

        Args:
            opened: the span.
            message: the message that the handler got.
            facts: what was decided; None where the invocation was interrupted.
            done: True if it was carried out. Only a message that has been given up is an error, because a retry may
                still succeed.
        """
        if opened.span.is_recording():
            opened.span.set_attributes(self._attributes(message, facts))
            if facts is not None and facts.exception is not None and facts.action == "move_to_error" and done:
                self._record_error(opened.span, facts, facts.exception)
        opened.span.end(opened.ended_at)

    def _links(self, message: Message) -> list[Link]:
        headers = message.headers
        named = (
            headers.get("traceparent") or headers.get("Diagnostic-Id"),
            traceparent_of_xray(xray_header(message)),
            headers.get(MADE_BY),
        )
        contexts = [self._context(text) for text in dict.fromkeys(named) if text]
        return [self._api.Link(context) for context in contexts if context is not None]

    def _context(self, text: str) -> SpanContext | None:
        """Return the span that a header names; None where the header is malformed, because headers are untrusted."""
        match = re.fullmatch(TRACEPARENT, text)
        if match is None:
            return None
        trace, span, flags = (int(part, 16) for part in match.groups())
        context: SpanContext = self._api.SpanContext(
            trace, span, is_remote=True, trace_flags=self._api.TraceFlags(flags)
        )
        return context if context.is_valid else None

    def _attributes(self, message: Message, facts: Facts | None) -> dict[str, str | int]:
        """Return the attributes by the semantic conventions for messaging, v1.44, and ours."""
        counted: dict[str, str | int] = (
            {"messaging.servicebus.message.delivery_count": facts.deliveries}
            if facts and self._system == "servicebus"
            else {}
        )
        return {
            "messaging.system": self._system,
            "messaging.operation.name": "process",
            "messaging.operation.type": "process",
            "messaging.destination.name": message.queue,
            "messaging.message.id": message.id,
            "recoverable.attempt": message.attempt,
            "recoverable.round": message.round,
            **counted,
            **({"recoverable.action": facts.action} if facts else {}),
            **({"faas.invocation_id": facts.request_id} if facts and facts.request_id else {}),
        }

    def _record_error(self, span: Span, facts: Facts, exception: BaseException) -> None:
        text = redacted_text(exception, self._redact)
        parts = {"type": facts.exception_type, "message": text, "stacktrace": traceback_of(exception, self._redact)}
        span.set_attribute("error.type", facts.exception_type)
        span.set_status(self._api.Status(self._api.StatusCode.ERROR, text))
        span.add_event("exception", {f"exception.{name}": value for name, value in parts.items()})


def tracer(redact: Redact | None, system: str) -> Tracer | None:
    """Return the tracer of an invocation; None if that fails."""
    try:
        return Tracer(redact, system, sys.modules["opentelemetry.trace"])
    except Exception as error:  # noqa: BLE001  # logged; handlers run without spans
        log_span_failed(error, redact)
        return None


def xray_header(message: Message) -> str | None:
    """Return X-Ray's header of the sender: the one that a copy carries on, else the record's own."""
    native = message.native
    system = native.get("attributes") if isinstance(native, dict) else None
    own = system.get("AWSTraceHeader") if isinstance(system, dict) else None
    header = message.headers.get(AWS_TRACE_HEADER) or own
    return header if isinstance(header, str) else None


def traceparent_of_xray(header: str | None) -> str | None:
    """Return X-Ray's header in the form of `traceparent`; None where it is absent or malformed."""
    match = re.fullmatch(XRAY, header or "")
    return match and f"00-{match[1]}{match[2]}-{match[3]}-0{match[4] or 0}"


def log_span_failed(error: Exception, redact: Redact | None) -> None:
    """Log that OpenTelemetry raised."""
    text = (
        "Opening or ending a span failed (%s). The message is handled all the same. Check the set-up of OpenTelemetry."
    )
    log_observing_failed(error, redact, text, type(error).__name__)
