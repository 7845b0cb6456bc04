"""Collect what happens in one invocation, so that it can be told once all of it is settled."""

from __future__ import annotations

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import datetime, timedelta
    from typing import Any

    from recoverable.message import Message
    from recoverable.observe.facts import Facts
    from recoverable.observe.settings import Observe
    from recoverable.recovery.decision import Decision
    from recoverable.recovery.delivery import Delivery
    from recoverable.recovery.settlement import Settlement


class Attempt:
    """One run of a handler.

    Args:
        began: when it began.
    """

    __slots__ = ("began", "handler_time")

    def __init__(self, began: datetime) -> None:
        self.began = began
        self.handler_time: timedelta | None = None  # until it has ended


class Note:
    """One decision about a delivery, with the settlement that was to be done."""

    __slots__ = ("attempt", "delivery", "facts", "settlement")

    def __init__(self, delivery: Delivery, facts: Facts, settlement: Settlement, attempt: Attempt | None) -> None:
        self.delivery, self.facts, self.settlement, self.attempt = delivery, facts, settlement, attempt


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
        self.attempts: dict[Delivery, Attempt] = {}
        self.notes: list[Note] = []

    def attempt(
        self, delivery: Delivery, run: tuple[Message, float]
    ) -> Generator[tuple[Message, float], Any, BaseException | None]:
        """Have the handler run, and note for how long it did; return what it raised."""
        attempt = self.attempts[delivery] = Attempt(self.clock())
        try:
            error: BaseException | None = yield run
            return error
        finally:
            attempt.handler_time = max(self.clock() - attempt.began, attempt.began - attempt.began)

    def note(self, decision: Decision) -> Settlement:
        """Note a decision, and return its settlement."""
        from recoverable.observe.noting import facts_of  # noqa: PLC0415  # the failure side

        return self._note(decision.delivery, facts_of(decision, **self._common(decision.delivery)), decision.settlement)

    def note_undecided(self, delivery: Delivery) -> Settlement:
        """Note that the decision about a delivery raised, and return the settlement for that: a redelivery."""
        from recoverable.observe.noting import UNDECIDED, facts_of_undecided  # noqa: PLC0415  # as above

        return self._note(delivery, facts_of_undecided(delivery, **self._common(delivery)), UNDECIDED)

    def note_given_up(self, delivery: Delivery, settlement: Settlement) -> Settlement:
        """Note that a message that was given up earlier moves to the error queue now, and return its settlement."""
        from recoverable.observe.noting import facts_of_given_up  # noqa: PLC0415  # as above

        return self._note(delivery, facts_of_given_up(delivery, settlement, **self._common(delivery)), settlement)

    def _common(self, delivery: Delivery) -> dict[str, Any]:
        attempt = self.attempts.get(delivery)
        return {"handler_time": attempt and attempt.handler_time, "request_id": self.request_id}

    def _note(self, delivery: Delivery, facts: Facts, settlement: Settlement) -> Settlement:
        self.notes.append(Note(delivery, facts, settlement, self.attempts.get(delivery)))
        return settlement
