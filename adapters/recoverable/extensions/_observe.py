"""Report failures beyond the log: by callbacks, and as metrics and traces."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from contextvars import Context, copy_context
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from recoverable import Message
from recoverable._frozen import Frozen, field
from recoverable._limits import NO_DELAY, checked_delay, name_of
from recoverable.extensions._metrics import print_metrics, record_metrics
from recoverable.extensions._spans import OpenSpan, Tracer, tracer
from recoverable.hosting import Facts, log_observing_failed, log_safely, within

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence
    from contextlib import AbstractContextManager

    from recoverable.hosting import Batch, Outcome, Setup

log = logging.getLogger("recoverable.observe")

Callback = Callable[[Facts, Message], Awaitable[object] | object]
"""A function of the facts and the message, plain or coroutine."""

LONGEST_NAMESPACE = 255
"""Characters of a namespace (CloudWatch, "Specification: Embedded metric format")."""

LONGEST_CALLBACKS = timedelta(minutes=1)
"""The longest time for the callbacks of one invocation, which costs as much as its handlers' time."""


class Observe(Frozen):
    """An extension that reports failures: `extensions=(Observe(on_error=page_somebody),)`.

    The callbacks are functions of the facts and the message, plain or coroutine. They are called once the message is
    settled, before the endpoint returns, and at most once. Their exceptions are logged, and change nothing.

    Args:
        on_immediate_retry: called when a message is retried without delay.
        on_delayed_retry: called when a delayed retry is scheduled.
        on_error: called when a message has moved to the error queue.
        on_discard: called when a policy has discarded a message.
        callbacks_within: the time for all callbacks of an invocation, up to a minute. When it is over, a coroutine is
            cancelled; a plain function cannot be, but no further callback is called.
        cloudwatch_namespace: on Lambda, the namespace of the metrics that are printed for CloudWatch; None to print
            none.
        metrics: False for no OpenTelemetry metrics, also where the application uses OpenTelemetry.
        traces: False for no OpenTelemetry spans, also where the application uses OpenTelemetry.
        successes: True for OpenTelemetry metrics about attempts that succeeded too, which the broker and Lambda count
            already.

    Raises:
        TypeError: a callback that cannot be called, or a setting of another kind.
        ValueError: a time or a namespace out of range.
    """

    on_immediate_retry: Callback | None = field(default=None, kw_only=True)
    on_delayed_retry: Callback | None = field(default=None, kw_only=True)
    on_error: Callback | None = field(default=None, kw_only=True)
    on_discard: Callback | None = field(default=None, kw_only=True)
    callbacks_within: timedelta = field(default=timedelta(seconds=1), kw_only=True)
    cloudwatch_namespace: str | None = field(default="Recoverable", kw_only=True)
    metrics: bool = field(default=True, kw_only=True)
    traces: bool = field(default=True, kw_only=True)
    successes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("on_immediate_retry", "on_delayed_retry", "on_error", "on_discard"):
            if (callback := getattr(self, name)) is not None and (not callable(callback) or isinstance(callback, type)):
                raise TypeError(f"Observe({name}) is {name_of(callback)}; write a function (facts, message)")
        checked_delay("Observe(callbacks_within)", self.callbacks_within, LONGEST_CALLBACKS)
        for name in ("metrics", "traces", "successes"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"Observe({name}) is {getattr(self, name)!r}; write True or False")
        if self.cloudwatch_namespace is not None:
            checked_namespace(self.cloudwatch_namespace)

    def prepare(self, setup: Setup) -> None:
        """Refuse to serve an endpoint that has another.

        Raises:
            ValueError: it has.
        """
        if sum(isinstance(each, Observe) for each in setup.extensions) > 1:
            raise ValueError(f"{setup.owner}(extensions) has Observe twice; put all into one")

    def open(self, batch: Batch) -> Observing:
        """Observe an invocation."""
        return Observing(self, batch)


def checked_namespace(namespace: object) -> None:
    """Raise an error unless the value is a namespace as CloudWatch takes it (CloudWatch, "PutMetricData", Namespace)."""
    if not isinstance(namespace, str):
        raise TypeError(f"Observe(cloudwatch_namespace) is {namespace!r}; write a name such as 'Shop', or None")
    if not namespace.strip() or namespace.startswith(("AWS/", ":")) or len(namespace) > LONGEST_NAMESPACE:
        raise ValueError(f"Observe(cloudwatch_namespace) is {namespace!r}; write up to 255 characters, not AWS/...")


CALLBACKS = {
    "immediate_retry": "on_immediate_retry",
    "delayed_retry": "on_delayed_retry",
    "move_to_error": "on_error",
    "discard": "on_discard",
}
"""The callback for each action."""

LAST_MOMENT = timedelta(milliseconds=200)
"""The part of Lambda's time that is left for its answer."""

NO_TIME = (
    "No time is left for %d callbacks of this invocation. They are not called; their messages are settled. Raise Observe(callbacks_within), "
    "or do less in them."
)
CALLBACK_FAILED = (
    "Calling %s for message '%s' failed (%s). The message is settled all the same. Check the function in Observe(%s)."
)
REPORTING_FAILED = "Reporting spans or metrics of an invocation failed (%s). Its messages are settled all the same. Check the set-up of OpenTelemetry."


