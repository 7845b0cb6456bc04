"""Build the context object that Lambda passes to a function."""

from __future__ import annotations

import sys

from recoverable_local.testing.aws.broker.queues import ACCOUNT, REGION
from recoverable_local.testing.engine.invocation import Invocation


class Identity:
    """The Cognito identity of the caller; event source mappings have none."""

    cognito_identity_id = None
    cognito_identity_pool_id = None


class Context:
    """Lambda's context object.

    Args:
        name: the function's.
        invocation: the invocation.
    """

    function_version = "$LATEST"
    memory_limit_in_mb = "128"
    identity = Identity()
    client_context = None
    tenant_id = None

    def __init__(self, name: str, invocation: Invocation) -> None:
        self._invocation = invocation
        self.function_name = name
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
        self.aws_request_id = f"00000000-0000-0000-0000-{invocation.number:012}"
        self.log_group_name = f"/aws/lambda/{name}"
        self.log_stream_name = f"[$LATEST]{invocation.instance.number:032}"

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the function is killed."""
        return round(self._invocation.remaining() * 1000)

    def log(self, msg: object) -> None:
        """Write to the function's log."""
        sys.stdout.write(str(msg))

    def w3c(self) -> dict[str, str]:
        """Return the caller's trace context; an event source mapping passes none on."""
        return {}
