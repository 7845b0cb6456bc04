"""The row of ten messages that send ten each: as many calls as a batch that is written by hand."""

from __future__ import annotations

import pytest

from sending import counted


@pytest.mark.parametrize(("way", "calls"), [("ours", 10), ("batched", 10), ("each", 100)])
def test_what_is_collected_takes_as_many_calls_as_a_batch_written_by_hand(way: str, calls: int) -> None:
    assert counted(way, repeated=1).calls == calls
