"""What a user configures: how often, how late and where to; every value is checked when it is made."""

from __future__ import annotations

from datetime import timedelta

from .errors import MessageDeserializationError
from .frozen import Frozen
from .handlers import ASYNC_GENERATOR, COROUTINE, GENERATOR, code_flags, name_of
from .limits import MAX_DELAY, MAX_DELAYED, MAX_IMMEDIATE, checked_count, checked_delay, checked_number

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from .policy import Policy
    from .rate_limit import RateLimit

    Backoff: TypeAlias = Callable[[int], timedelta]
    Unrecoverable: TypeAlias = type[BaseException] | Callable[[BaseException], bool]


def checked_queue(name: str, value: object, wanted: str = "the name of a queue") -> str:
    """The queue's name, or an error that says what to write instead."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; write {wanted}")
    if not value.strip():
        raise ValueError(f"{name} is blank; write {wanted}")
    return value


def checked_function(name: str, value: object, wanted: str) -> None:
    """Refuse what cannot be called, and what gives a coroutine or generator when it is: the core awaits nothing."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name} is {name_of(value)}; write {wanted}")
    if code_flags(value) & (COROUTINE | GENERATOR | ASYNC_GENERATOR):
        raise TypeError(
            f"{name} is {name_of(value)}, an async def or generator; write {wanted}, by a plain def"
        )


def checked_rules(rules: object) -> tuple[Any, ...]:
    """The exception types and predicates, each once, or an error that says what to write instead."""
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
    """The attempts that follow a failure without delay.

    Args:
        max_retries: immediate retries in each round, 0 to 994; 5 makes 6 attempts (default: NServiceBus, "Immediate retries").
            A custom policy states here the most that it grants.

    Raises:
        TypeError: not a whole number.
        ValueError: out of range.
    """

    __slots__ = ("max_retries",)
    max_retries: int

    def __init__(self, max_retries: int = 5) -> None:
        self._assign(max_retries=checked_count("Immediate(max_retries)", max_retries, MAX_IMMEDIATE))


class Delayed(Frozen):
    """The rounds that start after a delay.

    Args:
        max_retries: delayed retries, 0 to 1,000 (default: NServiceBus, "Delayed retries").
        time_increase: the n-th delay is n times this; up to 365 days.
        backoff: another way to grow: given the number of delayed retries made so far, it gives the next delay, such as `Exponential`.
        jitter: the part of each delay, 0.0 to 1.0, that is left to chance, so that what failed together does not come back together;
            1.0 is the "full jitter" of "Exponential Backoff And Jitter" (AWS Architecture Blog). A delay is only ever made shorter.
        max_total_time: no more delayed retries once this long has passed since the first (the rule of NServiceBus 5).

    Raises:
        TypeError: a duration that is no timedelta, a backoff that is no plain function, a jitter that is no number.
        ValueError: out of range.
    """

    __slots__ = ("backoff", "jitter", "max_retries", "max_total_time", "time_increase")
    max_retries: int
    time_increase: timedelta
    backoff: Backoff | None
    jitter: float
    max_total_time: timedelta | None

    def __init__(
        self,
        max_retries: int = 3,
        time_increase: timedelta = timedelta(seconds=10),
        *,
        backoff: Backoff | None = None,
        jitter: float = 0.0,
        max_total_time: timedelta | None = None,
    ) -> None:
        checked_count("Delayed(max_retries)", max_retries, MAX_DELAYED)
        checked_delay("Delayed(time_increase)", time_increase, MAX_DELAY / max(max_retries, 1))
        if backoff is not None:
            checked_function("Delayed(backoff)", backoff, "a function from retries made to a timedelta")
        checked_number("Delayed(jitter)", jitter, 0.0, 1.0)
        if max_total_time is not None:
            checked_delay("Delayed(max_total_time)", max_total_time)
        self._assign(max_retries=max_retries, time_increase=time_increase, backoff=backoff)
        self._assign(jitter=jitter, max_total_time=max_total_time)


class Failed(Frozen):
    """Where a message goes that is given up, and what is given up at once.

    Args:
        error_queue: the queue's name, as the platform names it. When not given: the environment's `RECOVERABLE_ERROR_QUEUE`, else "error".
        unrecoverable: exception types (subclasses count) or predicates, in addition to `MessageDeserializationError`.

    Raises:
        TypeError: a rule that is neither an exception type nor a plain function.
        ValueError: a blank queue name.
    """

    __slots__ = ("error_queue", "unrecoverable")
    error_queue: str | None
    unrecoverable: tuple[Unrecoverable, ...]

    def __init__(self, error_queue: str | None = None, unrecoverable: Iterable[Unrecoverable] = ()) -> None:
        if error_queue is not None:
            checked_queue("Failed(error_queue)", error_queue)
        self._assign(error_queue=error_queue, unrecoverable=checked_rules(unrecoverable))


class Recoverability(Frozen):
    """The whole ladder: at once, later, set aside.

    Args:
        immediate: the attempts without delay.
        delayed: the rounds after a delay.
        failed: the error queue and what goes there at once.
        rate_limit: what makes the endpoint attempt one message at a time while all of them fail; None for never.
        policy: decides instead of the default policy; it may call `default_policy`.

    Raises:
        TypeError: a part of another kind, or a policy that is no plain function.
    """

    __slots__ = ("delayed", "failed", "immediate", "policy", "rate_limit")
    immediate: Immediate
    delayed: Delayed
    failed: Failed
    rate_limit: RateLimit | None
    policy: Policy | None

    def __init__(
        self,
        immediate: Immediate = Immediate(),
        delayed: Delayed = Delayed(),
        failed: Failed = Failed(),
        *,
        rate_limit: RateLimit | None = None,
        policy: Policy | None = None,
    ) -> None:
        checked_part("immediate", immediate, Immediate)
        checked_part("delayed", delayed, Delayed)
        checked_part("failed", failed, Failed)
        if rate_limit is not None:
            from .rate_limit import RateLimit  # noqa: PLC0415  # imported for those who set one

            checked_part("rate_limit", rate_limit, RateLimit)
        if policy is not None:
            wanted = "a function (recoverability, error_context) -> action"
            checked_function("Recoverability(policy)", policy, wanted)
        self._assign(
            immediate=immediate, delayed=delayed, failed=failed, rate_limit=rate_limit, policy=policy
        )


def checked_part(name: str, part: object, kind: type) -> None:
    """Let a part of `Recoverability` pass.

    Raises:
        TypeError: it is of another kind.
    """
    if not isinstance(part, kind):
        raise TypeError(f"Recoverability({name}) is {part!r}; write {name}={kind.__name__}(...)")
