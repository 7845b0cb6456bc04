"""Compute a shard's state: who dispatches it, how far that was announced, and how far the shard is empty. Pure.

A shard is a part of a store that one dispatcher at a time works on. A dispatcher that takes it says so before it reads;
whoever stores a timeout looks afterwards. So a timeout that comes too late to be read was stored before the look, or is
noted as late, and then the watermark does not pass it. What the watermark has passed already is pointed to, to be tried when it is due.

The watermark passes only minutes that were over when the shard was taken. What is stored for now or later is never late then, as far as clocks
agree: however much of it comes, it holds back no watermark, and need not be pointed to.

Who gives a shard back has nothing of it any more, so that the next one may announce less: a clock that was wrong leaves nothing behind.
Who loses it may still be sending; until that must be over, what was announced counts. So it does after a call to SQS that was not answered.
"""

from __future__ import annotations

from recoverable.frozen import Frozen, field

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from typing import TypeAlias

    Fields: TypeAlias = dict[str, int | str]

NEVER = 10**18
"""A moment that does not come."""

NOBODY = 0
"""The moment until which those who lost a shard may work on it, when there are none."""

OLDEST = 86_400_000_000
"""Microseconds for which a new shard looks back, a day: an absurd due time must not have it look back for ever."""

LEASES_AHEAD = 2
"""How many of our own leases another's may last: clocks and settings differ a little, and what lasts longer was taken by a wrong clock."""

LONGEST_RUN = 900_000_000
"""Microseconds for which a run can go on after it has lost a shard: a Lambda function runs for 15 minutes at most (Lambda quotas)."""


class Shard(Frozen):
    """A shard's state; all moments are in microseconds since 1970.

    Args:
        owner: who works on it; empty for nobody.
        until: when the owner's lease ends.
        horizon: timeouts due until then may have been taken.
        unsure: until then those who lost it may work on, or what was sent without an answer counts as sent; `NOBODY` for nobody.
        taken_at: when the owner, or the last one, has taken it: it passes nothing that is due after that.
        watermark: none that is due before this waits, but for what is pointed to.
        late: how many were stored whose minute was over when it was taken.
        kept_at: when those that are pointed to are to be looked at again.
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
        state: the shard's state when it was taken.
        horizon: what is due until then is to be dispatched, in microseconds since 1970.
    """

    __slots__ = ("empty_until", "horizon", "next_kept_at", "owner", "shard", "state", "unconfirmed")

    def __init__(self, shard: int, owner: str, state: Shard, horizon: int) -> None:
        self.shard, self.owner, self.state, self.horizon = shard, owner, state, horizon
        self.empty_until = state.watermark  # how far it was read and found empty
        self.next_kept_at = NEVER  # when what is kept is to be tried again, as far as was seen
        self.unconfirmed = False  # whether something that still waits may have been sent


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
        at: when it is looked for: later than that, if it is kept. Who lost the shard may have read it before.
    """
    return shard.horizon < at and (shard.unsure == NOBODY or shard.horizon < due)
