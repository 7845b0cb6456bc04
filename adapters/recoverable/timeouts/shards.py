"""What is known of a shard: who dispatches it, how far it is announced and how far it is empty; its changes, pure.

A shard is a part of a store that one dispatcher at a time works on. A dispatcher that takes it announces its horizon before it reads;
whoever stores a timeout looks afterwards. So a timeout that comes too late to be read was stored before the look, or is
noted as late, and then the watermark does not pass it. What the watermark has passed already is set aside, to be tried when it is due.
"""

from __future__ import annotations

from ..frozen import Frozen

NEVER = 10**18
"""A moment that does not come."""

OLDEST = 86_400_000_000
"""Microseconds for which a new shard looks back, a day: an absurd due time must not have it look back for ever."""

LEASES_AHEAD = 2
"""How many of our own leases another's may last: clocks and settings differ a little, and what lasts longer was taken by a wrong clock."""


class Shard(Frozen):
    """A shard's state; all moments are in microseconds since 1970.

    Args:
        owner: who works on it; empty for nobody.
        until: when the owner's lease ends.
        horizon: timeouts due until then may have been taken.
        watermark: none that is due before this waits.
        late: how many were stored that were due already, as far as was announced.
        kept_at: when those that could not be dispatched are to be tried again.
    """

    __slots__ = ("horizon", "kept_at", "late", "owner", "until", "watermark")
    owner: str
    until: int
    horizon: int
    watermark: int
    late: int
    kept_at: int

    def __init__(
        self,
        *,
        owner: str = "",
        until: int = 0,
        horizon: int = 0,
        watermark: int = 0,
        late: int = 0,
        kept_at: int = NEVER,
    ) -> None:
        self._assign(owner=owner, until=until, horizon=horizon)
        self._assign(watermark=watermark, late=late, kept_at=kept_at)


def after_put(shard: Shard | None, due: int, now: int) -> Shard | None:
    """The shard after a timeout of that due time was stored; None when nothing changes."""
    if shard is None:
        return Shard(watermark=max(min(due, now), now - OLDEST))  # others may be due before a first far one
    return shard.__replace__(late=shard.late + 1) if due <= shard.horizon else None


def claimed(shard: Shard, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
    """The shard in the hands of a new owner; None while another's lease lasts, unless that was taken by a clock that is far ahead."""
    longest = LEASES_AHEAD * (until - now)
    if shard.owner not in ("", owner) and now < shard.until <= now + longest:
        return None
    return shard.__replace__(owner=owner, until=until, horizon=max(horizon, shard.horizon))


def renewed(shard: Shard, owner: str, *, until: int) -> Shard | None:
    """The shard with a longer lease; None when it has another owner."""
    return shard.__replace__(until=until) if shard.owner == owner else None


def released(shard: Shard, owner: str, *, passed: int, late: int) -> Shard | None:
    """The shard in nobody's hands, known to be empty up to `passed`, unless one came late; None when it has another owner."""
    if shard.owner != owner:
        return None
    watermark = max(shard.watermark, passed) if shard.late == late else shard.watermark
    return shard.__replace__(owner="", until=0, watermark=watermark)


def to_try_kept(shard: Shard, at: int) -> Shard:
    """The shard, whose kept timeouts are to be tried no later than at that moment."""
    return shard.__replace__(kept_at=min(shard.kept_at, at))


def set_aside(shard: Shard, at: int) -> Shard:
    """The shard after somebody other than its owner has kept a timeout in it, to be tried at that moment."""
    return to_try_kept(shard, at).__replace__(late=shard.late + 1)


def kept_tried(shard: Shard, owner: str, *, next_at: int, late: int) -> Shard | None:
    """The shard after its kept timeouts were tried, the next of them to be tried then, unless one came late; None when it has another owner."""
    if shard.owner != owner:
        return None
    if shard.late != late:
        return to_try_kept(shard, next_at)
    return shard.__replace__(kept_at=next_at)
