"""List mistakes that the package does not make, each with a crowd that shows it, and the promise that it breaks there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proof.crowds.cases import GRANTING, OVERLAPPING
from proof.sqs.mutations import delete_first, never, no_seconds, send_twice, with_one_too_many, without_due_date
from recoverable import HandlerTimeout
from recoverable._flow.deadline import FOREVER
from recoverable._ladder.delivery import Delivery, last_delivery_that_runs, restore_retry_state
from recoverable.aws._order import Group, held_longest_first
from recoverable.hosting import TimeUp


@dataclass(frozen=True)
class CrowdMutation:
    """A mistake.

    Args:
        name: the mistake.
        target: what is replaced.
        by: the replacement.
        crowd: the settings of a crowd that shows it.
        breaks: the promise that it breaks, by the first word of the problem.
    """

    name: str
    target: str
    by: Callable[..., Any]
    crowd: Mapping[str, Any]
    breaks: str


def nobody(*_: object) -> None:
    """Try no message before the others."""


def one_at_a_time(deliveries: list[Delivery], _: object) -> Iterator[Group]:
    """Run one message of each batch, and hand back the others."""
    ordered = held_longest_first(deliveries)
    if ordered[1:]:
        yield ordered[1:], False
    if ordered:
        yield ordered[:1], True


def vouch_for_copies(delivery: Delivery, counter: Any, max_immediate: int) -> None:
    """Restore the retry state, but take each delivery of a copy's originals for reported."""
    delivery.carried = delivery.carried.__replace__(reported=True)
    restore_retry_state(delivery, counter, max_immediate)


def by_the_setting(delivery: Delivery, counter: Any, max_immediate: int) -> int:
    """Return the last delivery that runs, whatever a policy has granted."""
    delivery.carried = delivery.carried.__replace__(granted=0)
    return last_delivery_that_runs(delivery, counter, max_immediate)


def always(stopped: TimeUp, seconds: float, *, counts_as_failure: bool) -> HandlerTimeout:
    """Take each stop for a failure, whoever used up the time."""
    return HandlerTimeout(f"stopped after {seconds} s beside others: {counts_as_failure}, {stopped}")


def hidden_for_ever(*_: object) -> bool:
    """Take no message for lost to another delivery."""
    return False


KILLERS = {"bodies": ["kills"] * 2 + ["ok"] * 8}
TOO_LONG = {"bodies": ["kills", "too long"] + ["ok"] * 6, "immediate": 1}
BLOCKED = {"bodies": ["blocks"] + ["takes 0.1"] * 6, "front": "coroutines"}
FAILING = {"bodies": ["fails"] * 20, "delayed": 2}
NO_TIME = {"bodies": ["takes 9"] * 4 + ["fails"] * 4, "immediate": 2}
DEAD = {"bodies": ["kills"] + ["fails"] * 7, "immediate": 2}
BEATING = {"bodies": ["kills"] + ["takes 9"] * 2 + ["ok"] * 6, "heartbeat": 7.0}
STOPPED = {"bodies": ["too long"] + ["fails"] * 9, "immediate": 5, "delayed": 3}

MUTATIONS = (
    CrowdMutation("nobody is tried first", "aws._order.message_to_try_first", nobody, KILLERS, "CONVICTED"),
    CrowdMutation(
        "nobody is tried first by Powertools", "aws._order.message_to_try_first", nobody, {**KILLERS, "front": "powertools"}, "CONVICTED"
    ),
    CrowdMutation("nobody who was stopped is tried first", "aws._order.message_to_try_first", nobody, STOPPED, "RUNS"),
    CrowdMutation("all but one are handed back", "aws._order.groups", one_at_a_time, DEAD, "COPIES"),
    CrowdMutation("a copy with counts is no suspect", "aws._restoring.restore_retry_state", vouch_for_copies, TOO_LONG, "RUNS"),
    CrowdMutation("an old message is no suspect", "aws._order.hidden_for", lambda _: FOREVER, TOO_LONG, "RUNS"),
    CrowdMutation("heartbeat not reckoned with", "_observe.parts.Parts.hides_for", no_seconds, BEATING, "RUNS"),
    CrowdMutation("a stop beside others fails", "_flow.settle.classify_timeout", always, BLOCKED, "CONVICTED"),
    CrowdMutation("a hand-back counts", "_ladder.copy_headers.prior_attempts_of_deferral", with_one_too_many, NO_TIME, "ATTEMPTS"),
    CrowdMutation("sent twice", "_sqs.broker.Broker.send", send_twice, FAILING, "COPIES"),
    CrowdMutation("due date dropped", "_ladder.decision.delayed_copy", without_due_date, {**FAILING, "step": 1_000}, "EARLY"),
    CrowdMutation("complete before send", "aws._settle.send_and_delete", delete_first, {**FAILING, "faults": 3}, "LOST"),
    CrowdMutation("what was granted is forgotten", "_ladder.delivery.last_delivery_that_runs", by_the_setting, GRANTING, "COPIES"),
    CrowdMutation("what was granted is redelivered", "_ladder.decision.is_past_its_round", never, GRANTING, "ATTEMPTS"),
    CrowdMutation("nothing is lost", "aws._lease.is_lost", hidden_for_ever, OVERLAPPING, "MULTIPLY"),
)  # fmt: skip
