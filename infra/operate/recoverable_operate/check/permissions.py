"""Judge what the policies of a role allow: yes, no, or not to be said."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from recoverable_operate.check.known import Unknown


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a policy.

    Args:
        allow: True for Allow, False for Deny.
        actions: patterns of actions.
        resources: patterns of ARNs; None if they could not be read.
        unclear: why it cannot be said when it holds, such as a condition; empty if it always does.
    """

    allow: bool
    actions: tuple[str, ...]
    resources: tuple[str, ...] | None
    unclear: str = ""

    def concerns(self, action: str, arn: str) -> bool:
        """True if it is about this action on this resource, as far as it can be read."""
        here = any(fnmatchcase(action.lower(), pattern.lower()) for pattern in self.actions)
        return here and (self.resources is None or any(covers(pattern, arn) for pattern in self.resources))


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a role may do.

    Args:
        role: as findings name it.
        statements: of all its policies.
        unread: policies that could not be read, each with the reason.
    """

    role: str
    statements: tuple[Statement, ...]
    unread: tuple[str, ...] = ()

    def allow(self, action: str, arn: str) -> bool | Unknown:
        """Return True if the role may do this; Unknown if that depends on something that could not be read."""
        about = [each for each in self.statements if each.concerns(action, arn)]
        certain = [each for each in about if not each.unclear and each.resources is not None]
        doubts = [
            *(each.unclear or "a resource is not known before deployment" for each in about if each not in certain)
        ]
        if any(not each.allow for each in certain):
            return False
        if any(each.allow for each in certain) and all(each.allow for each in about):
            return True
        why = [*doubts, *self.unread]
        return Unknown(f"of {self.role}: {why[0]}") if why else False


def covers(pattern: str, arn: str) -> bool:
    """True if a pattern of ARNs covers one; partition, region and account are not compared, for a template does not know them."""
    if pattern == "*":
        return True
    ours, theirs = pattern.split(":", 5), arn.split(":", 5)
    if len(ours) < 6 or len(theirs) < 6:  # noqa: PLR2004  # "Amazon Resource Names", IAM
        return fnmatchcase(arn, pattern)
    return fnmatchcase(theirs[2], ours[2]) and fnmatchcase(theirs[5], ours[5])
