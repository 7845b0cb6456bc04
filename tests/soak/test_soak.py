"""A short soak on each cloud: whatever goes wrong, each message is processed, or it is in the error queue."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from random import SystemRandom

import pytest

from soak import on_aws, on_azure
from soak.deeds import plan
from soak.running import Begin, soak
from soak.tally import Tally

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("soak"),
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # of what the SDK leaves open when connections drop
]

MESSAGES = 80
SHARES = {
    "succeeds": 40,
    "fails once": 10,
    "fails for a round": 25,
    "fails always": 20,
    "is rejected": 5,
    "dawdles once": 1,
    "kills once": 1,
}
"""Many fail, so that much is sent; none kills its host each time, for that takes a minute."""
EVERY = 30
"""Runs of the handler between two pranks, on average."""
PATIENCE = 240
"""Seconds; it takes a tenth of that."""
SEED = int(os.environ.get("SOAK_SEED", SystemRandom().randrange(10**6)))


def soaked(begin: Begin, folder: Path) -> Tally:
    """A short soak."""
    deeds = plan(MESSAGES, SEED, SHARES)
    found = soak(begin, folder / "ledger", deeds=deeds, seed=SEED, every=EVERY, patience=PATIENCE)
    gc.collect()  # to which the SDK leaves what it does not close
    print(f"SOAK_SEED={SEED}\n{found.table()}")  # noqa: T201  # shown where the test fails
    return found


@pytest.mark.parametrize("begin", [on_aws.begin, on_azure.begin], ids=["aws", "azure"])
def test_no_message_is_lost(begin: Begin, tmp_path: Path) -> None:
    found = soaked(begin, tmp_path)

    assert found.lost == []
    assert found.pranks.total() > 0
