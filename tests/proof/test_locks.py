"""Batches that outlive their locks again and again: nothing multiplies, and messages that are innocent are processed."""

from __future__ import annotations

import pytest

from proof.service_bus.locks import GIVEN_UP, broken, world_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(12), *GIVEN_UP])
def test_batches_that_outlive_their_locks_multiply_nothing_and_give_up_nobody_but_in_a_world_that_is_known(
    seed: int,
) -> None:
    assert list(broken(world_of(seed))) == GIVEN_UP.get(seed, [])
