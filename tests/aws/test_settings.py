"""The settings that the endpoint and the Powertools processor share: one value, and arguments of the same names."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest

from recoverable import Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.aws._settings import SqsSettings
from recoverable.powertools import RecoverableBatchProcessor

DEFAULTS = {name: each.default for name, each in signature(SqsSettings).parameters.items() if name != "owner"}


@pytest.mark.parametrize("owner", [SqsEndpoint, RecoverableBatchProcessor])
def test_each_setting_is_an_argument_with_the_same_default(owner: type[Any]) -> None:
    arguments = signature(owner).parameters

    assert {name: arguments[name].default for name in DEFAULTS} == {**DEFAULTS, "recoverability": Recoverability()}


def test_the_error_queue_is_that_of_the_environment_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOVERABLE_ERROR_QUEUE", "orders-error")

    assert SqsSettings("SqsEndpoint", Recoverability()).recoverability.failed.error_queue == "orders-error"


INSTANCES = {
    "on Lambda": ({"AWS_LAMBDA_FUNCTION_NAME": "orders", "AWS_LAMBDA_LOG_STREAM_NAME": "2026/11/22/[7]58f4"}, ("orders", "2026/11/22/[7]58f4")),
    "with SnapStart, which names no log stream": ({"AWS_LAMBDA_FUNCTION_NAME": "orders"}, ("orders", "")),
    "elsewhere": ({}, ("local", "local")),
}  # fmt: skip


@pytest.mark.parametrize(("variables", "names"), INSTANCES.values(), ids=INSTANCES)
def test_a_platform_names_function_and_instance(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], names: tuple[str, str]
) -> None:
    for name in ("AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_LOG_STREAM_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    platform = SqsSettings("SqsEndpoint", Recoverability()).platform(fifo=False)

    assert (platform.host, platform.machine) == names
