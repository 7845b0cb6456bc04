"""Start a process with the real Lambda runtime client, which asks a Runtime API for its invocations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import timedelta

from recoverable_local.child import Child
from recoverable_local.lambda_host.runtime.environment import process_variables
from recoverable_local.lambda_host.runtime.runtime_api import RuntimeApi
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.outcomes import Died

INIT_TIMEOUT = timedelta(seconds=10)
"""The time-out for loading a module; Lambda, "Understanding the Lambda execution environment lifecycle"."""

NON_BREAKING_SPACE = (
    "\u00a0"  # the runtime client indents tracebacks with it, because CloudWatch removes ordinary spaces
)


def start_client(
    function: Function,
    api: RuntimeApi,
    *,
    variables: Mapping[str, str],
    host: Mapping[str, str],
    on_line: Callable[[int, str], None],
) -> Child:
    """Start the runtime client of a function. Its end is one of the reports of its Runtime API.

    Args:
        function: the function that it runs.
        api: where it asks for invocations.
        variables: Lambda's and the template's environment variables.
        host: the host's environment, from which the process's own variables are taken.
        on_line: called with the process id and each line that it writes.
    """
    return Child(
        [sys.executable, "-m", "awslambdaric", function.handler],
        folder=function.code,
        environment={**process_variables(function, api_address=api.address, host=host), **variables},
        on_line=lambda pid, line: on_line(pid, line.replace(NON_BREAKING_SPACE, " ")),
        on_end=lambda code: api.reports.put(Died(code)),
    )
