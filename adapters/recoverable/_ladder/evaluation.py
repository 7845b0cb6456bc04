"""Ask the user's policy for an action; where it fails, let the next simpler policy decide."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable

from recoverable._config import Failed, Recoverability
from recoverable._ladder.actions import Action, ErrorContext, MoveToError
from recoverable._ladder.faults import message_of
from recoverable._ladder.policy import Policy, default_policy

NEXT_POLICY = "The next simpler policy decides for this message."


def evaluate_policy(
    recoverability: Recoverability, context: ErrorContext, is_source: Callable[[str], bool]
) -> tuple[Action, tuple[str, ...]]:
    """Return the policy's action and no warnings.

    When it raises, returns no action, or moves the message to the queue that it came from, return the default policy's action and a
    warning.
    """
    warnings: tuple[str, ...] = ()
    for name, policy, settings in candidates(recoverability):
        try:
            action = policy(settings, context)
        except Exception as error:  # noqa: BLE001  # logged; the next policy decides
            warnings += (f"{name} raised {type(error).__name__}: {message_of(error)}. {NEXT_POLICY}",)
            continue
        if not isinstance(action, Action):
            warnings += (f"{name} returned {describe_invalid_action(action)}, which is no action. {NEXT_POLICY}",)
        elif moves_to_source(action, recoverability, is_source):
            warnings += (f"{name} returned {action}, which is the queue that the message came from. {NEXT_POLICY}",)
        else:
            return action, warnings
    return MoveToError(), warnings


def moves_to_source(action: Action, recoverability: Recoverability, is_source: Callable[[str], bool]) -> bool:
    """True if a policy would move a message to the queue that it came from, where it would fail again at once."""
    if not isinstance(action, MoveToError) or action.error_queue in {None, recoverability.failed.error_queue}:
        return False  # the configured error queue is the endpoint's to check
    return is_source(action.error_queue or "")


def describe_invalid_action(returned: object) -> str:
    """Return what a policy returned as a text for a warning; close a coroutine, for nobody will await it."""
    if isinstance(returned, Coroutine):
        returned.close()
    try:
        return repr(returned)
    except Exception:  # noqa: BLE001  # the warning then names the type alone
        return f"a {type(returned).__name__}"


def candidates(recoverability: Recoverability) -> Iterable[tuple[str, Policy, Recoverability]]:
    """Yield the policies in the order in which they are evaluated, each with its name and its settings.

    They are the user's policy, the default policy, and the default policy without the user's predicates and backoff.
    """
    if recoverability.policy is not None:
        yield "The recoverability policy", recoverability.policy, recoverability
    yield "A predicate or backoff", default_policy, recoverability
    types = [rule for rule in recoverability.failed.unrecoverable if isinstance(rule, type)]
    failed, delayed = Failed(recoverability.failed.error_queue, types), recoverability.delayed.__replace__(backoff=None)
    yield "The default policy", default_policy, recoverability.__replace__(failed=failed, delayed=delayed)
