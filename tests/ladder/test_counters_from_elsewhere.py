"""The attempts that a header claims are believed of copies that this package made, and of no other sender."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import NOW, NOW_WRITTEN, Boom, decision, delivery, platform
from recoverable._ladder.delivery import Deferral, carried_in
from recoverable._ladder.settlement import Forward
from recoverable.headers import DELAYED_RETRIES, PRIOR_ATTEMPTS

CLAIM = {"NServiceBus.MessageId": "7", "$.diagnostics.hostid": "x", DELAYED_RETRIES: "2", PRIOR_ATTEMPTS: "3"}

PLACES: dict[str, tuple[dict[str, str], int]] = {
    "another sender's": ({}, 0),
    "of a message that was first sent to this package": ({"Recoverable.Origin": "1"}, 3),
    "of a copy with no room for that": ({"Recoverable.FirstFailedAt": NOW_WRITTEN}, 3),
    "of a user's header of a like name": ({"RecoverableOrigin": "1"}, 0),
}


@pytest.mark.parametrize(("beside", "believed"), PLACES.values(), ids=PLACES)
def test_a_number_of_attempts_is_believed_beside_a_header_of_this_package(
    beside: dict[str, str], believed: int
) -> None:
    carried = carried_in(CLAIM | beside)

    assert (carried.prior_attempts, carried.round) == (believed, 2)


COPIES: dict[str, tuple[Any, dict[str, Any]]] = {
    "an immediate retry": (Boom("it broke"), {}),
    "a deferral": (Deferral(timedelta(seconds=5), "no time left"), {}),
    "of a message that was stopped": (Deferral(timedelta(0), "no time left", stopped=True), {}),
    "the deferral of a deferral": (Deferral(timedelta(hours=9), "the rate is limited"), {"held_since": NOW}),
    "a hop": (Deferral(timedelta(hours=9), "it is not yet due", hop=True), {"due_at": NOW}),
}


@pytest.mark.parametrize("shared_process", [False, True], ids=["SQS", "Service Bus"])
@pytest.mark.parametrize(("event", "more"), COPIES.values(), ids=COPIES)
def test_each_copy_that_carries_it_is_believed_without_its_origin(
    event: Any, more: dict[str, Any], *, shared_process: bool
) -> None:
    on = platform("header", shared_process=shared_process)
    made = decision(event, of=delivery(deliveries=2, prior_attempts=1, **more), on=on).settlement

    assert isinstance(made, Forward)
    texts = {name: text for name, text in made.changes.items() if text is not None}
    assert carried_in({PRIOR_ATTEMPTS: "2", **texts}).prior_attempts == 2
