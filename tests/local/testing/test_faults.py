"""Check that the faults of a test happen where, when and as often as it says."""

from __future__ import annotations

from datetime import timedelta
from traceback import extract_tb

import pytest

from local.testing.ladders import attempts, endpoint
from recoverable_local.testing import (
    AnswerLost,
    ClockSkewed,
    ConnectionReset,
    DeliveredTwice,
    Died,
    Fault,
    PartlyFailed,
    Raises,
    Refused,
    Slow,
    SqsWorld,
    Throttled,
    TimedOut,
    Unreachable,
    VisibilityExpired,
)
from recoverable_local.testing.engine.fault_plan import FaultPoint, ImpossibleFault

SURVIVED: dict[str, tuple[str, Fault]] = {
    "a throttled send": ("send_message_batch", Throttled()),
    "a refused send": ("send_message_batch", Refused("AccessDenied")),
    "a send to nobody": ("send_message_batch", Unreachable()),
    "a send in part": ("send_message_batch", PartlyFailed((0,))),
    "a send without an answer": ("send_message_batch", AnswerLost()),
    "a reset before the send": ("send_message_batch", ConnectionReset()),
    "a reset after the send": ("send_message_batch", ConnectionReset(done=True)),
    "a slow send": ("send_message_batch", Slow(timedelta(seconds=2))),
    "a death before the send": ("send_message_batch", Died()),
    "a hang before the send": ("send_message_batch", TimedOut()),
    "an expiry before the send": ("send_message_batch", VisibilityExpired()),
    "a throttled deletion": ("delete_message_batch", Throttled()),
    "a death before the deletion": ("delete_message_batch", Died()),
    "a refused immediate retry": ("change_message_visibility_batch", Refused("AccessDenied")),
    "a throttled invocation": ("invoke", Throttled()),
    "a death before the handler": ("invoke", Died()),
    "an exception around the handler": ("invoke", Raises(ImportError("no module"))),
    "a death at an attempt": ("attempt", Died()),
    "another exception at an attempt": ("attempt", Raises(KeyError("x"))),
    "an expiry at an attempt": ("attempt", VisibilityExpired()),
    "a clock an hour wrong": ("invoke", ClockSkewed(timedelta(hours=1))),
    "a second delivery": ("receive", DeliveredTwice()),
    "a mapping that cannot delete": ("settle", Unreachable()),
}


@pytest.mark.parametrize("case", SURVIVED)
def test_no_message_is_lost_by(sqs_world: SqsWorld, case: str) -> None:
    what, fault = SURVIVED[case]
    sqs_world.serve("orders", endpoint())
    sent = {sqs_world.send("orders", n) for n in range(3)}
    rule = sqs_world.fail(what, fault, nth=1)
    sqs_world.run()
    assert (rule.hits, {message.id for message in sqs_world.queue("orders-error")}) == (1, sent)


def test_an_outage_ends(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(delayed=0))
    sqs_world.fail("send_message_batch", Unreachable(), during=timedelta(minutes=10))
    sqs_world.send("orders", "x")
    began = sqs_world.now
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    assert message.sent_at - began >= timedelta(minutes=10)


def test_a_fault_strikes_only_where_it_belongs(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint())
    rule = sqs_world.fail("send_message_batch", Throttled(), queue="orders-error")
    sqs_world.at(60, rule.stop)
    sqs_world.send("orders", "x")
    sqs_world.run()
    failed = {event.queue for event in sqs_world.timeline() if event.what == "call failed"}
    assert (failed, len(sqs_world.queue("orders-error"))) == ({"orders-error"}, 1)


def test_a_lost_answer_is_that_of_a_send_that_was_made(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(immediate=0, delayed=0))
    sqs_world.fail("send_message_batch", AnswerLost(), nth=1)
    sent = sqs_world.send("orders", "x")
    sqs_world.run()
    assert [message.id for message in sqs_world.queue("orders-error")] == [sent, sent]


def test_a_message_delivered_twice_is_handled_twice(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: None))
    sqs_world.fail("receive", DeliveredTwice(), nth=1)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert attempts(sqs_world) == [(0, "succeeded"), (0, "succeeded")]


