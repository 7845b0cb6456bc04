"""The page that says which tool is for what: its handover runs against AWS's own model of the calls, and its bounds are the models'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber

from docs.pages import blocks, page
from recoverable_local.testing import SqsWorld

PAGE = "start/is-it-for-you.md"


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Give what a reader has who has run the page's code; what it calls is held against AWS's model, and nothing is sent."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    [block] = blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(compile(block, PAGE, "exec"), names)  # our own page
    with Stubber(names["functions"]) as stub:
        yield {**names, "lambda": stub}
        stub.assert_no_pending_responses()


def call(name: str, body: bytes) -> dict[str, Any]:
    """Return the call that starts an execution."""
    return {
        "FunctionName": "place-order",
        "Qualifier": "live",
        "InvocationType": "Event",
        "DurableExecutionName": name,
        "Payload": body,
    }


def test_a_start_whose_answer_was_lost_is_repeated_under_the_same_name(
    reader: dict[str, Any], sqs_world: SqsWorld
) -> None:
    sqs_world.serve("orders", reader["handler"])
    order = sqs_world.send("orders", '{"id": 1}')
    reader["lambda"].add_client_error("invoke", "ServiceException", expected_params=call(order, b'{"id": 1}'))
    reader["lambda"].add_response("invoke", {"StatusCode": 202}, call(order, b'{"id": 1}'))

    sqs_world.run()

    attempts = [event.detail for event in sqs_world.timeline(order) if event.what == "attempted"]
    assert (len(attempts), attempts[-1], sqs_world.queue("error")) == (2, "succeeded", [])


@pytest.mark.parametrize("message_id", ["059f36b4-87a3-44ab-83d2-661975830a7d", "order/42", "x" * 65, "ö"])
def test_any_id_makes_a_name_that_lambda_takes(reader: dict[str, Any], message_id: str) -> None:
    class Sent:
        id = message_id

    name = reader["execution_name"](Sent)

    assert re.fullmatch(f"{pattern_of_a_name()}{{1,64}}", name)
    assert (name == message_id) == (message_id.count("-") == 4)


def pattern_of_a_name() -> str:
    """Return the characters that Lambda's model takes in the name of an execution."""
    shape = model("lambda").operation_model("Invoke").input_shape.members["DurableExecutionName"]
    assert (shape.metadata["min"], shape.metadata["max"]) == (1, 64)
    return str(shape.metadata["pattern"]).removesuffix("+")


def model(service: str) -> Any:
    """Return AWS's model of a service."""
    return botocore.session.get_session().get_service_model(service)


def test_a_name_for_lambda_is_one_for_step_functions() -> None:
    name = model("stepfunctions").operation_model("StartExecution").input_shape.members["name"]

    assert name.metadata["max"] >= 64
    assert "ExecutionAlreadyExists" in {
        each.name for each in model("stepfunctions").operation_model("StartExecution").error_shapes
    }


def test_the_bounds_of_a_durable_function_are_those_of_the_model() -> None:
    settings = model("lambda").shape_for("DurableConfig").members
    days = settings["ExecutionTimeout"].metadata["max"] / 86_400

    assert (days, settings["RetentionPeriodInDays"].metadata["max"]) == (366, 90)
    assert "366 days" in page(PAGE)


def test_powertools_is_the_version_that_the_page_names() -> None:
    assert f"Powertools batch processor {version('aws-lambda-powertools')} " in page(PAGE)
