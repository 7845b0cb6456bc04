"""Test the environment variables of a function."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from local.lambda_host.test_template import SHOP
from recoverable_local.lambda_host.runtime.environment import (
    credentials,
    lambda_variables,
    process_variables,
    redelivery_variables,
)

DUMMIES = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
OWN = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ({}, DUMMIES),
        (OWN, OWN),
        ({"AWS_ACCESS_KEY_ID": "half of it"}, DUMMIES),
        ({"AWS_PROFILE": "production"}, DUMMIES),
    ],
)
def test_credentials_are_the_hosts_or_dummies_and_never_half_of_each(
    host: dict[str, str], expected: dict[str, str]
) -> None:
    assert credentials(host) == expected


def test_the_templates_variables_win_over_those_of_the_host() -> None:
    function = replace(SHOP, environment={"AWS_ENDPOINT_URL_DYNAMODB": "http://table", "AWS_REGION": "eu-west-1"})

    variables = lambda_variables(function, region="us-east-1", endpoint_url="http://broker", log_stream="s", host={})

    assert variables["AWS_REGION"] == "eu-west-1"
    assert variables["AWS_ENDPOINT_URL_DYNAMODB"] == "http://table"
    assert variables["AWS_ENDPOINT_URL"] == "http://broker"


def test_a_process_gets_the_way_to_python_and_to_its_modules_and_nothing_else_of_the_host() -> None:
    host = {"PATH": "/bin", "PYTHONPATH": "/mine", "PYTHONBREAKPOINT": "0", "SECRET": "x", "AWS_PROFILE": "production"}
    function = replace(SHOP, layers=(SHOP.code / "layer",))

    assert process_variables(function, api_address="127.0.0.1:1", host=host) == {
        "PATH": "/bin",
        "PYTHONBREAKPOINT": "0",
        "TZ": ":UTC",
        "AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1",
        "PYTHONPATH": f"{SHOP.code}:{SHOP.code / 'layer'}:/mine",
    }


def test_the_endpoint_learns_how_soon_messages_come_back_after_a_crash() -> None:
    assert redelivery_variables(None) == {}
    assert redelivery_variables(timedelta(seconds=2)) == {"RECOVERABLE_REDELIVER_AFTER": "2"}
