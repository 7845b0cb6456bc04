"""What each function of template.yaml needs to be allowed: what its code calls, what Lambda calls for it, and what features add."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from moto.iam.aws_managed_policies import aws_managed_policies_data

from infra.aws_calls import action
from infra.features import KEY, YOUR_BODIES, YOUR_BUCKET, YOUR_ERRORS, YOUR_ORDERS

Permissions = dict[str, set[str]]

ORDERS, ERRORS, PLACED, CIRCUIT, TABLE = "OrdersQueue", "ErrorQueue", "PlacedQueue", "CircuitTable", "TimeoutsTable"
DEAD = "DeadLetterQueue"
BUCKET, OBJECTS = "TimeoutsBucket", "TimeoutsBucket/timeouts/*"
MAPPING, ANYTHING = "OrdersFunctionOrders", "*"
LIMIT, PAUSE = "a rate limit", "a paused trigger"
TIMEOUTS, LARGE, YOURS_TOO = "timeouts", "large timeouts", "a bucket of yours"
BRINGS = {PAUSE: {LIMIT}, LARGE: {TIMEOUTS}, YOURS_TOO: {LARGE, TIMEOUTS}}
"""What a feature brings along."""

ENDPOINTS, PROBE, DISPATCHER, STAMP = {"OrdersRole", "ProbeRole"}, {"ProbeRole"}, {"TimeoutsRole"}, {"StampRole"}
STORING = ENDPOINTS | DISPATCHER


class Call(NamedTuple):
    """A call that the package makes.

    Args:
        module: where, below the package.
        method: the client's.
        roles: whose functions make it.
        resources: to what they make it.
        feature: without which they do not.
    """

    module: str
    service: str
    method: str
    roles: set[str]
    resources: set[str]
    feature: str = ""


CALLS = [
    Call(
        "_sqs/batches.py", "sqs", "send_message_batch", ENDPOINTS, {ORDERS, ERRORS, PLACED}
    ),  # copies; what the handler sends
    Call("_sqs/batches.py", "sqs", "delete_message_batch", ENDPOINTS, {ORDERS}),
    Call("_sqs/batches.py", "sqs", "change_message_visibility_batch", ENDPOINTS, {ORDERS}),
    Call("aws/_probe.py", "sqs", "receive_message", PROBE, {ORDERS}),
    Call("aws/_probe.py", "sqs", "delete_message", PROBE, {ORDERS}),
    Call("aws/_circuit_store.py", "dynamodb", "get_item", ENDPOINTS, {CIRCUIT}, LIMIT),
    Call("aws/_circuit_store.py", "dynamodb", "put_item", ENDPOINTS, {CIRCUIT}, LIMIT),
    Call("aws/_pause.py", "dynamodb", "get_item", ENDPOINTS, {CIRCUIT}, PAUSE),
    Call("aws/_pause.py", "dynamodb", "put_item", ENDPOINTS, {CIRCUIT}, PAUSE),
    Call("aws/_pause.py", "dynamodb", "delete_item", ENDPOINTS, {CIRCUIT}, PAUSE),
    Call("aws/_pause.py", "lambda", "list_event_source_mappings", ENDPOINTS, {ANYTHING}, PAUSE),
    Call("aws/_pause.py", "lambda", "update_event_source_mapping", ENDPOINTS, {MAPPING}, PAUSE),
    Call("extensions/_s3_bodies.py", "s3", "get_object", ENDPOINTS, {f"{YOUR_BODIES}/*"}, "large bodies"),
    Call(
        "extensions/_s3_bodies.py", "s3", "delete_objects", ENDPOINTS, {f"{YOUR_BODIES}/*"}, "deleted bodies"
    ),  # which no parameter asks for
    Call("_sqs/batches.py", "sqs", "send_message_batch", STAMP, {ERRORS}),
    Call("_sqs/batches.py", "sqs", "send_message_batch", DISPATCHER, {ORDERS}, TIMEOUTS),
    Call("_sqs/sender.py", "sqs", "get_queue_url", DISPATCHER, {ORDERS}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "get_item", STORING, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "put_item", ENDPOINTS, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "update_item", STORING, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "query", DISPATCHER, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "batch_get_item", DISPATCHER, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "dynamodb", "batch_write_item", DISPATCHER, {TABLE}, TIMEOUTS),
    Call("timeouts/_dynamodb_table.py", "s3", "put_object", ENDPOINTS, {OBJECTS}, LARGE),
    Call("timeouts/_dynamodb_table.py", "s3", "get_object", DISPATCHER, {OBJECTS}, LARGE),
    Call("timeouts/_dynamodb_table.py", "s3", "delete_object", DISPATCHER, {OBJECTS}, LARGE),
]
"""Those of the table's calls that a dispatcher makes are recorded in `test_timeouts.py`; the others schedule, cancel or migrate."""

