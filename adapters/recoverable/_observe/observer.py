"""Collect what happens in one invocation, and report it as spans and metrics once all of it is settled."""

from __future__ import annotations

import sys
from datetime import timedelta

from recoverable._errors import UnreportedFailure
from recoverable._frozen import Frozen
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver
from recoverable._limits import NO_DELAY
from recoverable._observe.settings import Facts, Observe

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from datetime import datetime
    from typing import Any, TypeAlias

    from recoverable._config import Recoverability
    from recoverable._ladder.decision import Decision
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement
    from recoverable._message import Message
    from recoverable._observe.spans import OpenSpan, Tracer

    Outcomes: TypeAlias = list[tuple["Note", bool]]  # each with True if it was carried out

NOTHING = Observe(cloudwatch_namespace=None, metrics=False, traces=False)
"""The settings where the user has none, and a host asks for the facts."""


class Attempt:
    """One run of a handler.

    Args:
        delivery: the delivery that it ran on; a retry in process gives it another message, so this one is kept.
        began: when it began.
    """

    def __init__(self, delivery: Delivery, began: datetime) -> None:
        self.delivery, self.message, self.began = delivery, delivery.message, began
        self.handler_time: timedelta | None = None  # until it has ended
        self.span: OpenSpan | None = None


class Note(Frozen):
    """One decision about a delivery, or the success of an attempt.

    Args:
        delivery: the delivery.
        message: its message, as this attempt got it.
        facts: the facts about the decision.
        settlement: what was to be done.
        attempt: the attempt before the decision; None without one.
        is_first: False for a second decision about one attempt, which was made because a copy was refused.
    """

    delivery: Delivery
    message: Message
    facts: Facts
    settlement: Settlement
    attempt: Attempt | None
    is_first: bool = True