def test_a_message_whose_visibility_expires_is_handled_by_another_meanwhile(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: sqs_world.spend(1)))
    sqs_world.fail("attempt", VisibilityExpired(), nth=1)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert attempts(sqs_world) == [(1, "succeeded"), (1, "succeeded")]


def test_what_a_mapping_cannot_delete_comes_back(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: None))
    sqs_world.fail("settle", Unreachable(), nth=1)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert attempts(sqs_world) == [(0, "succeeded"), (180, "succeeded")]


def test_the_calls_of_a_test_do_not_fail(sqs_world: SqsWorld) -> None:
    sqs_world.fail("send_message", Throttled())
    sqs_world.send("orders", "x")
    assert len(sqs_world.queue("orders")) == 1


def test_a_clock_that_is_wrong_is_wrong_for_its_instance_only(sqs_world: SqsWorld) -> None:
    sqs_world.fail("invoke", ClockSkewed(timedelta(hours=-1)), nth=1)
    sqs_world.serve("orders", endpoint(immediate=0, delayed=0))
    sqs_world.send("orders", "x")
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    assert message.headers["NServiceBus.TimeOfFailure"] == "2025-12-31 23:00:00:000000 Z"
    assert message.sent_at.isoformat() == "2026-01-01T00:00:00+00:00"


def test_a_place_that_is_none_is_refused(sqs_world: SqsWorld) -> None:
    with pytest.raises(ValueError, match="write one of attempt, change_message_visibility"):
        sqs_world.fail("send", Throttled())


def test_a_time_before_the_first_is_refused(sqs_world: SqsWorld) -> None:
    with pytest.raises(ValueError, match=r"fail\(nth\) is 0; write 1 for the first time"):
        sqs_world.fail("send_message_batch", Throttled(), nth=0)


def test_a_fault_that_cannot_happen_there_is_refused(sqs_world: SqsWorld) -> None:
    with pytest.raises(TypeError, match="what can is DeliveredTwice"):
        sqs_world.fail("receive", Throttled())


def test_an_explorer_is_asked_at_each_point(sqs_world: SqsWorld) -> None:
    points: list[FaultPoint] = []
    sqs_world.ask_at_each_point(points.append)
    sqs_world.serve("orders", endpoint(immediate=0, delayed=0))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert [f"{point.when} {point.what}" for point in points] == [
        "before receive",
        "before invoke",
        "before attempt",
        "before get_queue_attributes",
        "after get_queue_attributes",
        "before send_message_batch",
        "after send_message_batch",
        "before delete_message_batch",
        "after delete_message_batch",
        "after invoke",
        "before settle",
    ]


def test_an_explorer_strikes_between_the_send_and_the_deletion(sqs_world: SqsWorld) -> None:
    def die_once(point: FaultPoint) -> Fault | None:
        return Died() if (point.when, point.what, point.invocation) == ("after", "send_message_batch", 1) else None

    sqs_world.ask_at_each_point(die_once)
    sqs_world.serve("orders", endpoint(immediate=0, delayed=0))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert (len(sqs_world.queue("orders-error")), len(attempts(sqs_world))) == (2, 2)


def test_an_explorer_that_asks_for_the_impossible_is_told(sqs_world: SqsWorld) -> None:
    sqs_world.ask_at_each_point(lambda point: Throttled() if point.what == "attempt" else None)
    sqs_world.serve("orders", endpoint(immediate=0, delayed=0))
    sqs_world.send("orders", "x")
    with pytest.raises(ImpossibleFault, match="cannot happen before 'attempt'"):
        sqs_world.run()


def test_an_exception_that_is_raised_at_each_attempt_has_the_frames_of_the_last_alone(sqs_world: SqsWorld) -> None:
    error = KeyError("x")
    sqs_world.serve("orders", endpoint())
    rule = sqs_world.fail("attempt", Raises(error))
    sqs_world.send("orders", "a card")
    sqs_world.run()

    assert rule.hits > 1
    assert [frame.name for frame in extract_tb(error.__traceback__)].count("apply_fault") == 1
