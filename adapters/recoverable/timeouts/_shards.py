"""Compute a shard's state: who dispatches it, how far that was announced, and how far the shard is empty. Pure.

A shard is a part of a store that one dispatcher at a time works on. A dispatcher that claims it announces its horizon before it
reads; a writer reads the shard's state after it has stored a timeout. So when a timeout is stored too late for the dispatcher to read it, its writer
sees the claim and counts the timeout as late, and the watermark does not pass it. A timeout that is stored behind the watermark gets a pointer, by
which it is found when it is due.

The watermark passes only minutes that were over when the shard was claimed. As far as clocks agree, a timeout for now or later is then never late:
however many are stored, they hold back no watermark and need no pointers.

A dispatcher that releases a shard holds nothing of it any more, so the next one may announce an earlier horizon: a wrong clock leaves nothing
behind. A dispatcher that loses a shard may still be sending; until that must be over, its horizon counts. It also counts after a call to SQS that
got no answer.
"""

from __future__ import annotations

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import TypeAlias

    Fields: TypeAlias = dict[str, int | str]

NEVER = 10**18
"""A moment that never comes."""

NOBODY = 0
"""The value of `unsure` when no dispatcher that lost the shard can still work on it."""

OLDEST = 86_400_000_000
"""Microseconds that a new shard looks back, a day: an absurd due time must not make it look back for ever."""

LEASES_AHEAD = 2
"""The longest valid lease of another dispatcher, in leases of our own: clocks and settings differ a little, and a longer one was set by a wrong clock."""

LONGEST_RUN = 900_000_000
"""Microseconds for which a run can go on after it has lost a shard: a Lambda function runs for 15 minutes at most (Lambda quotas)."""


class Shard(Frozen):
    """A shard's state; all moments are in microseconds since 1970.

    Args:
        owner: the dispatcher that works on it; empty for none.
        until: when the owner's lease ends.
        horizon: timeouts that are due until then may have been taken.
        unsure: until then dispatchers that lost the shard may go on, or what was sent without an answer counts as sent; `NOBODY` if there is no such time.
        taken_at: when the owner, or the last one, claimed it; the watermark passes nothing that is due after that.
        watermark: no timeout that is due before this waits, except those with a pointer.
        late: the number of timeouts stored whose minute was over when the shard was claimed.
        kept_at: when the pointers are to be read next.
    """

    owner: str = field(default="", kw_only=True)
    until: int = field(default=0, kw_only=True)
    horizon: int = field(default=0, kw_only=True)
    unsure: int = field(default=NOBODY, kw_only=True)
    taken_at: int = field(default=0, kw_only=True)
    watermark: int = field(default=0, kw_only=True)
    late: int = field(default=0, kw_only=True)
    kept_at: int = field(default=NEVER, kw_only=True)


class Claim:
    """A shard that a dispatcher has claimed.

    Args:
        shard: its number.
        owner: the dispatcher.
        state: the shard's state when it was claimed.
        horizon: the dispatcher dispatches what is due until then, in microseconds since 1970.
    """

    def __init__(self, shard: int, owner: str, state: Shard, horizon: int) -> None:
        self.shard, self.owner, self.state, self.horizon = shard, owner, state, horizon
        self.empty_until = state.watermark  # everything before this was read and found empty
        self.next_kept_at = NEVER  # the earliest retry of a kept timeout, of those that were read
        self.unconfirmed = False  # True if something that still waits may have been sent


def new_shard(due: int, now: int) -> Shard:
    """Return a shard's state when its first timeout is stored. Others may be due before that one, so the watermark starts no later than now."""
    return Shard(watermark=max(min(due, now), now - OLDEST))


def claim_shard(shard: Shard, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
    """Return the shard with a new owner; None while another's lease lasts, unless a clock that is far ahead set that lease."""
    another = shard.owner not in ("", owner)
    if another and now < shard.until <= now + LEASES_AHEAD * (until - now):
        return None
    unsure = now + LONGEST_RUN if another else min(shard.unsure, now + LONGEST_RUN)
    if unsure <= now:
        unsure = NOBODY
    announced = max(horizon, shard.horizon) if unsure or shard.owner else horizon
    return shard.__replace__(owner=owner, until=until, horizon=announced, unsure=unsure, taken_at=now)


def changes_on_release(claim: Claim) -> Fields:
    """Return what changes when a shard is released. If something that waits may have been sent, its horizon counts on, as if the shard had been lost."""
    back: Fields = {"owner": "", "until": 0}
    return back | {"unsure": claim.state.taken_at + LONGEST_RUN} if claim.unconfirmed else back


def is_untaken(shard: Shard, due: int, at: int) -> bool:
    """True if no dispatcher can have taken a timeout.

    Args:
        shard: its shard.
        due: when it is due.
        at: when a dispatcher reads it: `due`, or later if it is kept. A dispatcher that lost the shard may have read it before.
    """
    return shard.horizon < at and (shard.unsure == NOBODY or shard.horizon < due)
