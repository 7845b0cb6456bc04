"""Build small SAM templates: one function that reads a queue with an error queue, all right, with a test's changes."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from recoverable_operate.rules import SQS_RULES

Template = dict[str, Any]

RULES = len(SQS_RULES)
ALL_DONE = f"Nothing found.\n{RULES} of {RULES} checks done ({RULES} rules, 1 function).\n"
"""What is reported of a function in which all is right."""


def attribute(resource: str, name: str = "Arn") -> dict[str, list[str]]:
    """Build a reference to an attribute of a resource."""
    return {"Fn::GetAtt": [resource, name]}


def may(*actions: str, on: str) -> dict[str, Any]:
    """Build a statement."""
    return {"Effect": "Allow", "Action": list(actions), "Resource": attribute(on)}


def good() -> Template:
    """Build a template in which nothing is to be found."""
    return {
        "Errors": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "errors", "MessageRetentionPeriod": 1209600}},
        "Orders": {
            "Type": "AWS::SQS::Queue",
            "Properties": {
                "QueueName": "orders",
                "VisibilityTimeout": 180,
                "RedrivePolicy": {"deadLetterTargetArn": attribute("Errors"), "maxReceiveCount": 11},
            },
        },
        "Shop": {
            "Type": "AWS::Serverless::Function",
            "Properties": {
                "Runtime": "python3.13",
                "Handler": "app.handler",
                "CodeUri": "src",
                "Timeout": 30,
                "RecursiveLoop": "Allow",
                "Environment": {"Variables": {"RECOVERABLE_ERROR_QUEUE": attribute("Errors", "QueueName")}},
                "Policies": [
                    {
                        "Statement": [
                            may("sqs:SendMessage", "sqs:ChangeMessageVisibility", on="Orders"),
                            may("sqs:SendMessage", on="Errors"),
                        ]
                    }
                ],
                "Events": {
                    "Orders": {
                        "Type": "SQS",
                        "Properties": {
                            "Queue": attribute("Orders"),
                            "FunctionResponseTypes": ["ReportBatchItemFailures"],
                        },
                    }
                },
            },
        },
    }


def good_fifo() -> Template:
    """Build one with FIFO queues in which nothing is to be found."""
    kind = {"FifoQueue": True}
    return changed(
        good(),
        {
            "Errors.Properties": {**good()["Errors"]["Properties"], "QueueName": "errors.fifo", **kind},
            "Orders.Properties": {
                "QueueName": "orders.fifo",
                "VisibilityTimeout": 180,
                "RedrivePolicy": {"deadLetterTargetArn": attribute("Errors"), "maxReceiveCount": 34},
                **kind,
            },
            "Shop.Properties.Events.Orders.Properties.BatchSize": 1,
            "Shop.Properties.RecursiveLoop": "Terminate",
        },
    )


def changed(resources: Template, changes: dict[str, Any]) -> Template:
    """Return the resources with other values at these paths, whose names are joined by dots; None takes one out."""
    copy = deepcopy(resources)
    for path, value in changes.items():
        *parents, last = path.split(".")
        place = copy
        for name in parents:
            place = place.setdefault(name, {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return copy


CODE = """
from recoverable import Recoverability
from recoverable.aws import SqsEndpoint

handler = SqsEndpoint(print, Recoverability.from_environment())
"""


def written(folder: Path, resources: object, code: str = CODE, **sections: object) -> str:
    """Write a template to a file as JSON, which is YAML too, with its function's code, and return its path."""
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "app.py").write_text(code, encoding="utf-8")
    path = folder / "template.yaml"
    path.write_text(json.dumps({"Resources": resources, **sections}), encoding="utf-8")
    return str(path)
