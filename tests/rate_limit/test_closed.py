"""A rate limit while nothing fails: it asks nobody, and brings in nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

from rate_limit.outage import QUEUE, SHORT, World, serve
from rate_limit.stores import VirtualStore
from recoverable import RateLimit
from recoverable_local.testing.aws.api.sqs_client import OPERATIONS
from recoverable_local.testing.azure.fault_points import CALLS
from recoverable_local.testing.engine.fault_plan import FaultPoint
from sources import DEAR

SDKS = {"boto3", "botocore"}


def test_messages_that_succeed_call_neither_the_store_nor_the_broker(world: World) -> None:
    store, placed, visited = VirtualStore(world), list[object](), set[str]()

    def visit(point: FaultPoint) -> None:
        visited.add(point.what)

    world.ask_at_each_point(visit)
    serve(world, placed.append, SHORT.__replace__(rate_limit=RateLimit(1, store=store)), instances=3)
    for _ in range(25):
        world.send(QUEUE, "a card")
    world.run()

    assert (len(placed), store.calls, visited & {*OPERATIONS, *CALLS}) == (25, 0, set())


def test_a_message_that_succeeds_imports_no_sdk_and_nothing_that_is_dear() -> None:
    program = """
        import json, sys
        import awslambdaric.bootstrap
        before = set(sys.modules)
        from recoverable import RateLimit, Recoverability
        from recoverable.aws import SqsEndpoint
        from recoverable.circuits import DynamoDbCircuit

        limit = RateLimit(20, store=DynamoDbCircuit("circuits", "orders"))
        record = {"messageId": "1", "receiptHandle": "r", "body": "{}", "messageAttributes": {}, "eventSource": "aws:sqs",
                  "attributes": {"ApproximateReceiveCount": "1"}, "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:orders"}
        SqsEndpoint(lambda message: None, Recoverability(rate_limit=limit))({"Records": [record]}, None)
        print(json.dumps(sorted(sys.modules.keys() - before)))
    """
    run = subprocess.run(
        [sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=True, timeout=60
    )
    imported = set(json.loads(run.stdout))

    assert "recoverable._rate_limit.limiter" in imported
    assert imported & (SDKS | DEAR) == set()
