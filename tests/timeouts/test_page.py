"""Every block of Python on the page about timeouts runs."""

from __future__ import annotations

import pytest

from docs.pages import blocks
from recoverable.timeouts import DynamoDBStore
from recoverable.timeouts.dynamodb_store import dynamodb_client
from recoverable.timeouts.store import Selection
from waiting.stores import Cloud

SCHEDULING, RETRYING, DISPATCHING, NSERVICEBUS = range(4)


@pytest.fixture
def account(moto: Cloud, monkeypatch: pytest.MonkeyPatch) -> DynamoDBStore:
    """The table that the page calls "timeouts", in the account that boto3 finds."""
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": "eu-west-1"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": moto.url}.items():
        monkeypatch.setenv(name, value)
    dynamodb_client.cache_clear()
    store = DynamoDBStore("timeouts", patience=10.0)
    store.create_table()
    return store


def test_what_the_page_schedules_it_cancels(account: DynamoDBStore) -> None:
    exec(blocks("timeouts.md", "python")[SCHEDULING], {})

    assert list(account.scan(Selection())) == []


@pytest.mark.parametrize("number", [RETRYING, DISPATCHING, NSERVICEBUS])
def test_its_functions_can_be_called_by_lambda(number: int) -> None:
    names: dict[str, object] = {}
    exec(blocks("timeouts.md", "python")[number], names)

    assert callable(names["handler"])
