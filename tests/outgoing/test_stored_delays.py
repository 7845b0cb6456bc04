"""Test what handlers send with a delay that is too long for SQS: it is stored when the attempt has succeeded; in virtual time."""

from __future__ import annotations

from datetime import timedelta

from recoverable import Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import Dispatcher, StoreUnavailable, Timeouts
from recoverable_local.testing import SqsWorld, Unreachable
from recoverable_local.timeouts import SqliteStore

AN_HOUR = timedelta(hours=1)


class Away(SqliteStore):
    """A store that takes nothing until it is back."""

    away = True

    def put(self, *timeout: object, **when: object) -> str:
        """Store the timeout, or raise while the store is away."""
        if self.away:
            raise StoreUnavailable("it is away")
        return super().put(*timeout, **when)  # type: ignore[arg-type]  # passed on as it came


def minutes(world: SqsWorld, store: SqliteStore, count: int) -> None:
    """Let so many minutes pass, with a run of the dispatcher at the end of each."""
    dispatcher = Dispatcher(store, client=world.client, clock=lambda: world.now)
    for _ in range(count):
        world.run(for_=timedelta(minutes=1))
        dispatcher({}, None)


def test_what_a_handler_sends_with_a_long_delay_is_stored_and_comes_when_it_is_due(sqs_world: SqsWorld) -> None:
    store, runs, began = SqliteStore(":memory:"), list[int](), sqs_world.now

    def remind(message: Message) -> None:
        runs.append(1)
        message.send("reminders", f"remember {message.text}", delay=AN_HOUR)
        if len(runs) == 1:
            raise ConnectionError("the bank is closed")

    timeouts = Timeouts(store, clock=lambda: sqs_world.now)
    sqs_world.create_queue("reminders")
    sqs_world.serve("orders", SqsEndpoint(remind, Recoverability(Immediate(1)), timeouts=timeouts))
    sqs_world.send("orders", "order 1")

    minutes(sqs_world, store, 62)
    [reminder], [sent, *_] = sqs_world.queue("reminders"), sqs_world.timeline()
    assert timedelta(0) <= reminder.visible_at - began - AN_HOUR <= timedelta(seconds=2)
    assert (reminder.body, reminder.headers["NServiceBus.RelatedTo"], len(runs)) == (
        "remember order 1", sent.message_id, 2,
    )  # fmt: skip


def test_a_handler_that_runs_again_sends_with_a_long_delay_under_the_same_id(sqs_world: SqsWorld) -> None:
    store = SqliteStore(":memory:")
    timeouts = Timeouts(store, clock=lambda: sqs_world.now)

    def remind(message: Message) -> None:
        message.send("reminders", f"remember {message.text}", delay=AN_HOUR)

    sqs_world.create_queue("reminders")
    sqs_world.fail("settle", Unreachable(), nth=1)
    sqs_world.serve("orders", SqsEndpoint(remind, Recoverability(Immediate(1)), timeouts=timeouts))
    sqs_world.send("orders", "order 1")

    minutes(sqs_world, store, 70)  # the second run was three minutes later, and an hour from then is another time
    reminders = sqs_world.queue("reminders")
    assert (len(reminders), len({reminder.id for reminder in reminders})) == (2, 1)


def test_a_store_that_is_away_lets_the_message_wait_that_sends_with_a_long_delay(sqs_world: SqsWorld) -> None:
    store = Away(":memory:")
    timeouts = Timeouts(store, clock=lambda: sqs_world.now)

    def remind(message: Message) -> None:
        message.send("reminders", f"remember {message.text}", delay=AN_HOUR)

    sqs_world.create_queue("reminders")
    sqs_world.serve(
        "orders", SqsEndpoint(remind, Recoverability(Immediate(0)), timeouts=timeouts), recursive_loop="Allow"
    )
    sqs_world.send("orders", "order 1")
    sqs_world.run(for_=timedelta(minutes=10))
    store.away = False

    minutes(sqs_world, store, 90)
    assert [reminder.body for reminder in sqs_world.queue("reminders")] == ["remember order 1"]
    assert (sqs_world.queue("orders"), sqs_world.queue("error")) == ([], [])