KEY_USED = {"sqs:SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"}, "sqs:ReceiveMessage": {"kms:Decrypt"}}
"""What SQS does with the key on behalf of who calls (Amazon SQS Developer Guide, "Key management", producers and consumers)."""

YOURS = {
    "an orders queue of yours": {ORDERS: YOUR_ORDERS},
    "an error queue of yours": {ERRORS: YOUR_ERRORS},
    YOURS_TOO: {BUCKET: YOUR_BUCKET, OBJECTS: f"{YOUR_BUCKET}/timeouts/*"},
}


def needed(role: str, *features: str) -> Permissions:
    """Return what the role's function and what invokes it need, by the logical id or ARN of the resource."""
    wanted = defaultdict[str, set[str]](set)
    for resource, actions in (*called(role, features), *invoked(role)):
        wanted[resource] |= actions
    if "a key" in features:
        wanted[KEY] = {
            use for queue in (ORDERS, ERRORS, PLACED, DEAD) for each in wanted[queue] for use in KEY_USED.get(each, ())
        }
    if "a VPC" in features:
        wanted[ANYTHING] |= aws_gives("AWSLambdaVPCAccessExecutionRole", "ec2")
    names = {name: yours for feature in features for name, yours in YOURS.get(feature, {}).items()}
    return {names.get(resource, resource): actions for resource, actions in wanted.items() if actions}


def called(role: str, features: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
    """Yield what the role's function calls, and what S3 needs to answer that an object does not exist (Amazon S3 API reference, GetObject)."""
    there = {"", *features}.union(*(BRINGS.get(feature, ()) for feature in features))
    for call in CALLS:
        if role in call.roles and call.feature in there:
            yield from ((resource, {action(call.service, call.method)}) for resource in call.resources)
    if role in DISPATCHER and LARGE in there:
        yield BUCKET, {"s3:ListBucket"}


READS = {"OrdersRole": ORDERS, "StampRole": DEAD}
"""The queue that Lambda polls for a role's function."""


def invoked(role: str) -> Iterator[tuple[str, set[str]]]:
    """Yield what Lambda does with the role: it polls the queue, and writes into the log group, which is there already."""
    if role in READS:
        yield READS[role], aws_gives("AWSLambdaSQSQueueExecutionRole", "sqs")
    logging = aws_gives("AWSLambdaSQSQueueExecutionRole", "logs")
    yield role.replace("Role", "Log"), logging - {"logs:CreateLogGroup"}


def aws_gives(policy: str, service: str) -> set[str]:
    """Return what one of AWS's own policies for functions allows of a service."""
    document = json.loads(aws_managed_policies_data)[policy]["Document"]
    actions = [name for statement in document["Statement"] for name in listed(statement["Action"])]
    return {name for name in actions if name.startswith(f"{service}:")}


def listed(value: Any) -> list[Any]:
    """Return a list, where IAM takes one thing or a list of them."""
    return value if isinstance(value, list) else [value]
