"""Build the environment variables of an instance: Lambda's, the template's, and those that direct AWS calls to the local broker. Pure."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import timedelta

from recoverable.aws._batch import MAX_CONCURRENCY
from recoverable.aws._order import REDELIVER_AFTER
from recoverable_local.lambda_host.sam.stack import Function

_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_DUMMY_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}


def lambda_variables(
    function: Function,
    *,
    region: str,
    endpoint_url: str,
    log_stream: str,
    host: Mapping[str, str],
    redeliver_after: timedelta | None = None,
) -> dict[str, str]:
    """Return the environment variables of a function, without those of its process.

    All AWS calls of the function go to the local broker, unless the template or `--env` names another endpoint for a service. So a
    function that runs here never reaches an AWS account. Only credentials are taken from the host's environment: a variable that the
    template does not set is missing in Lambda, too.

    Args:
        function: The function.
        region: The value of `AWS_REGION`.
        endpoint_url: The URL of the local broker.
        log_stream: The name of the instance's log stream.
        host: The host's own environment.
        redeliver_after: How long after a time-out or crash messages come back, where that is not as in AWS; the endpoint must know.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {
        **credentials(host),
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ENDPOINT_URL_SQS": endpoint_url,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{version}",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": log_stream,
        "AWS_LAMBDA_LOG_FORMAT": function.log_format,
        **({"AWS_LAMBDA_LOG_LEVEL": function.log_level} if function.log_level else {}),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        **(managed_variables(function.processes) if function.processes else {}),
        "LAMBDA_TASK_ROOT": str(function.code),
        "_HANDLER": function.handler,
        **redelivery_variables(redeliver_after),
        **function.environment,
    }


def managed_variables(processes: int) -> dict[str, str]:
    """Return what differs on Lambda Managed Instances, where logs are always JSON."""
    return {
        MAX_CONCURRENCY: str(processes),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "lambda-managed-instances",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
    }


def redelivery_variables(after: timedelta | None) -> dict[str, str]:
    """Return the variable that says how long after a time-out or crash messages come back; none where that is as in AWS."""
    return {} if after is None else {REDELIVER_AFTER: str(int(after.total_seconds()))}


def process_variables(function: Function, *, api_address: str, host: Mapping[str, str]) -> dict[str, str]:
    """Return the further variables that an instance's process needs: for Python, the import path and the Runtime API."""
    inherited = {name: host[name] for name in _INHERITED if name in host}
    python = {name: value for name, value in host.items() if name.startswith("PYTHON")}
    folders = [*import_folders(function), *filter(None, [host.get("PYTHONPATH")])]
    return {
        **inherited,
        **python,
        "TZ": ":UTC",
        "AWS_LAMBDA_RUNTIME_API": api_address,
        "PYTHONPATH": os.pathsep.join(folders),
    }


def import_folders(function: Function) -> list[str]:
    """Return the folders on a function's import path, in order: its own folder, then its layers."""
    return [str(folder) for folder in (function.code, *function.layers)]


def credentials(host: Mapping[str, str]) -> dict[str, str]:
    """Return the host's AWS credentials, or dummies if it has none; local brokers do not check them."""
    given = {name: host[name] for name in _CREDENTIALS if host.get(name)}
    return given if _CREDENTIALS[0] in given and _CREDENTIALS[1] in given else dict(_DUMMY_CREDENTIALS)
