"""Rehearse a redrive in both worlds: handlers fail, are mended, and get their messages back."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from operate.failing import fault_headers
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from recoverable_operate.errors import OperateError
from servers.queues import HEADERS

ONCE = Recoverability(Immediate(0), Delayed(0), Failed("error"))
KINDS, MANY = 40, 2_000


class Bank:
    """A bank that is down until it is mended, and the orders that it took."""

    def __init__(self) -> None:
        self.down, self.took = True, list[str]()

    def pay(self, message: Message) -> None:
        if self.down:
            raise ConnectionError("the bank is down")
        self.took.append(message.id)


@pytest.fixture
def bank() -> Bank:
    """Return a bank that is down."""
    return Bank()


def served(cloud: str, bank: Bank) -> Any:
    """Return a world whose orders are paid at the bank."""
    if cloud == "sqs":
        sqs = SqsWorld(seed=1)
        sqs.serve("orders", SqsEndpoint(bank.pay, ONCE))
        return sqs
    bus = ServiceBusWorld()
    bus.serve("orders", ServiceBusEndpoint(bank.pay, ONCE, queue="orders", connection="ServiceBus"))
    return bus


both_clouds = pytest.mark.parametrize("cloud", ["sqs", "service-bus"])


def allowing(cloud: str) -> dict[str, Any]:
    """Return what a redrive needs for messages that our code moved: Service Bus knows no source of those."""
    return {} if cloud == "sqs" else {"allow": ["orders"]}


@both_clouds
def test_what_failed_succeeds_once_the_bank_is_mended(cloud: str, bank: Bank) -> None:
    world = served(cloud, bank)
    sent = [world.send("orders", {"id": number}) for number in range(30)]
    world.run()
    bank.down = False

    done = world.redrive("error", **allowing(cloud))
    world.run()

    assert (done.outcome.sent, sorted(bank.took), world.queue("error")) == (30, sorted(sent), [])


@both_clouds
def test_a_message_that_is_sent_back_climbs_the_whole_ladder_again(cloud: str, bank: Bank) -> None:
    world = served(cloud, bank)
    world.send("orders", {"id": 1})
    world.run()

    world.redrive("error", **allowing(cloud))
    world.run()

    [again] = world.queue("error")
    assert (again.headers["Recoverable.Redrives"], again.headers["NServiceBus.FailedQ"]) == ("1", "orders")


@both_clouds
def test_a_canary_that_fails_again_saves_the_others_the_way(cloud: str, bank: Bank) -> None:
    world = served(cloud, bank)
    for number in range(30):
        world.send("orders", {"id": number})
    world.run()

    done = world.redrive("error", canary=3, **allowing(cloud))
    world.run()

    assert (done.outcome.sent, done.outcome.stopped, len(world.queue("error"))) == (3, "a canary came back", 30)


@both_clouds
def test_canaries_that_succeed_let_the_others_go(cloud: str, bank: Bank) -> None:
    world = served(cloud, bank)
    for number in range(30):
        world.send("orders", {"id": number})
    world.run()
    bank.down = False

    done = world.redrive("error", canary=3, **allowing(cloud))
    world.run()

    assert (done.outcome.sent, len(bank.took)) == (30, 30)


@both_clouds
def test_a_redrive_keeps_its_rate(cloud: str, bank: Bank) -> None:
    world = served(cloud, bank)
    for number in range(30):
        world.send("orders", {"id": number})
    world.run()
    began = world.now

    world.redrive("error", rate=1, **allowing(cloud))

    assert 20 <= (world.now - began).total_seconds() <= 40


@both_clouds
@pytest.mark.slow
def test_some_kinds_of_forty_are_sent_back_out_of_two_thousand(cloud: str) -> None:
    world: Any = SqsWorld(seed=1) if cloud == "sqs" else ServiceBusWorld()
    if cloud == "sqs":
        world.create_queue("orders", dead_letter_queue="error")
    else:
        world.create_queue("orders")
        world.create_queue("error", max_delivery_count=100)
    for number in range(MANY):
        headers = fault_headers(id=str(number), type=f"shop.Kind{number % KINDS}")
        attributes: Any = {HEADERS: json.dumps(headers)} if cloud == "sqs" else headers
        world.send("error", str(number), attributes=attributes)
    chosen = [f"Kind{number}" for number in range(0, KINDS, 2)] if cloud == "sqs" else ["Kind0", "Kind1"]

    done = world.redrive("error", types=chosen, rate=0, limit=100, **allowing(cloud))

    kinds = Counter(int(each.id) % KINDS for each in world.queue("orders"))
    assert (done.outcome.sent, kinds.total(), len(world.queue("error"))) == (100, 100, MANY - 100)
    assert set(kinds) <= {int(kind.removeprefix("Kind")) for kind in chosen}


@both_clouds
@pytest.mark.slow
def test_two_thousand_of_forty_kinds_are_grouped_and_sent_back(cloud: str) -> None:
    world: Any = SqsWorld(seed=1) if cloud == "sqs" else ServiceBusWorld()
    for queue in ("orders", "error") if cloud == "service-bus" else ():
        world.create_queue(queue)
    if cloud == "sqs":
        world.create_queue("orders", dead_letter_queue="error")
    for number in range(MANY):
        headers = fault_headers(id=str(number), type=f"shop.Kind{number % KINDS}")
        attributes: Any = {HEADERS: json.dumps(headers)} if cloud == "sqs" else headers
        world.send("error", str(number), attributes=attributes)

    done = world.redrive("error", rate=0, **allowing(cloud))

    assert {each.group.kind: each.count for each in done.plan.groups.values()} == {
        f"shop.Kind{number}": MANY // KINDS for number in range(KINDS)
    }
    assert (done.outcome.sent, len({each.id for each in world.queue("orders")}), world.queue("error")) == (
        MANY,
        MANY,
        [],
    )


def test_retention_that_ends_amid_the_sweep_loses_nothing_that_was_seen() -> None:
    world = SqsWorld(seed=1)
    world.create_queue("orders", dead_letter_queue="error")
    world.create_queue("error", retention=60)
    for number in range(50):
        world.send("error", str(number), attributes={HEADERS: json.dumps(fault_headers(id=str(number)))})

    done = world.redrive("error", rate=0.5)

    assert (done.outcome.sent, len(world.queue("orders")), done.outcome.complete) == (50, 50, True)


def test_messages_stay_hidden_while_a_slow_redrive_goes_on() -> None:
    world = SqsWorld(seed=1)
    world.create_queue("orders", dead_letter_queue="error")
    for number in range(120):
        world.send("error", str(number), attributes={HEADERS: json.dumps(fault_headers(id=str(number)))})
    visible: list[int] = []

    def look() -> None:
        visible.append(len(world.client.receive_message(QueueUrl="error", VisibilityTimeout=0).get("Messages", [])))

    for minute in range(5, 100, 5):
        world.at(minute * 60, look)
    done = world.redrive("error", rate=0.02)

    assert (done.outcome.sent, set(visible), len(world.queue("orders"))) == (120, {0}, 120)


def test_locks_are_held_while_a_slow_redrive_goes_on() -> None:
    world = ServiceBusWorld()
    for queue in ("orders", "error"):
        world.create_queue(queue)
    for number in range(12):
        world.send("error", str(number), attributes=fault_headers(id=str(number), type=f"Kind{number % 3}"))

    done = world.redrive("error", types=["Kind2"], rate=0.005, allow=["orders"])

    counts = [each.delivery_count for each in world.client.get_queue_receiver("error").peek_messages(20)]
    assert (done.outcome.sent, counts) == (4, [1] * 8)


def test_a_queue_that_only_few_deliveries_are_left_in_is_refused() -> None:
    world = ServiceBusWorld()
    world.create_queue("orders")
    world.create_queue("error", max_delivery_count=1)
    for number in range(2):
        world.send("error", str(number), attributes=fault_headers(id=str(number)))

    with pytest.raises(OperateError, match="a message before the chosen ones was delivered 0 times"):
        world.redrive("error", ids=["1"], allow=["orders"])
