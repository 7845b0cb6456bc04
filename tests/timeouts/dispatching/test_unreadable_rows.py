"""Test rows that the dispatcher cannot read."""

from __future__ import annotations

import pytest

from recoverable.timeouts import Report, SqliteStore
from waiting.world import HOUR, Shop


@pytest.mark.parametrize(
    ("version", "message", "why"),
    [
        (2, '{"body": "x"}', "it is of version 2, and this package reads 1; deploy the newer one"),
        (1, "no json", "its content cannot be read (JSONDecodeError)"),
        (1, '{"attributes": {}}', "its content cannot be read (KeyError)"),
        (1, '{"body":"x","attributes":{"a":{"BinaryValue":7}},"group":null}', "its content cannot be read (TypeError)"),
    ],
)
def test_a_row_that_cannot_be_read_is_kept_and_reported(
    caplog: pytest.LogCaptureFixture, version: int, message: str, why: str
) -> None:
    store = SqliteStore()
    shop = Shop(store, receiving=False)
    good = [shop.timeouts.schedule("orders", "good", delay=HOUR) for _ in range(2)]
    store._database.execute("UPDATE timeouts SET version = ?, message = ? WHERE id = ?", (version, message, good[0]))
    shop.world.run(for_=HOUR)

    assert shop.dispatch() == Report(dispatched=1, kept=1, finished=True)
    assert why in caplog.text
    store.close()


def test_a_row_of_a_newer_version_is_sent_once_it_can_be_read() -> None:
    store = SqliteStore()
    shop = Shop(store, receiving=False)
    shop.timeouts.schedule("orders", "hello", delay=HOUR)
    store._database.execute("UPDATE timeouts SET version = 2")
    shop.run_each_minute(HOUR)
    store._database.execute("UPDATE timeouts SET version = 1")
    shop.run_each_minute(HOUR)

    assert shop.bodies("orders") == ["hello"]
    store.close()