class Observer:
    """A collector for one invocation: the attempts that ran, and the decisions about them, in their order.

    Args:
        recoverability: says what is reported, and how many attempts a round has.
        system: OpenTelemetry's name of the broker, "aws_sqs" or "servicebus".
        clock: returns the time.
        context: the host's; None where it gave none.
        facts_file: the path of the file that takes all facts as JSON; None for no such file.
    """

    def __init__(
        self, recoverability: Recoverability, system: str, clock: Callable[[], datetime], context: Any,
        facts_file: str | None,
    ) -> None:  # fmt: skip
        self.settings, self.system, self.clock = recoverability.observe or NOTHING, system, clock
        self.attempts_of_round, self.facts_file = recoverability.immediate.max_retries + 1, facts_file
        self.request_id = str(getattr(context, "aws_request_id", None) or getattr(context, "invocation_id", None) or "")
        self.milliseconds_left: Callable[[], float] | None = getattr(context, "get_remaining_time_in_millis", None)
        self.attempts: list[Attempt] = []
        self.notes: list[Note] = []
        self._latest: dict[Delivery, Attempt] = {}
        self._tracer = self._loaded_tracer()

    def attempt(self, run: tuple[Message, float]) -> Generator[tuple[Message, float], Any, BaseException | None]:
        """Have the handler run, and note for how long it did; return what it raised."""
        delivery = delivery_of(run[0])
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

    def note(self, decision: Decision) -> Settlement:
        """Note a decision, and return its settlement."""
        delivery, settlement, attempt = decision.delivery, decision.settlement, self._latest.get(decision.delivery)
        if self._tracer is not None:
            settlement = self._tracer.carried_on(settlement, delivery, attempt.span if attempt else None)
        facts = self._facts(
            delivery, decision.outcome, decision.failure,
            delay=decision.delay, error_queue=decision.error_queue, rate_limited=decision.rate_limited,
        )  # fmt: skip
        return self._note(delivery, settlement, facts)

    def note_undecided(self, delivery: Delivery) -> Settlement:
        """Note that the decision about a delivery raised, and return the settlement for that: a redelivery."""
        return self._note(delivery, Redeliver(None), self._facts(delivery, "undecided"))

    def note_given_up(
        self, delivery: Delivery, settlement: Settlement, exception: BaseException | None = None
    ) -> Settlement:
        """Note that a message moves to the error queue because another copy was refused, now or earlier; return its settlement.

        Args:
            delivery: the message.
            settlement: its forwarding to the error queue.
            exception: what its handler raised now; None where its headers say what it raised earlier.
        """
        from recoverable._ladder.faults import EXCEPTION_TYPE  # noqa: PLC0415  # the failure side

        queue = settlement.to if isinstance(settlement, Forward) else ""
        earlier = delivery.message.headers.get(EXCEPTION_TYPE, "")
        facts = self._facts(delivery, "move_to_error", exception, error_queue=queue, exception_type=earlier)
        return self._note(delivery, settlement, facts)

    def forget(self, deliveries: Collection[Delivery]) -> None:
        """Forget what was decided about deliveries: others decide about their messages."""
        self.notes = [note for note in self.notes if note.delivery not in deliveries]

    def report(
        self,
        unfinished: Collection[Delivery],
        settlement_of: Callable[[Delivery], Settlement | None],
        *,
        rate_limited: bool | None,
    ) -> list[Note]:
        """End the spans and report the metrics of the invocation; return the decisions that were carried out.

        What fails is logged, and changes nothing: each message is settled by now.

        Args:
            unfinished: the messages that the broker delivers again.
            settlement_of: returns how a message was settled in the end.
            rate_limited: True while the rate is limited; None where it never is.
        """
        has_spans = any(attempt.span for attempt in self.attempts)
        if not (self.notes or has_spans or self.settings.successes or rate_limited is not None or self.facts_file):
            return []
        outcomes = [(note, is_done(note, settlement_of(note.delivery), unfinished)) for note in self.notes]
        outcomes += self._successes()
        self.end_spans(outcomes)
        self._safely(self._print_metrics, outcomes, rate_limited=rate_limited)
        self._safely(self._record_metrics, outcomes, rate_limited=rate_limited)
        self._safely(self._append_facts, outcomes)
        return [note for note, done in outcomes if done]

    def end_spans(self, outcomes: Outcomes) -> None:
        """End the span of each attempt, with the last decision about it if there is one; what fails is logged."""
        self._safely(self._end_spans, outcomes)

    def _end_spans(self, outcomes: Outcomes) -> None:
        decided = {note.attempt: (note.facts, done) for note, done in outcomes}
        for attempt in self.attempts:
            if attempt.span is not None and self._tracer is not None:
                facts, done = decided.get(attempt, (None, False))
                self._tracer.end(attempt.span, attempt.message, attempt.delivery.deliveries, facts, done=done)

    def _successes(self) -> Outcomes:
        noted, found = {note.attempt for note in self.notes}, []
        for attempt in self.attempts:
            if attempt not in noted and attempt.delivery.error is None:
                facts = self._facts(attempt.delivery, "complete")
                found.append((Note(attempt.delivery, attempt.message, facts, COMPLETE, attempt), True))
        return found

    def _print_metrics(self, outcomes: Outcomes, *, rate_limited: bool | None) -> None:
        namespace = self.settings.cloudwatch_namespace
        if namespace is None or self.system != "aws_sqs" or not outcomes or not (self.notes or rate_limited):
            return  # a line costs money: there is none where nothing failed
        from recoverable._observe.metrics import print_metrics  # noqa: PLC0415  # the failure side

        now = self.clock()
        print_metrics(namespace, outcomes, rate_limited=rate_limited, request_id=self.request_id, now=now)

    def _record_metrics(self, outcomes: Outcomes, *, rate_limited: bool | None) -> None:
        if not self.settings.metrics or not outcomes or "opentelemetry.metrics" not in sys.modules:
            return
        from recoverable._observe.metrics import record_metrics  # noqa: PLC0415  # where OpenTelemetry is loaded

        wanted = outcomes if self.settings.successes else outcomes[: len(self.notes)]
        record_metrics(self.system, outcomes[0][0].facts.queue, wanted, rate_limited=rate_limited)

    def _append_facts(self, outcomes: Outcomes) -> None:
        """Append the facts to the host's file as lines of JSON, each with `done`: True if what was decided has been done.

        Durations are in seconds, and the exception is its text. It is one write, for other processes write to the file too.
        """
        if self.facts_file is None:
            return
        from json import dumps  # noqa: PLC0415  # where a host asks

        from recoverable._ladder.faults import message_of, redacted  # noqa: PLC0415  # as above

        lines = []
        for note, done in outcomes:
            error = note.facts.exception
            text = "" if error is None else redacted(message_of(error), self.settings.redact)
            line = {**vars(note.facts), "exception": text, "done": done}
            lines.append(f"{dumps(line, default=timedelta.total_seconds)}\n")
        with open(self.facts_file, "ab", buffering=0) as file:
            file.write("".join(lines).encode())

    def _facts(self, delivery: Delivery, action: Any, failure: BaseException | None = None, **more: Any) -> Facts:
        """Return the facts about a decision or a success; a failure that is given can be read."""
        if failure is not None:
            from recoverable._ladder.faults import type_name  # noqa: PLC0415  # the failure side

            more |= {"exception_type": type_name(failure), "unreported": isinstance(failure, UnreportedFailure)}
        message, attempt = delivery.message, self._latest.get(delivery)
        return Facts(
            message.id, message.queue, message.attempt, message.round, action, attempts=self.attempts_of_round,
            handler_time=attempt.handler_time if attempt else None, request_id=self.request_id,
            exception=failure, **more,
        )  # fmt: skip

    def _note(self, delivery: Delivery, settlement: Settlement, facts: Facts) -> Settlement:
        attempt = self._latest.get(delivery)
        is_first = attempt is None or all(note.attempt is not attempt for note in self.notes)
        self.notes.append(Note(delivery, delivery.message, facts, settlement, attempt, is_first))
        return settlement

    def _safely(self, report: Callable[..., None], outcomes: Outcomes, **more: object) -> None:
        """Report, and log what that raises: the messages are settled by now, whatever becomes of their metrics."""
        try:
            report(outcomes, **more)
        except Exception as error:  # noqa: BLE001  # logged
            from recoverable._observe.log import log_observing_failed  # noqa: PLC0415  # the failure side

            text = "Reporting spans, metrics or facts of an invocation failed (%s). Its messages are settled all the same. Check the set-up of OpenTelemetry, or the file that RECOVERABLE_FACTS_FILE names."
            log_observing_failed(error, self.settings.redact, text, type(error).__name__)

    def _loaded_tracer(self) -> Tracer | None:
        """Return what opens spans, where the application has loaded OpenTelemetry by now."""
        if not self.settings.traces or "opentelemetry.trace" not in sys.modules:
            return None
        from recoverable._observe.spans import tracer  # noqa: PLC0415  # where spans are wanted

        return tracer(self.settings, self.system)


def is_done(note: Note, settlement: Settlement | None, unfinished: Collection[Delivery]) -> bool:
    """True if what was decided has been done: no copy was refused, and no other settlement took its place.

    Args:
        note: the decision.
        settlement: how its message was settled in the end.
        unfinished: the messages that the broker delivers again.
    """
    redelivered = isinstance(note.settlement, Redeliver)
    if note.facts.action == "immediate_retry" and redelivered:
        return True
    undone = note.delivery in unfinished and not redelivered
    return note.settlement is settlement and not undone and note.facts.action != "undecided"
