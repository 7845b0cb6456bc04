"""Test moving what waits to Service Bus, to SQS or to another store; an interruption anywhere loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import SqliteStore, Store, Timeout, Timeouts
from recoverable.timeouts.client import Sender
from recoverable.timeouts.migration.moving import CHUNK, SKIPPED_KEPT, Summary, abort, migrate, preview
from recoverable.timeouts.migration.targets import SendResult, SqsTarget, StoreTarget
from recoverable.timeouts.stores.rows import Kept, Selection
from recoverable.timeouts.stores.service_bus.store import ServiceBusTarget
from recoverable_local.service_bus import DropConnection, Operation, Queue, ServiceBusNamespace
from waiting.rows import NOW, claims, poll, stored, take
from waiting.stores import PAGE, Cloud, sqlite
from waiting.world import HOUR, MINUTE, Meddled, Shop

ALL = Selection()


class Killed(BaseException):
    """Raised when the process is killed."""


@pytest.fixture
def other() -> Iterator[Store]:
    """Return the store that timeouts are moved to."""
    with sqlite() as made:
        yield made


def moved(source: Store, target: Any, selection: Selection = ALL, *, dry_run: bool = False) -> Summary:
    """Migrate, and return the summary."""
    return migrate(source, target, selection, lambda: NOW, dry_run=dry_run, on_progress=str, on_skipped=str)


def test_a_preview_says_what_waits_and_changes_nothing(local_store: Store) -> None:
    stored(local_store, NOW + HOUR)
    last = stored(local_store, NOW + 2 * HOUR, endpoint="bank")
    summary = preview(local_store, ALL)

    assert summary.waiting == {("shop", "orders"): 1, ("bank", "orders"): 1}
    assert (summary.earliest, summary.latest) == (NOW + HOUR, last.due_at)
    assert len(take(local_store, NOW + 2 * HOUR)) == 2


def test_what_is_moved_to_another_store_is_there_and_no_more_here(store: Store, other: Store) -> None:
    made = [stored(store, NOW + HOUR + seconds(n)) for n in range(2 * PAGE)]
    assert moved(store, StoreTarget(other, "other")).changed == len(made)

    assert take(store, NOW + 2 * HOUR) == []
    assert take(other, NOW + 2 * HOUR) == made


def test_what_is_moved_back_is_where_it_was(store: Store, other: Store) -> None:
    made = stored(store, NOW + HOUR)
    moved(store, StoreTarget(other, "other"))
    assert moved(other, StoreTarget(store, "first")).changed == 1

    assert (take(other, NOW + HOUR), take(store, NOW + HOUR)) == ([], [made])


def test_what_is_moved_onto_itself_is_refused_and_comes_after_an_abort(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    summary = moved(store, StoreTarget(store, "itself"))
    abort(store, ALL, dry_run=False)

    assert dict(summary.skipped) == {
        "itself may have it (it is held there), so it stays held until migrate or abort": 1
    }
    assert take(store, NOW + HOUR) == [made]


def test_what_was_cancelled_there_is_not_taken(store: Store, other: Store) -> None:
    """A migration that ended between sending and marking goes on, and finds what became of it in the meantime."""
    made = stored(other, NOW + HOUR)
    store.put(made, now=NOW)
    store.cancel(made.id, now=NOW)
    summary = moved(other, StoreTarget(store, "there"))

    assert (summary.changed, summary.skipped.total()) == (0, 1)
    assert take(store, NOW + HOUR) == []


def test_what_is_kept_is_counted_and_left(store: Store, other: Store) -> None:
    made = stored(store, NOW)
    for claim in claims(store, NOW):
        store.keep(claim, [Kept(row, "gone") for page in store.due(claim) for row in page], retry_at=NOW + HOUR)
        store.release(claim)

    assert (
        dict(preview(store, ALL).skipped)
        == dict(moved(store, StoreTarget(other, "other")).skipped)
        == {SKIPPED_KEPT: 1}
    )
    assert (take(store, NOW + HOUR), take(other, NOW + HOUR)) == ([made], [])


def test_a_dry_run_changes_nothing(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + HOUR)

    assert moved(local_store, StoreTarget(other, "other"), dry_run=True).changed == 1
    assert (take(local_store, NOW + HOUR), take(other, NOW + HOUR)) == ([made], [])


def test_only_what_is_selected_is_moved(local_store: Store, other: Store) -> None:
    early, late = stored(local_store, NOW + HOUR), stored(local_store, NOW + 2 * HOUR)
    bank = stored(local_store, NOW + 2 * HOUR, endpoint="bank")
    moved(local_store, StoreTarget(other, "other"), Selection(NOW + 1.5 * HOUR, "shop"))

    assert take(other, NOW + 3 * HOUR) == [late]
    assert take(local_store, NOW + 3 * HOUR) == sorted([early, bank], key=lambda each: each.id)


def test_what_a_dispatcher_may_have_taken_is_left_to_it(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + MINUTE)
    poll(local_store)
    summary = moved(local_store, StoreTarget(other, "other"))

    assert summary.skipped == {"a dispatcher may have taken it, or it is cancelled": 1}
    assert take(local_store) == [made]


class Answering:
    """A target that gives one answer.

    Args:
        sent: the answer.
    """

    name = "the test"

    def __init__(self, sent: SendResult) -> None:
        self._sent, self.asked = sent, 0

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> None:
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        self.asked += 1
        return self._sent


def test_what_the_target_refuses_is_dispatched_from_where_it_is(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    said: list[str] = []
    refusing = Answering(SendResult(refused={made.id: "no"}))
    summary = migrate(store, refusing, ALL, lambda: NOW, dry_run=False, on_progress=str, on_skipped=said.append)

    assert dict(summary.skipped) == {"the test did not take it (no), so the dispatcher sees it again": 1}
    assert said == [f"{made.id}: the test did not take it (no), so the dispatcher sees it again"]
    assert take(store, NOW + HOUR) == [made]


def test_what_the_target_may_have_stays_held_until_it_is_migrated_again(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    summary = moved(local_store, Answering(SendResult(unconfirmed={made.id: "no answer"})))

    assert dict(summary.skipped) == {"the test may have it (no answer), so it stays held until migrate or abort": 1}
    assert take(local_store, NOW + HOUR) == []
    moved(local_store, StoreTarget(other, "other"))
    assert take(other, NOW + HOUR) == [made]


def test_a_target_that_gives_out_ends_the_migration_and_hides_nothing_more(local_store: Store) -> None:
    """Else one that does not answer would hide the whole store."""
    made = [stored(local_store, NOW + HOUR + seconds(n)) for n in range(2 * PAGE)]
    target = Answering(SendResult(failed="away"))
    summary = moved(local_store, target)

    assert (summary.stopped, target.asked) == ("away", 1)
    assert take(local_store, NOW + 2 * HOUR) == made


def test_what_an_aborted_migration_held_is_dispatched(local_store: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    moved(local_store, Answering(SendResult(unconfirmed={made.id: "no answer"})))
    assert (abort(local_store, ALL, dry_run=True).changed, take(local_store, NOW + HOUR)) == (1, [])

    assert abort(local_store, ALL, dry_run=False).changed == 1
    assert take(local_store, NOW + 2 * HOUR) == [made]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("aborted", [False, True])
def test_an_end_at_any_call_loses_nothing(side: str, *, aborted: bool) -> None:
    """Moved on afterwards, each fires once, for a store knows what it has; aborted, those of one chunk may fire twice."""
    for nth in count(1):
        source, target = SqliteStore(page=15), SqliteStore()
        wanted = {stored(source, NOW + HOUR + seconds(n)).id for n in range(2 * CHUNK)}
        calls = iter(range(1, 10_000))
        latest = [0]

        def die(_name: str, calls: Any = calls, latest: list[int] = latest, nth: int = nth) -> None:
            latest[0] = next(calls)
            if latest[0] == nth:
                raise Killed

        mortal: Any = Meddled(source, **{side: die})
        with suppress(Killed):
            moved(mortal, StoreTarget(Meddled(target, **{side: die}), "other"))
        if aborted:
            abort(source, ALL, dry_run=False)
        else:
            moved(source, StoreTarget(target, "other"))
        fired = [each.id for store in (source, target) for each in take(store, NOW + 2 * HOUR)]
        source.close()
        target.close()
        assert set(fired) == wanted, f"end {side} call {nth}"
        assert len(fired) - len(wanted) <= (CHUNK if aborted else 0)
        if latest[0] < nth:
            break


def test_what_is_due_soon_moves_to_sqs(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    timeouts = Timeouts(local_store, client=shop.world.client, clock=shop.now, longest_native=seconds(0))
    soon, later = shop.now() + 15 * MINUTE, shop.now() + 16 * MINUTE
    for at in (soon, later):
        timeouts.schedule("orders", "hello", at=at)
    target = SqsTarget(Sender(shop.world.client))
    summary = migrate(local_store, target, ALL, shop.now, dry_run=False, on_progress=str, on_skipped=str)

    assert [message.visible_at for message in shop.world.queue("orders")] == [soon]
    assert dict(summary.skipped) == {
        "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all": 1
    }


def test_what_sqs_refuses_stays(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    stored(local_store, shop.now() + MINUTE, to="gone")
    summary = migrate(
        local_store, SqsTarget(Sender(shop.world.client)), ALL, shop.now, dry_run=False, on_progress=str, on_skipped=str
    )

    [why] = summary.skipped
    assert why.startswith("SQS did not take it (")
    assert "NonExistentQueue" in why


def test_an_sqs_that_does_not_answer_may_have_what_was_sent(local_store: Store) -> None:
    shop = Shop(local_store, receiving=False)
    made = stored(local_store, shop.now() + MINUTE)

    def lose(_name: str) -> None:
        raise ConnectionError

    client: Any = Meddled(shop.world.client, after=lose)
    sent = SqsTarget(Sender(client)).send([made], shop.now())

    assert (sent.ids, sent.unconfirmed, sent.failed) == (set(), {made.id: sent.failed}, "ConnectionError")


@pytest.fixture
def namespace() -> Iterator[ServiceBusNamespace]:
    """Yield a namespace that has the orders queue."""
    with ServiceBusNamespace([Queue("orders")]) as running:
        yield running


@pytest.fixture
def service_bus(namespace: ServiceBusNamespace) -> Iterator[ServiceBusTarget]:
    """Return the namespace as a target."""
    target = ServiceBusTarget(namespace.connection_string)
    yield target
    target.close()


def test_what_is_moved_to_service_bus_is_scheduled_there(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    timeouts = Timeouts(local_store, clock=lambda: NOW)
    arn = "arn:aws:sqs:eu-west-1:123456789012:orders"
    timeout_id = timeouts.schedule(arn, "hello", delay=HOUR, headers={"mine": "yes"})
    assert moved(local_store, service_bus).changed == 1

    [message] = namespace.queue("orders").messages()
    properties = {str(name): value for name, value in message.application_properties.items()}
    assert (message.body, message.message_id, message.state) == (b"hello", timeout_id, "scheduled")
    assert seconds(0) <= message.enqueued_at - (NOW + HOUR) < seconds(0.001)  # AMQP writes milliseconds
    assert (properties["mine"], properties["NServiceBus.MessageId"]) == ("yes", timeout_id)


def test_a_queue_that_service_bus_does_not_have_leaves_its_messages_to_the_dispatcher(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    left = stored(local_store, NOW + HOUR, to="gone")
    stored(local_store, NOW + HOUR, to="https://sqs.eu-west-1.amazonaws.com/123456789012/orders")
    summary = moved(local_store, service_bus)

    assert (summary.changed, namespace.queue("orders").depth().scheduled) == (1, 1)
    assert dict(summary.skipped) == {
        "Service Bus did not take it (gone: MessagingEntityNotFoundError), so the dispatcher sees it again": 1
    }
    assert take(local_store, NOW + HOUR) == [left]


def test_a_message_that_service_bus_does_not_take_does_not_hold_back_others(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    large, _ = (
        stored(local_store, NOW + HOUR + seconds(n), body=body) for n, body in enumerate(["x" * 500_000, "hello"])
    )
    summary = moved(local_store, service_bus)

    assert (summary.changed, namespace.queue("orders").depth().scheduled) == (1, 1)
    assert dict(summary.skipped) == {
        "Service Bus did not take it (orders: MessageSizeExceededError), so the dispatcher sees it again": 1
    }
    assert take(local_store, NOW + HOUR) == [large]


def test_what_was_being_sent_when_a_connection_is_lost_is_in_doubt(
    local_store: Store, namespace: ServiceBusNamespace, service_bus: ServiceBusTarget
) -> None:
    doubtful = stored(local_store, NOW + HOUR)
    namespace.fail(Operation.SEND, DropConnection(done=True), times=None)
    summary = moved(local_store, service_bus)

    assert (summary.changed, summary.stopped) == (0, "orders: ServiceBusConnectionError")
    assert [row.id for page in local_store.scan(ALL) for row in page if row.held] == [doubtful.id]


def test_nothing_is_in_doubt_when_no_connection_is_made(local_store: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    with ServiceBusNamespace([Queue("orders")]) as gone:
        nowhere = ServiceBusTarget(gone.connection_string)
    summary = moved(local_store, nowhere)
    nowhere.close()

    assert (summary.changed, summary.stopped) == (0, "orders: ServiceBusConnectionError")
    assert take(local_store, NOW + HOUR) == [made]


def test_a_row_that_cannot_be_read_is_left(other: Store) -> None:
    source = SqliteStore()
    stored(source, NOW + HOUR)
    source._database.execute("UPDATE timeouts SET version = 2")
    summary = moved(source, StoreTarget(other, "other"))
    source.close()

    assert list(summary.skipped) == [
        "cannot be read: it is of version 2, and this package reads 1; deploy the newer one"
    ]


def test_a_large_message_moves_to_a_table_with_the_same_bucket(moto: Cloud) -> None:
    bucket = moto.bucket()
    source, target = moto.store(bucket=bucket), moto.store(bucket=bucket)
    made = stored(source, NOW + HOUR, body="x" * 500_000)
    moved(source, StoreTarget(target, "other"))

    assert take(target, NOW + HOUR) == [made]


def test_a_table_moves_to_a_table(moto: Cloud) -> None:
    source, target = moto.store(), moto.store()
    made = [stored(source, NOW + HOUR + seconds(n)) for n in range(PAGE)]
    moved(source, StoreTarget(target, "other"))

    assert (take(source, NOW + 1.5 * HOUR), take(target, NOW + 1.5 * HOUR)) == ([], made)
