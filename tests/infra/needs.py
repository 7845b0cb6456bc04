"""What each function of template.yaml needs to be allowed: what its code calls, what Lambda calls for it, and what features add."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data

from infra.aws_calls import action
from infra.features import KEY, YOUR_ERRORS, YOUR_ORDERS

ORDERS, ERRORS, CIRCUIT, MAPPING, ANYTHING = (
    "OrdersQueue",
    "ErrorQueue",
    "CircuitTable",
    "OrdersFunctionOrders",
    "*",
)

BOTH, PROBE = {"OrdersRole", "ProbeRole"}, {"ProbeRole"}

CALLS: dict[tuple[str, str], dict[str, tuple[set[str], set[str]]]] = {
    ("sqs", "client.py"): {
        "send_message_batch": (BOTH, {ORDERS, ERRORS}),
        "delete_message_batch": (BOTH, {ORDERS}),
        "change_message_visibility_batch": (BOTH, {ORDERS}),
    },
    ("sqs", "pause_queue_store.py"): {
        "receive_message": (PROBE, {ORDERS}),
        "delete_message": (PROBE, {ORDERS}),
    },
    ("dynamodb", "circuit_store.py"): {"get_item": (BOTH, {CIRCUIT}), "put_item": (BOTH, {CIRCUIT})},
    ("dynamodb", "pause_store.py"): {
        "get_item": (BOTH, {CIRCUIT}),
        "put_item": (BOTH, {CIRCUIT}),
        "delete_item": (BOTH, {CIRCUIT}),
    },
    ("lambda", "pause_store.py"): {
        "list_event_source_mappings": (BOTH, {ANYTHING}),
        "update_event_source_mapping": (BOTH, {MAPPING}),
    },
}
"""By service and module each call that the package makes, who makes it, and to what. Copies go to both queues, what was received came
from one; whether there is a trigger to pause is asked by a call that knows no resource."""

FEATURE_OF = {"circuit_store.py": "a rate limit", "pause_store.py": "a paused trigger"}
"""The modules that are used only with a feature."""

KEY_USED = {
    "sqs:SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"},
    "sqs:ReceiveMessage": {"kms:Decrypt"},
}
"""What SQS does with the key on behalf of who calls (Amazon SQS Developer Guide, "Key management", producers and consumers)."""

Permissions = dict[str, set[str]]


def needed(role: str, *features: str) -> Permissions:
    """What the role's function, what invokes it and the features need."""
    wanted = defaultdict[str, set[str]](set)
    gives = aws_gives("AWSLambdaSQSQueueExecutionRole", "logs") - {"logs:CreateLogGroup"}  # it is there
    wanted[role.replace("Role", "Log")] |= gives
    if role == "OrdersRole":
        wanted[ORDERS] |= aws_gives("AWSLambdaSQSQueueExecutionRole", "sqs")  # the mapping polls
    for (service, module), calls in CALLS.items():
        if module not in FEATURE_OF or FEATURE_OF[module] in implied(features):
            for method, (roles, resources) in calls.items():
                for resource in resources if role in roles else ():
                    wanted[resource].add(action(service, method))
    wanted |= needed_by_surroundings(wanted, features)
    yours = {
        ORDERS: ("an orders queue of yours", YOUR_ORDERS),
        ERRORS: ("an error queue of yours", YOUR_ERRORS),
    }
    names = {queue: arn for queue, (feature, arn) in yours.items() if feature in features}
    return {names.get(resource, resource): actions for resource, actions in wanted.items()}


def needed_by_surroundings(wanted: Permissions, features: tuple[str, ...]) -> Permissions:
    """What the key and the VPC need on top."""
    more: Permissions = {}
    if "a key" in features:
        calls = wanted[ORDERS] | wanted[ERRORS]
        more[KEY] = {use for call in calls for use in KEY_USED.get(call, ())}
    if "a VPC" in features:
        more[ANYTHING] = wanted[ANYTHING] | aws_gives("AWSLambdaVPCAccessExecutionRole", "ec2")
    return more


def implied(features: tuple[str, ...]) -> set[str]:
    """The features with those that they bring along."""
    return {*features, *(("a rate limit",) if "a paused trigger" in features else ())}


def aws_gives(policy: str, service: str) -> set[str]:
    """What one of AWS's own policies for functions allows of a service."""
    document = json.loads(aws_managed_policies_data)[policy]["Document"]
    actions = [name for statement in document["Statement"] for name in listed(statement["Action"])]
    return {name for name in actions if name.startswith(f"{service}:")}


def listed(value: Any) -> list[Any]:
    """IAM takes one thing or a list of them."""
    return value if isinstance(value, list) else [value]
