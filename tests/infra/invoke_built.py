"""A script for a bare interpreter: invokes the built function once, with the built layer on the path as Lambda has it."""

from __future__ import annotations

import importlib.util
import json
import sys


class Context:
    """Lambda's context of an invocation."""

    aws_request_id = "8a1d2f4e-0000-4000-8000-000000000000"
    function_name = "orders"
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:orders"

    def get_remaining_time_in_millis(self) -> int:
        return 30_000


if __name__ == "__main__":
    layer, function, event = sys.argv[1:]
    sys.path[:0] = [function, layer]
    import orders

    answer = orders.handler(json.loads(event), Context())
    boto3 = importlib.util.find_spec("boto3") is not None
    print(json.dumps({"answer": answer, "boto3 was at hand": boto3}))  # noqa: T201
