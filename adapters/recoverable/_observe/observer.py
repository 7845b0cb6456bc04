"""Collect what happens in one invocation, so that it can be told once all of it is settled."""

from __future__ import annotations

import sys

from recoverable._limits import NO_DELAY

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import datetime, timedelta
    from typing import Any

    from recoverable._ladder.decision import Decision
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement
    from recoverable._message import Message
    from recoverable._observe.facts import Facts
    from recoverable._observe.settings import Observe
    from recoverable._observe.spans import OpenSpan, Tracer


class Attempt:
    """One run of a handler.

    Args:
        delivery: the delivery that it ran on; a retry in process gives it another message, so this one is kept.
        began: when it began.
    """

    __slots__ = ("began", "delivery", "handler_time", "message", "span")

    def __init__(self, delivery: Delivery, began: datetime) -> None:
        self.delivery, self.message, self.began = delivery, delivery.message, began
        self.handler_time: timedelta | None = None  # until it has ended
        self.span: OpenSpan | None = None


class Note:
    """One decision about a delivery, with the settlement that was to be done, and the message as this attempt got it."""

    __slots__ = ("attempt", "delivery", "facts", "message", "settlement")

    def __init__(self, delivery: Delivery, facts: Facts, settlement: Settlement, attempt: Attempt | None) -> None:
        self.delivery, self.facts, self.settlement, self.attempt = delivery, facts, settlement, attempt
        self.message = delivery.message


class Observer:
    """A collector for one invocation: the attempts that ran, and the decisions about them, in their order.

    Args:
        settings: what is told.
        system: OpenTelemetry's name of the broker, "aws_sqs" or "servicebus".
        clock: returns the time.
        context: Lambda's; None elsewhere.
    """

    def __init__(self, settings: Observe, system: str, clock: Callable[[], datetime], context: Any = None) -> None:
        self.settings, self.system, self.clock = settings, system, clock
        self.request_id = str(getattr(context, "aws_request_id", None) or "")
        self.milliseconds_left: Callable[[], float] | None = getattr(context, "get_remaining_time_in_millis", None)
        self.attempts: list[Attempt] = []
        self.notes: list[Note] = []
        self._latest: dict[Delivery, Attempt] = {}
        self._tracer = self._loaded_tracer()

    def attempt(
        self, delivery: Delivery, run: tuple[Message, float]
    ) -> Generator[tuple[Message, float], Any, BaseException | None]:
        """Have the handler run, and note for how long it did; return what it raised."""
        earlier = self._latest.get(delivery)
        attempt = self._latest[delivery] = Attempt(delivery, self.clock())
        self.attempts.append(attempt)
        if self._tracer is not None:
            attempt.span = self._tracer.open(delivery, earlier.span if earlier else None)
        try:
            error: BaseException | None = yield run
            return error
        finally:
            if attempt.span is not None:
                attempt.span.leave()
            attempt.handler_time = max(self.clock() - attempt.began, NO_DELAY)

    def end_span(self, attempt: Attempt, facts: Facts | None, *, done: bool) -> None:
        """End the span of an attempt, if it has one, with the facts; `done` is True if they were carried out."""
        if attempt.span is not None and self._tracer is not None:
            self._tracer.end(attempt.span, attempt.message, attempt.delivery.deliveries, facts, done=done)

    def note(self, decision: Decision) -> Settlement:
        """Note a decision, and return its settlement."""
        from recoverable._observe.noting import facts_of  # noqa: PLC0415  # the failure side

        return self._note(decision.delivery, facts_of(decision, **self._common(decision.delivery)), decision.settlement)

    def note_undecided(self, delivery: Delivery) -> Settlement:
        """Note that the decision about a delivery raised, and return the settlement for that: a redelivery."""
        from recoverable._observe.noting import UNDECIDED, facts_of_undecided  # noqa: PLC0415  # as above

        return self._note(delivery, facts_of_undecided(delivery, **self._common(delivery)), UNDECIDED)

    def note_given_up(
        self, delivery: Delivery, settlement: Settlement, exception: BaseException | None = None
    ) -> Settlement:
        """Note that a message moves to the error queue because another copy was refused, now or earlier; return its settlement.

        Args:
            delivery: the message.
            settlement: its forwarding to the error queue.
            exception: what its handler raised now; None where its headers say what it raised earlier.
        """
        from recoverable._observe.noting import facts_of_given_up  # noqa: PLC0415  # as above

        known = facts_of_given_up(delivery, settlement, exception, **self._common(delivery))
        self.notes.append(Note(delivery, known, settlement, self._latest.get(delivery)))
        return settlement

    def _common(self, delivery: Delivery) -> dict[str, Any]:
        attempt = self._latest.get(delivery)
        return {"handler_time": attempt and attempt.handler_time, "request_id": self.request_id}

    def _note(self, delivery: Delivery, facts: Facts, settlement: Settlement) -> Settlement:
        attempt = self._latest.get(delivery)
        if self._tracer is not None:
            settlement = self._tracer.carried_on(settlement, delivery, attempt.span if attempt else None)
        self.notes.append(Note(delivery, facts, settlement, attempt))
        return settlement

    def _loaded_tracer(self) -> Tracer | None:
        """Return what opens spans, where the application has loaded OpenTelemetry by now."""
        if not self.settings.traces or "opentelemetry.trace" not in sys.modules:
            return None
        from recoverable._observe.spans import tracer  # noqa: PLC0415  # imported for those who trace

        return tracer(self.settings, self.system)
