"""Hold and check what a user configures: how often to retry, how long to wait, and which error queue to use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta

import recoverable  # for annotations: the package imports their classes when they are first looked at
from recoverable._errors import MessageDeserializationError
from recoverable._flow.handlers import check_policy
from recoverable._frozen import Frozen, field
from recoverable._limits import (
    MAX_DELAY,
    MAX_DELAYED,
    MAX_IMMEDIATE,
    checked_count,
    checked_delay,
    checked_function,
    checked_number,
    checked_part,
    checked_queue,
    name_of,
)
from recoverable._variables import from_variables

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any, TypedDict, Unpack

    class Code(TypedDict, total=False):
        """The parts that code may give beside environment variables."""

        immediate: Immediate | Callable[[Immediate], Immediate]
        delayed: Delayed | Callable[[Delayed], Delayed]
        failed: Failed | Callable[[Failed], Failed]
        rate_limit: recoverable.RateLimit | Callable[[recoverable.RateLimit], recoverable.RateLimit | None] | None
        policy: recoverable.Policy | None
        redact: Callable[[str], str] | None


Unrecoverable = type[BaseException] | Callable[[BaseException], bool]
"""A rule of `Failed`."""


def checked_rules(rules: object) -> tuple[Any, ...]:
    """Return the exception types and predicates, each once, `MessageDeserializationError` first.

    Raises:
        TypeError: not a tuple of exception types and plain functions; the text says what to write instead.
    """
    wanted = "exception types, or functions from exception to bool"
    if callable(rules) or not hasattr(rules, "__iter__"):
        raise TypeError(f"Failed(unrecoverable) is {name_of(rules)}; write a tuple of {wanted}")
    kept: list[Any] = [MessageDeserializationError]
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, BaseException)):
            checked_function("A rule of Failed(unrecoverable)", rule, wanted)
        if rule not in kept:
            kept.append(rule)
    return tuple(kept)


class Immediate(Frozen):
    """Settings for immediate retries: the attempts that follow a failure without delay.

    Args:
        max_retries: immediate retries in each round, 0 to 994; 5 makes 6 attempts (default: NServiceBus, "Immediate
            retries"). With a custom policy, write here the most immediate retries that it grants.
        in_process: True to make the retries of a message that comes for the first time inside the same invocation,
            while it has time, without a call to the broker. A process that ends meanwhile takes their count along: the
            round then has up to `max_retries` attempts more. Ignored, with a warning, where the order of messages is
            kept.

    Raises:
        TypeError: not a whole number, or `in_process` is neither True nor False.
        ValueError: out of range.
    """

    max_retries: int = 5
    in_process: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        checked_count("Immediate(max_retries)", self.max_retries, MAX_IMMEDIATE)
        if not isinstance(self.in_process, bool):
            raise TypeError(f"Immediate(in_process) is {self.in_process!r}; write True or False")


class Delayed(Frozen):
    """Settings for delayed retries: the rounds of attempts that start after a delay.

    Args:
        max_retries: delayed retries, 0 to 1,000 (default: NServiceBus, "Delayed retries").
        time_increase: the n-th delay is n times this; up to 365 days.
        backoff: instead of `time_increase`, a function from the number of delayed retries made so far to the next
            delay, such as `Exponential`.
        jitter: the part of each delay, 0.0 to 1.0, that is random, so that messages that failed together do not come
            back together; 1.0 is the "full jitter" of "Exponential Backoff And Jitter" (AWS Architecture Blog). Jitter
            only makes a delay shorter.
        max_total_time: no more delayed retries once this long has passed since the first (the rule of NServiceBus 5).

    Raises:
        TypeError: a duration that is not a timedelta, a backoff that is not a plain function, a jitter that is not a number.
        ValueError: out of range.
    """

    max_retries: int = 3
    time_increase: timedelta = timedelta(seconds=10)
    backoff: Callable[[int], timedelta] | None = field(default=None, kw_only=True)
    jitter: float = field(default=0.0, kw_only=True)
    max_total_time: timedelta | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        checked_count("Delayed(max_retries)", self.max_retries, MAX_DELAYED)
        checked_delay("Delayed(time_increase)", self.time_increase, MAX_DELAY / max(self.max_retries, 1))
        if self.backoff is not None:
            checked_function("Delayed(backoff)", self.backoff, "a function from retries made to a timedelta")
        checked_number("Delayed(jitter)", self.jitter, 0.0, 1.0)
        if self.max_total_time is not None:
            checked_delay("Delayed(max_total_time)", self.max_total_time)


class Failed(Frozen):
    """Settings for the error queue: its name, and which failures go there at once.

    Args:
        error_queue: the queue's name, as the platform names it. When not given: the environment's
            `RECOVERABLE_ERROR_QUEUE`, else "error".
        unrecoverable: exception types (subclasses count) or predicates, in addition to `MessageDeserializationError`.

    Raises:
        TypeError: a rule that is neither an exception type nor a plain function.
        ValueError: a blank queue name.
    """

    error_queue: str | None
    unrecoverable: tuple[Unrecoverable, ...]

    def __init__(self, error_queue: str | None = None, unrecoverable: Iterable[Unrecoverable] = ()) -> None:
        if error_queue is not None:
            checked_queue("Failed(error_queue)", error_queue)
        self._assign(error_queue=error_queue, unrecoverable=checked_rules(unrecoverable))


class Recoverability(Frozen):
    """Settings for an endpoint: immediate retries, then delayed retries, then the error queue.

    Args:
        immediate: the immediate retries.
        delayed: the delayed retries.
        failed: the error queue, and which failures go there at once.
        rate_limit: when to attempt one message at a time because all of them fail; None for never.
        policy: a function that decides instead of the default policy; it may call `default_policy`.
        redact: a function from text to text: the text of exceptions, and what brokers and stores answered, passes it
            before it reaches a log, a header, an extension's report or the host. Where it raises, the text is left out.

    Raises:
        TypeError: a part of the wrong class, or a policy or redactor that is not a plain function.
    """

    immediate: Immediate = Immediate()
    delayed: Delayed = Delayed()
    failed: Failed = Failed()
    rate_limit: recoverable.RateLimit | None = field(default=None, kw_only=True)
    policy: recoverable.Policy | None = field(default=None, kw_only=True)
    redact: Callable[[str], str] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        checked_part("immediate", self.immediate, Immediate)
        checked_part("delayed", self.delayed, Delayed)
        checked_part("failed", self.failed, Failed)
        if self.rate_limit is not None:
            checked_part("rate_limit", self.rate_limit, recoverable.RateLimit)
        if self.policy is not None:
            check_policy(self.policy)
        if self.redact is not None:
            checked_function("Recoverability(redact)", self.redact, "a function from text to text")

    @classmethod
    def from_environment(cls, prefix: str = "RECOVERABLE_", **code: Unpack[Code]) -> Recoverability:
        """Return settings whose retries, error queue and rate limit the process's environment variables set.

        The code wins over the environment, and the environment over the defaults. The variables, each with the prefix:
        IMMEDIATE_RETRIES, DELAYED_RETRIES, TIME_INCREASE (10s, 5m, 1h, 1d or 00:00:10), ENABLED (false: no retries,
        failures go to the error queue at once), ERROR_QUEUE and RATE_LIMIT_AFTER (0: no rate limit).

        Args:
            prefix: how the names of the variables begin.
            code: parts as `Recoverability` takes them. A part wins as a whole, except for a `Failed` without an error
                queue, which gets the environment's. A function gets the part as the environment sets it, and returns
                the one to use; for a rate limit it is called only where the environment asks for one.

        Raises:
            TypeError: an unknown keyword, or a part of the wrong class.
            ValueError: a variable that cannot be read; the text names it and says what to write.
        """
        return from_variables(cls(), prefix, code)


def error_queue_of(owner: str, recoverability: object, setting: Callable[[str], str | None]) -> str:
    """Return the name of the error queue: as given, else the environment's RECOVERABLE_ERROR_QUEUE, else "error".

    Args:
        owner: the name of the class that was given the settings, for the error.
        recoverability: the settings.
        setting: returns an environment variable.

    Raises:
        TypeError: not a `Recoverability`.
    """
    if not isinstance(recoverability, Recoverability):
        raise TypeError(f"{owner}(recoverability) is {recoverability!r}; write Recoverability(...)")
    return recoverability.failed.error_queue or setting("RECOVERABLE_ERROR_QUEUE") or "error"
