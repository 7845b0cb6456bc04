"""Test that a trigger runs again after each interleaving of those who pause it, let it run and repair it: none is left out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest

from builders import NOW
from circuits.aws.interleaving import Actor, Found, explore, next_call, repair, start, stop
from circuits.aws.virtual_aws import NO_FAULTS, Faults, World
from recoverable._rate_limit.state import Open

LIMITED = World(circuit=Open(NOW, NOW))
"""The rate is limited, and whoever began that ended before it could pause the trigger."""

ALL_FAULTS = Faults(stale_lists=True, late_updates=True, deaths=True, stands_still=True)
"""Lists that show the state before, updates without an answer that are made later, ends at any call, and fourteen minutes for one call."""


@pytest.fixture(autouse=True)
def _searching(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Search without a log, and with the code as it is in this test."""
    caplog.set_level(logging.CRITICAL)
    next_call.cache_clear()
    yield
    next_call.cache_clear()


INTERLEAVINGS: list[tuple[World, tuple[Actor, ...], Faults, int]] = [
    # at first, who acts, what goes wrong: how many interleavings there are
    (World(), (start, stop), NO_FAULTS, 35),
    (LIMITED, (stop, repair), NO_FAULTS, 45),
    (World(), (start, stop, repair), NO_FAULTS, 24_039),
    (World(), (start, stop), ALL_FAULTS, 6_490),
    (LIMITED, (stop, repair), ALL_FAULTS, 9_024),
    (World(), (start, stop, repair), Faults(stale_lists=True), 44_367),
    (World(), (start, stop, repair), Faults(late_updates=True), 512_925),
    (World(), (start, stop, repair), Faults(stands_still=True), 264_542),
]


@pytest.mark.parametrize(("world", "actors", "faults", "interleavings"), INTERLEAVINGS)
def test_the_trigger_is_in_the_end_as_the_circuit_wants_it(
    world: World, actors: tuple[Actor, ...], faults: Faults, interleavings: int
) -> None:
    assert explore(world, *actors, faults=faults) == Found(interleavings, bad=0)


@pytest.mark.parametrize(
    ("kept", "faults"), [(timedelta(0), NO_FAULTS), (timedelta(minutes=13), Faults(stands_still=True))]
)
def test_the_search_finds_a_mark_that_is_forgotten_too_soon(
    kept: timedelta, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recoverable.circuits._pause.KEEP_MARK", kept)

    assert explore(World(), start, stop, repair, faults=faults).bad > 0
