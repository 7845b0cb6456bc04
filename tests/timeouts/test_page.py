"""Run every block of Python on the page about timeouts."""

from __future__ import annotations

from typing import Any

import pytest

from builders import seconds
from docs.pages import blocks
from recoverable._sqs.clients import client as process_client
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import DynamoDbStore
from recoverable_local.testing import SqsWorld
from waiting.rows import NOW, scan
from waiting.stores import Cloud
from waiting.world import MINUTE

START = NOW.replace(microsecond=0)  # SQS says to the millisecond when a message was sent
SCHEDULING, RETRYING, DISPATCHING, ON_YOUR_MACHINE, _IN_A_TEST, NSERVICEBUS = range(6)


@pytest.fixture
def account(moto: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Set the environment in which boto3 finds an account."""
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": "eu-west-1"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": moto.url}.items():
        monkeypatch.setenv(name, value)
    process_client.cache_clear()
    return moto


@pytest.mark.usefixtures("account")
def test_what_the_page_schedules_it_cancels() -> None:
    store = DynamoDbStore("timeouts", timeout=10.0)
    store.create_table()
    exec(blocks("use/later.md", "python")[SCHEDULING], {})

    assert scan(store) == []


def test_the_reminder_of_an_order_is_stored(account: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    store, names, world = account.store(DynamoDbStore), dict[str, Any](), SqsWorld(start=START)
    monkeypatch.setenv("TIMEOUTS_TABLE", store._table.name)
    exec(blocks("use/later.md", "python")[ON_YOUR_MACHINE], names)
    world.serve("orders", SqsEndpoint(names["place_order"]))
    world.send("orders", {"id": "1001", "card": "good"})
    world.run(for_=seconds(1))

    [row] = scan(store)
    assert row.timeout is not None
    assert (row.timeout.body, row.timeout.due_at) == ('{"id": "1001", "card": "reminder"}', START + MINUTE)


@pytest.mark.parametrize("number", [RETRYING, DISPATCHING, NSERVICEBUS])
def test_its_functions_can_be_called_by_lambda(number: int) -> None:
    names: dict[str, object] = {}
    exec(blocks("use/later.md", "python")[number], names)

    assert callable(names["handler"])
