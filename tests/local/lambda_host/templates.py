"""Build the small SAM templates of these tests: one queue, its error queue and one function, with a test's changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FUNCTIONS = Path(__file__).parent / "functions"
LONG = 120
"""Seconds that no invocation takes, on however slow a machine: a message comes back early only where a test wants it so."""


def document(
    *,
    queue: dict[str, Any] | None = None,
    function: dict[str, Any] | None = None,
    event: dict[str, Any] | None = None,
    fifo: bool = False,
    **sections: Any,
) -> dict[str, Any]:
    """Build a template; the arguments replace single properties of its parts, and add sections."""
    ending = ".fifo" if fifo else ""
    kind = {"FifoQueue": True, "ContentBasedDeduplication": True} if fifo else {}
    arn = {"Fn::GetAtt": ["Orders", "Arn"]}
    return {
        **sections,
        "Resources": {
            "Errors": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": named("errors" + ending), **kind}},
            "Orders": {
                "Type": "AWS::SQS::Queue",
                "Properties": {
                    "QueueName": named("orders" + ending),
                    "VisibilityTimeout": LONG,
                    "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Errors", "Arn"]}, "maxReceiveCount": 10},
                    **kind,
                    **(queue or {}),
                },
            },
            "Shop": {
                "Type": "AWS::Serverless::Function",
                "Properties": {
                    "CodeUri": str(FUNCTIONS),
                    "Handler": "scripted.handler",
                    "Runtime": "python3.11",
                    "Timeout": LONG,
                    "Environment": {"Variables": {"ERROR_QUEUE_URL": {"Ref": "Errors"}}},
                    "Events": {
                        "Orders": {
                            "Type": "SQS",
                            "Properties": {
                                "Queue": arn,
                                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                                **(event or {}),
                            },
                        }
                    },
                    **(function or {}),
                },
            },
        },
    }


def named(name: str) -> dict[str, str]:
    """Build a queue name that is unique through the stack's name."""
    return {"Fn::Sub": "${AWS::StackName}-" + name}


def written(folder: Path, template: dict[str, Any]) -> Path:
    """Write a template to a file as JSON, which is YAML, too."""
    path = folder / "template.yaml"
    path.write_text(json.dumps(template), encoding="utf-8")
    return path
