"""Prints the milliseconds from starting a process of the Lambda runtime client to its first response: `cold_start.py ours`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

from recoverable_local.lambda_host.runtime.outcomes import Returned
from recoverable_local.lambda_host.runtime.runtime_api import Invocation, InvocationRequested, RuntimeApi
from subjects import event

ARN = "arn:aws:lambda:eu-central-1:123456789012:function:orders"


def milliseconds(name: str) -> float:
    """Measure one cold start."""
    api = RuntimeApi()
    api.send(Invocation("request", json.dumps(event(10)).encode(), timedelta(seconds=30), ARN, "Root=1-0-0"))
    variables = {
        "AWS_LAMBDA_RUNTIME_API": api.address,
        "AWS_LAMBDA_FUNCTION_NAME": "orders",
        "AWS_REGION": "eu-central-1",
    }
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "awslambdaric", f"lambda_{name}.handler"],
        cwd=Path(__file__).parent,
        env={**os.environ, **variables},
    )
    try:
        while isinstance(report := api.reports.get(timeout=30), InvocationRequested):
            pass
        took = (time.perf_counter() - start) * 1e3
    finally:
        process.kill()
        process.wait()
        api.close()
    if not isinstance(report, Returned):
        raise RuntimeError(f"the function failed: {report}")  # noqa: TRY004  # it is no caller's mistake
    return took


if __name__ == "__main__":
    print(milliseconds(sys.argv[1]))  # noqa: T201  # read by bench.py
