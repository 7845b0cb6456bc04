"""Where a death takes along all that is in flight and all of it starts again together, delays after such deaths are scattered."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import Boom, decision, delivery, platform, recoverability, seconds
from recoverable import UnreportedFailure
from recoverable._ladder.settlement import Forward

LOCKSTEP = platform(shared_process=True)
SILENCE = UnreportedFailure("silence")
LADDER = recoverability(0, 2)


def delay(failure: Exception, message_id: str, *, scattered: bool = True, round_: int = 0) -> timedelta:
    """Return the delay before the next round of a message that was delivered too often."""
    beyond = delivery(id=message_id, deliveries=4, unreported=isinstance(failure, UnreportedFailure), round=round_)
    made = decision(failure, of=beyond, settings=LADDER, on=LOCKSTEP if scattered else platform())
    assert isinstance(made.settlement, Forward)
    return made.settlement.delay


def test_messages_that_died_together_come_back_apart() -> None:
    delays = {delay(SILENCE, f"m-{number}") for number in range(20)}

    assert len(delays) == 20
    assert seconds(2) <= min(delays) < seconds(2.5)
    assert seconds(3.5) < max(delays) <= seconds(4)


def test_each_round_scatters_anew() -> None:
    assert delay(SILENCE, "m-1", round_=1) != 2 * delay(SILENCE, "m-1")


def test_the_same_message_waits_the_same_time() -> None:
    assert delay(SILENCE, "m-1") == delay(SILENCE, "m-1")


@pytest.mark.parametrize(("failure", "scattered"), [(Boom("it broke"), True), (SILENCE, False)])
def test_otherwise_delays_are_those_of_the_ladder(failure: Exception, scattered: bool) -> None:  # noqa: FBT001  # the table's column
    assert delay(failure, "m-1", scattered=scattered) == seconds(2)