class Observing:
    """The part of `Observe` in one invocation.

    Args:
        settings: what is reported.
        batch: the invocation's messages.
    """

    def __init__(self, settings: Observe, batch: Batch) -> None:
        self._settings, self._batch = settings, batch
        self._system = "aws_sqs" if batch.cloud == "aws" else "servicebus"
        self._spans: dict[Message, OpenSpan] = {}
        self._latest: dict[str, OpenSpan] = {}
        self._contexts: dict[Message, Context] = {}
        # where the application has loaded OpenTelemetry by now
        wanted = settings.traces and "opentelemetry.trace" in sys.modules
        self._tracer: Tracer | None = tracer(batch.redact, self._system) if wanted else None

    def attempt(self, messages: tuple[Message, ...]) -> AbstractContextManager[object]:
        """Have a span around one run of the handler, current in it."""
        (message,) = messages
        if self._tracer is None:
            return nullcontext()
        span = self._tracer.open(message, self._latest.get(message.id))
        if span is None:
            return nullcontext()
        self._spans[message] = self._latest[message.id] = span
        return span

    def copy(self, message: Message, _: Facts) -> dict[str, str]:
        """Return the headers by which the attempts of a message's copies are linked to this one."""
        return {} if self._tracer is None else self._tracer.carried(message, self._latest.get(message.id))

    def decided(self, _: Facts, message: Message) -> None:
        """Keep what the handler has set in its context (`contextvars`) for the callback."""
        self._contexts[message] = copy_context()

    def settled(self, outcomes: Sequence[Outcome]) -> Iterator[Callable[[], Coroutine[Any, Any, None] | None]]:
        """End the spans, report the metrics, and yield the callbacks of the decisions that were carried out."""
        decided = [each for each in outcomes if each.facts.action != "complete"]
        self._safely(self._end_spans, outcomes)
        self._safely(self._print_metrics, outcomes, decided)
        self._safely(self._record_metrics, outcomes, decided)
        return self._callbacks([each for each in decided if each.done])

    def close(self) -> None:
        """End the spans of an invocation that was interrupted."""
        self._safely(self._end_spans, ())

    def _end_spans(self, outcomes: Sequence[Outcome]) -> None:
        if self._tracer is None:
            return
        told = {each.message: each for each in outcomes}
        while self._spans:
            message, span = self._spans.popitem()
            outcome = told.get(message)
            self._tracer.end(
                span, message, outcome.facts if outcome else None, done=outcome is not None and outcome.done
            )

    def _print_metrics(self, outcomes: Sequence[Outcome], decided: Sequence[Outcome]) -> None:
        namespace, limited = self._settings.cloudwatch_namespace, self._batch.is_limited()
        if namespace is None or self._batch.cloud != "aws" or not outcomes or not (decided or limited):
            return  # a line costs money: there is none where nothing failed
        print_metrics(
            namespace, outcomes, rate_limited=limited, request_id=self._batch.request_id, now=self._batch.clock()
        )

    def _record_metrics(self, outcomes: Sequence[Outcome], decided: Sequence[Outcome]) -> None:
        if not self._settings.metrics or not outcomes or "opentelemetry.metrics" not in sys.modules:
            return
        wanted = outcomes if self._settings.successes else decided
        record_metrics(self._system, self._batch.queue, wanted, rate_limited=self._batch.is_limited())

    def _safely(self, report: Callable[..., None], *outcomes: Sequence[Outcome]) -> None:
        """Report, and log what that raises, so that the callbacks are called all the same."""
        try:
            report(*outcomes)
        except Exception as error:  # noqa: BLE001  # logged
            log_observing_failed(error, self._batch.redact, REPORTING_FAILED, type(error).__name__)

    def _callbacks(self, done: list[Outcome]) -> Iterator[Callable[[], Coroutine[Any, Any, None] | None]]:
        """Yield a function for each callback of a decision, until the time for callbacks is over; it returns what is still to be awaited, or None."""
        named = [(CALLBACKS.get(each.facts.action, ""), each) for each in done]
        wanted = [(name, each) for name, each in named if getattr(self._settings, name, None) is not None]
        if not wanted:
            return
        left = timedelta(seconds=min(self._batch.time_left(), LONGEST_CALLBACKS.total_seconds() + 1)) - LAST_MOMENT
        ends = self._batch.clock() + min(self._settings.callbacks_within, left)
        for place, (name, each) in enumerate(wanted):
            left = ends - self._batch.clock()
            if left <= NO_DELAY:
                log_safely(log.warning, NO_TIME, len(wanted) - place, redact=self._batch.redact)
                return
            yield partial(self._call_back, name, each, left.total_seconds())

    def _call_back(self, name: str, outcome: Outcome, seconds: float) -> Coroutine[Any, Any, None] | None:
        """Call one callback, and log what it raises; return what is still to be awaited of it, or None."""
        callback: Callable[..., Any] = getattr(self._settings, name)
        try:
            context = self._contexts.get(outcome.message) or copy_context()
            result = context.run(callback, outcome.facts, outcome.message)
        except BaseException as error:  # noqa: BLE001  # logged; the message is settled, whatever a callback raises
            self._log_failed(name, outcome, error)
            return None
        return self._await(name, outcome, result, seconds) if hasattr(result, "__await__") else None

    async def _await(self, name: str, outcome: Outcome, result: Awaitable[Any], seconds: float) -> None:
        """Await what a callback returned until its time is up, and log what it raises."""
        try:
            await within(seconds, result)
        except BaseException as error:  # noqa: BLE001  # logged; the message is settled, whatever a callback raises
            self._log_failed(name, outcome, error)

    def _log_failed(self, name: str, outcome: Outcome, error: BaseException) -> None:
        """Log that a callback raised, or was cancelled because its time was up."""
        facts = outcome.facts
        log_observing_failed(
            error, self._batch.redact, CALLBACK_FAILED, name, facts.message_id, type(error).__name__, name
        )
