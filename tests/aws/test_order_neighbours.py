"""What is settled before what runs, so that a message which kills its process takes no neighbour along."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from aws.harness import Mapping, ladder, lose_deliveries, sqs_endpoint
from builders import delivery
from recoverable import Message
from recoverable._ladder.delivery import Delivery, is_unreported, last_delivery_that_runs
from recoverable.aws._order import Group, groups
from servers.faulty_proxy import FaultyProxy
from servers.queues import Queue


class Watcher:
    """A handler that notes what it was given, and how many messages had been settled by then."""

    def __init__(self, proxy: FaultyProxy) -> None:
        self._proxy = proxy
        self.runs: list[tuple[str, dict[str, int]]] = []

    def __call__(self, message: Message) -> None:
        self.runs.append((message.text, dict(self._proxy.entries)))
        if message.text.startswith("bad"):
            raise ValueError("no")


@pytest.fixture
def watcher(proxy: FaultyProxy) -> Watcher:
    return Watcher(proxy)


def settled(sent: int, deleted: int) -> dict[str, int]:
    return {"SendMessageBatch": sent, "DeleteMessageBatch": deleted}


def test_fresh_messages_are_settled_before_the_first_that_was_delivered_earlier_and_those_one_by_one(
    orders: Queue, error: Queue, proxy: FaultyProxy, watcher: Watcher
) -> None:
    for body in ("again 1", "again 2", "again 3"):
        orders.send(body)
    lose_deliveries(orders, 1)
    for body in ("good", "bad 1", "bad 2"):
        orders.send(body)

    reported = Mapping(orders, sqs_endpoint(watcher, ladder(error, immediate=0))).poll()

    fresh, again = watcher.runs[:3], watcher.runs[3:]
    assert fresh == [("good", {}), ("bad 1", {}), ("bad 2", {})]
    assert {body for body, _ in again} == {"again 1", "again 2", "again 3"}
    assert [before for _, before in again] == [settled(2, 3), settled(2, 4), settled(2, 5)]
    assert (reported, proxy.entries, orders.count()) == ([], settled(2, 5), 0)  # the last one is the mapping's


def test_a_failure_among_those_delivered_earlier_is_forwarded_before_the_next_runs(
    orders: Queue, error: Queue, proxy: FaultyProxy, watcher: Watcher
) -> None:
    for body in ("bad 1", "bad 2", "bad 3"):
        orders.send(body)
    lose_deliveries(orders, 1)

    Mapping(orders, sqs_endpoint(watcher, ladder(error))).poll()

    assert [before for _, before in watcher.runs] == [{}, settled(1, 1), settled(2, 2)]
    assert (proxy.entries, error.count()) == (settled(3, 3), 3)


def test_an_immediate_retry_is_shown_again_before_the_next_message_runs(
    orders: Queue, error: Queue, proxy: FaultyProxy, watcher: Watcher
) -> None:
    orders.send("bad")
    orders.send("bad too")
    lose_deliveries(orders, 1)

    Mapping(orders, sqs_endpoint(watcher, ladder(error, immediate=5))).poll()

    assert [before for _, before in watcher.runs] == [{}, {"ChangeMessageVisibilityBatch": 1}]
    assert proxy.entries == {"ChangeMessageVisibilityBatch": 2}


@pytest.mark.parametrize("lost", [1, 2])
def test_two_deliveries_without_a_recorded_outcome_do_not_count_as_failures(
    orders: Queue, error: Queue, watcher: Watcher, lost: int
) -> None:
    orders.send("innocent")
    lose_deliveries(orders, lost)

    Mapping(orders, sqs_endpoint(watcher, ladder(error))).run_dry()

    assert (len(watcher.runs), error.count()) == (1, 0)


def test_a_message_whose_deliveries_all_end_without_a_recorded_outcome_goes_through_its_retries_without_running(
    orders: Queue, error: Queue, watcher: Watcher
) -> None:
    orders.send("killer")
    endpoint = Mapping(orders, sqs_endpoint(watcher, ladder(error, immediate=1, delayed=1)))

    lose_deliveries(orders, 4)  # two attempts and two more that are forgiven
    endpoint.poll()
    assert (orders.count(), error.count(), watcher.runs) == (1, 0, [])  # a delayed retry

    lose_deliveries(orders, 4)
    endpoint.poll()
    (copy,) = error.arrived()

    assert (orders.count(), watcher.runs) == (0, [])
    assert copy.headers["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.UnreportedFailure"


def test_a_policy_that_grants_more_immediate_retries_lets_an_unreported_message_run_as_a_copy(
    orders: Queue, error: Queue, watcher: Watcher
) -> None:
    from recoverable import ImmediateRetry

    orders.send("slow")
    lose_deliveries(orders, 7)

    Mapping(orders, sqs_endpoint(watcher, ladder(error, policy=lambda *_: ImmediateRetry()))).run_dry()

    assert (len(watcher.runs), error.count()) == (1, 0)


IMMEDIATE, DELAYED = 2, 1
NAMES = "abcdef"


class Life:
    """One message on its way, by the rules alone: redelivered together with all that died beside it."""

    def __init__(self, name: str) -> None:
        self.name, self.deliveries, self.prior_attempts, self.round = name, 0, 0, 0

    def delivered(self) -> Delivery:
        self.deliveries += 1
        native: Any = {"messageId": self.name}
        one = delivery(
            id=self.name,
            deliveries=self.deliveries,
            prior_attempts=self.prior_attempts,
            round=self.round,
            native=native,
        )
        limit = last_delivery_that_runs(one, "native", IMMEDIATE)
        one.unreported, one.at_limit = is_unreported(one, limit), one.deliveries == limit
        one.suspect = one.deliveries > 1 or one.prior_attempts > 0
        return one

    def hand_back(self) -> None:
        """Become a copy that keeps the attempts."""
        self.prior_attempts, self.deliveries = self.prior_attempts + self.deliveries - 1, 0

    def retry_later(self) -> None:
        """Become a copy of the next round."""
        self.prior_attempts, self.deliveries, self.round = 0, 0, self.round + 1


def fates(killers: tuple[str, ...]) -> dict[str, str]:
    """Return each message's end, when all are in one batch and the killers end the process whenever they run."""
    waiting, fate = {name: Life(name) for name in NAMES}, dict[str, str]()
    while waiting:
        for group, runs in batch_of(list(waiting.values())):
            if not runs and not group[0].unreported:
                for one in group:
                    waiting[one.message.id].hand_back()
                continue
            ends = {one.message.id: end(one, killers) for one in group}
            if "dies" in ends.values():
                break  # this group and all behind it come back
            for name in [name for name, what in ends.items() if what == "next round"]:
                waiting[name].retry_later()
            fate |= {name: what for name, what in ends.items() if what != "next round"}
        waiting = {name: life for name, life in waiting.items() if name not in fate}
    return fate


def batch_of(lives: list[Life]) -> Iterator[Group]:
    """Return the groups of the batch in which all are delivered; what is past its last delivery that runs has its settlement."""
    batch = [life.delivered() for life in lives]
    if settled := [one for one in batch if one.unreported]:
        yield settled, False
    yield from groups([one for one in batch if not one.unreported], lambda: False)


def end(one: Delivery, killers: tuple[str, ...]) -> str:
    """Return how one delivery ends."""
    if one.unreported:
        return "error" if one.message.round == DELAYED else "next round"
    return "dies" if one.message.id in killers else "done"


@pytest.mark.parametrize("number", range(len(NAMES) + 1))
def test_killers_send_no_healthy_message_to_the_error_queue_however_many_they_are(number: int) -> None:
    for killers in combinations(NAMES, number):
        assert fates(killers) == {name: "error" if name in killers else "done" for name in NAMES}
