"""The FIFO template of the example shop: AWS's tools accept it, its limits go with its ladder, and its role allows no more than is called."""

from __future__ import annotations

from typing import Any

from samtranslator.yaml_helper import yaml_parse

from infra.commands import sam
from infra.sam_template import ROOT, Template, complaints

TEMPLATE = ROOT / "functions" / "aws" / "fifo" / "template.yaml"
SAM: Template = yaml_parse(TEMPLATE.read_text())
RESOURCES: dict[str, Any] = {name: part["Properties"] for name, part in SAM["Resources"].items()}
FUNCTION, QUEUE = RESOURCES["OrdersFunction"], RESOURCES["OrdersQueue"]
LADDER: dict[str, Any] = FUNCTION["Environment"]["Variables"]


def test_sam_accepts_the_template() -> None:
    assert "is a valid SAM Template" in sam("validate", "--lint", "--template", str(TEMPLATE))


def test_the_transformed_template_is_clean() -> None:
    assert complaints(SAM) == []


def test_a_message_may_be_received_ten_times_more_often_than_the_ladder_has_attempts() -> None:
    attempts = (LADDER["RECOVERABLE_IMMEDIATE_RETRIES"] + 1) * (LADDER["RECOVERABLE_DELAYED_RETRIES"] + 1)

    assert QUEUE["RedrivePolicy"]["maxReceiveCount"] == attempts + 10


def test_a_message_stays_hidden_for_six_function_time_outs() -> None:
    assert QUEUE["VisibilityTimeout"] == 6 * FUNCTION["Timeout"]


def test_messages_come_one_at_a_time_and_only_what_succeeded_is_deleted() -> None:
    assert FUNCTION["Events"]["Orders"]["Properties"] == {
        "Queue": {"Fn::GetAtt": ["OrdersQueue", "Arn"]},
        "BatchSize": 1,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }


def test_all_queues_keep_the_order_and_outlive_the_stack() -> None:
    kept = {
        name: (part["Properties"]["FifoQueue"], part["DeletionPolicy"], part["UpdateReplacePolicy"])
        for name, part in SAM["Resources"].items()
        if part["Type"] == "AWS::SQS::Queue"
    }

    assert kept == dict.fromkeys(("OrdersQueue", "ErrorQueue", "PlacedQueue"), (True, "RetainExceptOnCreate", "Retain"))


def test_the_role_allows_what_a_fifo_queue_takes_and_no_send_to_the_queue_itself() -> None:
    (policy,) = RESOURCES["OrdersRole"]["Policies"]
    allowed = {
        statement["Resource"]["Fn::GetAtt"][0]: {*listed(statement["Action"])}
        for statement in policy["PolicyDocument"]["Statement"]
    }

    assert allowed == {
        "OrdersQueue": {
            "sqs:ReceiveMessage",
            "sqs:GetQueueAttributes",
            "sqs:DeleteMessage",
            "sqs:ChangeMessageVisibility",
        },
        "ErrorQueue": {"sqs:SendMessage"},
        "PlacedQueue": {"sqs:SendMessage"},
        "OrdersLog": {"logs:CreateLogStream", "logs:PutLogEvents"},
    }


def listed(actions: str | list[str]) -> list[str]:
    """Return the actions as a list."""
    return [actions] if isinstance(actions, str) else actions
