"""Batches that outlive their locks again and again: nothing multiplies, and messages that are innocent are processed."""

from __future__ import annotations

import pytest

from proof.service_bus.locks import broken, world_of

GIVEN_UP = {156: ["INNOCENT: 5 was given up after 25 runs", "RUNS: 5 ran 25 times, 1 to 13 are allowed"]}
"""What is broken in which world: docs/limits.md has its number."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(first, first + 20) for first in range(0, 200, 20)], ids=lambda seeds: f"from {seeds.start}"
)
def test_batches_that_outlive_their_locks_multiply_nothing_and_give_up_one_innocent_in_200_worlds(seeds: range) -> None:
    found = {seed: problems for seed in seeds if (problems := list(broken(world_of(seed))))}

    assert found == {seed: problems for seed, problems in GIVEN_UP.items() if seed in seeds}


def test_nothing_multiplies_in_a_few_worlds() -> None:
    assert {seed: list(broken(world_of(seed))) for seed in range(5)} == {seed: [] for seed in range(5)}
