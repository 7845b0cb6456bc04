"""Test a store that does not answer: it is asked again each second, logged in NServiceBus's words, and a critical error follows after two minutes."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import CriticalError, Dispatcher, Store, StoreUnavailable
from recoverable.timeouts._dispatcher import Circuit
from recoverable_local.timeouts import SqliteStore
from waiting.rows import NOW
from waiting.stores import Cloud
from waiting.world import HOUR, MINUTE, Meddled, Shop

ARMED = "The circuit breaker for TimeoutStorageConnectivity is now in the armed state"
DISARMED = "The circuit breaker for TimeoutStorageConnectivity is now disarmed"
TRIGGERED = "The circuit breaker for TimeoutStorageConnectivity will now be triggered"
CRITICAL = "Repeated failures when fetching timeouts from storage, endpoint will be terminated."
FAILED = "Failed to fetch timeouts from the timeout storage: down"
DOWN = StoreUnavailable("down")


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged about the circuit."""
    return [record.getMessage() for record in caplog.records if record.name == "recoverable.timeouts"]


def test_the_first_failure_arms_it_and_a_success_disarms_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    circuit = Circuit()
    circuit.failed(DOWN, NOW)
    circuit.failed(DOWN, NOW + seconds(119))
    circuit.succeeded()

    assert (logged(caplog), circuit.armed_since) == ([FAILED, ARMED, FAILED, DISARMED], None)


def test_two_minutes_later_it_is_critical(caplog: pytest.LogCaptureFixture) -> None:
    circuit = Circuit()
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError, match=CRITICAL):
        circuit.failed(DOWN, NOW + seconds(120))
    assert logged(caplog) == [FAILED, ARMED, FAILED, TRIGGERED, CRITICAL]


def test_the_time_is_a_setting() -> None:
    circuit = Circuit(timedelta(seconds=5))
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError):
        circuit.failed(DOWN, NOW + seconds(5))


def test_a_success_starts_the_time_anew() -> None:
    circuit = Circuit()
    circuit.failed(DOWN, NOW)
    circuit.succeeded()
    circuit.failed(DOWN, NOW + seconds(120))

    assert circuit.armed_since == NOW + seconds(120)


def test_the_hook_gets_the_error_before_it_is_raised() -> None:
    got: list[CriticalError] = []
    circuit = Circuit(on_critical=got.append)
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError) as raised:
        circuit.failed(DOWN, NOW + seconds(120))
    assert (got, raised.value.__cause__) == ([raised.value], DOWN)


def test_a_hook_that_fails_does_not_hide_the_error(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_error: CriticalError) -> None:
        raise RuntimeError("no pager")

    circuit = Circuit(on_critical=fail)
    circuit.failed(DOWN, NOW)

    with pytest.raises(CriticalError):
        circuit.failed(DOWN, NOW + seconds(120))
    assert "on_critical raised RuntimeError; the critical error is raised all the same" in logged(caplog)


class Sick:
    """A hook that has a store fail while it is set to be down."""

    def __init__(self) -> None:
        self.down = False

    def __call__(self, _name: str) -> None:
        if self.down:
            raise DOWN


@pytest.fixture
def sick() -> Sick:
    return Sick()


@pytest.fixture
def shop(sick: Sick, local_store: Store) -> Shop:
    """Return a shop whose store can be down."""
    store: Any = Meddled(local_store, before=sick)
    return Shop(store)


def test_a_run_asks_again_each_second_while_it_has_time(
    shop: Shop, sick: Sick, caplog: pytest.LogCaptureFixture
) -> None:
    sick.down = True
    report = shop.dispatch()

    assert report is not None
    assert (report.finished, logged(caplog).count(FAILED)) == (False, 40)


def test_a_run_goes_on_when_the_store_answers_again(shop: Shop, sick: Sick) -> None:
    shop.timeouts.schedule("orders", "hello", delay=HOUR)
    shop.world.run(for_=HOUR)
    sick.down = True
    waits = []

    def wait(duration: float) -> None:
        waits.append(duration)
        sick.down = len(waits) < 3

    report = shop.new_dispatcher(sleep=wait).run()

    assert (waits, report.dispatched, report.finished) == ([1.0, 1.0, 1.0], 1, True)


def test_nothing_is_lost_when_a_store_is_down_for_two_hours(shop: Shop, sick: Sick) -> None:
    began = shop.now()
    scheduled = {shop.timeouts.schedule("orders", "hello", delay=HOUR + 3 * n * MINUTE) for n in range(60)}
    shop.world.at(HOUR + seconds(30), lambda: setattr(sick, "down", True))
    shop.world.at(3 * HOUR + seconds(30), lambda: setattr(sick, "down", False))
    shop.run_each_minute(5 * HOUR)

    assert set(shop.arrived) == scheduled
    assert [len(times) for times in shop.arrived.values()] == [1] * 60
    assert shop.critical[0] - began == HOUR + 3 * MINUTE  # two minutes after the first failure
    assert len(shop.critical) == 118


def test_what_is_scheduled_while_a_store_is_down_is_not_taken_for_stored(shop: Shop, sick: Sick) -> None:
    sick.down = True

    with pytest.raises(StoreUnavailable, match="down"):
        shop.timeouts.schedule("orders", "hello", delay=HOUR)
    with pytest.raises(StoreUnavailable, match="down"):
        shop.timeouts.hold({"MessageBody": "copy"}, to="orders", at=shop.world.now + HOUR)


def test_a_database_that_is_gone_is_an_unavailable_store(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "timeouts.sqlite")
    store.close()

    with pytest.raises(StoreUnavailable, match="SQLite: Cannot operate on a closed database"):
        store.ids_by_correlation("saga-1")


def test_a_database_that_cannot_be_made_is_told(tmp_path: Any) -> None:
    with pytest.raises(StoreUnavailable, match="SQLite: unable to open database file"):
        SqliteStore(tmp_path / "missing" / "timeouts.sqlite")


def test_a_table_that_is_missing_is_an_unavailable_store(moto: Cloud) -> None:
    store = moto.store()
    moto.client("dynamodb").delete_table(TableName=store._table.name)
    run = Dispatcher(store, clock=lambda: NOW, critical_after=timedelta(microseconds=1))

    with pytest.raises(StoreUnavailable, match=r"DynamoDB: .*ResourceNotFoundException"):
        store.cancel("4108720166535897-0-a", now=NOW)
    assert run.run(lambda: 0).finished is False


def test_a_server_that_is_away_is_an_unavailable_store(moto: Cloud) -> None:
    nowhere = Cloud("http://127.0.0.1:9")
    store = type(moto.store())("timeouts", client=nowhere.client("dynamodb"))

    with pytest.raises(StoreUnavailable, match="DynamoDB: EndpointConnectionError"):
        store.claim(0, "one", now=NOW, until=NOW, horizon=NOW)


def test_what_a_file_holds_outlives_the_process(tmp_path: Any) -> None:
    path = tmp_path / "timeouts.sqlite"
    first = SqliteStore(path)
    shop = Shop(first, receiving=False)
    shop.timeouts.schedule("orders", "hello", delay=HOUR)
    first.close()
    shop.world.run(for_=HOUR)
    second = SqliteStore(path)
    Dispatcher(second, client=shop.world.client, clock=shop.now).run()
    second.close()

    assert shop.bodies("orders") == ["hello"]
