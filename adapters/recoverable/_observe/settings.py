"""Hold what a user configures to observe the ladder (callbacks, metrics, traces and redaction), and the facts that callbacks get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from recoverable._frozen import Frozen, field
from recoverable._limits import checked_delay, checked_function, name_of
from recoverable._message import Message

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Literal

    from recoverable._ladder.decision import Outcome


class Facts(Frozen):
    """The facts about what was decided for one delivery of a message, without its body and the text of its exception.

    Args:
        message_id: the message's id, which stays the same over its copies.
        queue: the queue that it came from.
        attempt: the number of the attempt in its round, from 1.
        round: the number of delayed retries made before it.
        action: what becomes of the message; "complete" after a success, "deferral" for a wait that counts as no
            attempt, "undecided" where the decision itself raised, so that the message is redelivered.
        attempts: the number of attempts in each round, as the settings have it.
        delay: how long it waits; None where it does not.
        error_queue: the queue that it moves to; "" unless it moves to one.
        exception_type: the full name of the exception's type; "" without one.
        unreported: True if the failure is that earlier deliveries ended without a recorded outcome.
        rate_limited: True if it waits because the rate is limited.
        handler_time: how long the handler ran; None where it did not.
        request_id: the host's id of the invocation; "" where it gave none.
        exception: the exception itself, as the handler raised it, for callbacks; no redactor has seen it, and `repr`
            leaves it out.
    """

    message_id: str
    queue: str
    attempt: int
    round: int
    action: Outcome | Literal["complete", "undecided"]
    attempts: int = field(default=1, kw_only=True)
    delay: timedelta | None = field(default=None, kw_only=True)
    error_queue: str = field(default="", kw_only=True)
    exception_type: str = field(default="", kw_only=True)
    unreported: bool = field(default=False, kw_only=True)
    rate_limited: bool = field(default=False, kw_only=True)
    handler_time: timedelta | None = field(default=None, kw_only=True)
    request_id: str = field(default="", kw_only=True)
    exception: BaseException | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name != "exception"}
        return f"Facts({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


Callback = Callable[[Facts, Message], Awaitable[object] | object]
"""A function of the facts and the message, plain or coroutine."""

SCOPE = "recoverable"
"""The instrumentation scope of OpenTelemetry's metrics and spans."""

LONGEST_NAMESPACE = 255
"""Characters of a namespace (CloudWatch, "Specification: Embedded metric format")."""

LONGEST_CALLBACKS = timedelta(minutes=1)
"""The longest time for the callbacks of one invocation, which costs as much as its handlers' time."""


class Observe(Frozen):
    """Settings for what is reported about failures: `Recoverability(observe=Observe(on_error=page_somebody))`.

    The callbacks are functions of the facts and the message, plain or coroutine. They are called once the message is
    settled, before the endpoint returns, and at most once. Their exceptions are logged, and change nothing.

    Args:
        on_immediate_retry: called when a message is retried without delay.
        on_delayed_retry: called when a delayed retry is scheduled.
        on_error: called when a message has moved to the error queue.
        on_discard: called when a policy has discarded a message.
        callbacks_within: the time for all callbacks of an invocation, up to a minute. When it is over, a coroutine is
            cancelled; a plain function cannot be, but no further callback is called.
        redact: a function from text to text: the text of exceptions, and what brokers and stores answered, passes it
            before it reaches a log, a header, a span or the host. Where it raises, the text is left out.
        cloudwatch_namespace: on Lambda, the namespace of the metrics that are printed for CloudWatch; None to print
            none.
        metrics: False for no OpenTelemetry metrics, also where the application uses OpenTelemetry.
        traces: False for no OpenTelemetry spans, also where the application uses OpenTelemetry.
        successes: True for OpenTelemetry metrics about attempts that succeeded too, which the broker and Lambda count
            already.

    Raises:
        TypeError: a callback that cannot be called, a redactor that is no plain function, or a setting of another kind.
        ValueError: a time or a namespace out of range.
    """

    on_immediate_retry: Callback | None = field(default=None, kw_only=True)
    on_delayed_retry: Callback | None = field(default=None, kw_only=True)
    on_error: Callback | None = field(default=None, kw_only=True)
    on_discard: Callback | None = field(default=None, kw_only=True)
    callbacks_within: timedelta = field(default=timedelta(seconds=1), kw_only=True)
    redact: Callable[[str], str] | None = field(default=None, kw_only=True)
    cloudwatch_namespace: str | None = field(default="Recoverable", kw_only=True)
    metrics: bool = field(default=True, kw_only=True)
    traces: bool = field(default=True, kw_only=True)
    successes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("on_immediate_retry", "on_delayed_retry", "on_error", "on_discard"):
            if (callback := getattr(self, name)) is not None and (not callable(callback) or isinstance(callback, type)):
                raise TypeError(f"Observe({name}) is {name_of(callback)}; write a function (facts, message)")
        checked_delay("Observe(callbacks_within)", self.callbacks_within, LONGEST_CALLBACKS)
        if self.redact is not None:
            checked_function("Observe(redact)", self.redact, "a function from text to text")
        for name in ("metrics", "traces", "successes"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"Observe({name}) is {getattr(self, name)!r}; write True or False")
        if self.cloudwatch_namespace is not None:
            checked_namespace(self.cloudwatch_namespace)


def checked_namespace(namespace: object) -> None:
    """Raise an error unless the value is a namespace as CloudWatch takes it (CloudWatch, "PutMetricData", Namespace)."""
    if not isinstance(namespace, str):
        raise TypeError(f"Observe(cloudwatch_namespace) is {namespace!r}; write a name such as 'Shop', or None")
    if not namespace.strip() or namespace.startswith(("AWS/", ":")) or len(namespace) > LONGEST_NAMESPACE:
        raise ValueError(f"Observe(cloudwatch_namespace) is {namespace!r}; write up to 255 characters, not AWS/...")
