"""Names that could not be deployed are refused by main.bicep before anything is made."""

from __future__ import annotations

import re

import pytest

from infra.azure.bicep import Deployment
from infra.azure.bicep_functions import Refused

ACCOUNT = re.compile("[a-z0-9]{3,24}")
"""What a storage account may be called (Microsoft, "Naming rules and restrictions for Azure resources")."""

NAMESPACE = re.compile("[a-zA-Z][a-zA-Z0-9-]{4,48}[a-zA-Z0-9]")
"""What a Service Bus namespace may be called (the same page)."""

HASH = "0123456789abc"
"""As long as what `uniqueString` returns."""


def named(kind: str, name: str) -> str:
    """Return the name of a resource, with a hash as `uniqueString` makes it."""
    found: str = Deployment({"name": name}).config(kind)["name"]
    return re.sub("<[^>]+>", HASH, found)


@pytest.mark.parametrize("name", ["shop", "ab", "s1234567"])
def test_a_name_that_is_taken_can_be_deployed(name: str) -> None:
    assert ACCOUNT.fullmatch(named("storage", name))
    assert NAMESPACE.fullmatch(named("serviceBus", name))


@pytest.mark.parametrize("name", ["Shop", "my-shop", "my_shop", "1shop", "sh op", "größe"])
def test_a_name_that_no_storage_account_or_namespace_may_have_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"^name: write a lower-case letter, then lower-case letters and digits"):
        Deployment({"name": name})


def test_a_name_is_neither_too_short_nor_too_long() -> None:
    decorators = {each["type"]: each["argument"] for each in Deployment().parameters["name"]["decorators"]}

    assert (decorators["min_length"], decorators["max_length"]) == (2, 8)


@pytest.mark.parametrize("name", ["orders", "Orders-Error"])
def test_a_topic_is_not_called_like_a_queue(name: str) -> None:
    with pytest.raises(Refused, match=r"^topicName: a queue has this name; write another$"):
        Deployment({"topicName": name})
