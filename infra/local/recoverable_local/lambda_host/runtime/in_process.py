"""Run a function inside the host's own process, for debugging: breakpoints work, there is no time-out, and a crash ends the host."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from awslambdaric.lambda_context import LambdaContext
from awslambdaric.lambda_runtime_marshaller import LambdaMarshaller

from recoverable_local.lambda_host.runtime.environment import import_folders
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.lambda_host.runtime.runtime_api import Invocation
from recoverable_local.lambda_host.sam.stack import Function
from recoverable_local.outcomes import Died

_REMAINING_TIME = timedelta(
    hours=1
)  # that the context reports: no time-out may end a function that stops at a breakpoint
_ONE_AT_A_TIME = threading.Lock()  # functions share the process's environment variables, so only one may run


class InProcessInstance:
    """An instance without a process of its own.

    The handler runs on a thread other than the main one. Its environment variables and import path are set while it runs.
    Its output is not captured, `sys.exit` ends the invocation as it does in Lambda, and `os._exit` ends the host.

    Args:
        function: The function that it runs.
        variables: Lambda's and the template's environment variables.
    """

    def __init__(self, function: Function, *, variables: Mapping[str, str]) -> None:
        self._function = function
        self._variables = variables
        self._handler: Callable[[Any, Any], Any] | None = None
        self.alive = True

    @property
    def pid(self) -> int:
        """Return the id of the host's own process."""
        return os.getpid()

    def initialize(self) -> InitFailed | None:
        """Import the handler's module again. Return the error if that failed, else None."""
        module, _, name = self._function.handler.replace("/", ".").rpartition(".")
        with _function_environment(self._variables, import_folders(self._function)):
            sys.modules.pop(module, None)
            try:
                self._handler = getattr(importlib.import_module(module), name)
            except Exception as error:  # noqa: BLE001 (every error while a module loads is reported to its author)
                self.stop()
                return InitFailed(type(error).__name__, str(error))
        return None

    def invoke(self, invocation: Invocation) -> Outcome:
        """Call the handler. Its response is converted to JSON as in Lambda."""
        variables = {**self._variables, "_X_AMZN_TRACE_ID": invocation.trace_id}
        try:
            with _function_environment(variables, import_folders(self._function)):
                return Returned(self._call(invocation))
        except SystemExit as error:
            self.stop()
            return Died(error.code if isinstance(error.code, int) else int(error.code is not None))
        except Exception as error:  # noqa: BLE001 (the runtime client reports every exception of a handler in this way)
            return Raised(type(error).__name__, str(error))

    def stop(self) -> None:
        """Take no more invocations. A running one cannot be stopped."""
        self.alive = False

    def _call(self, invocation: Invocation) -> str:
        assert self._handler is not None, "initialize() comes first"
        deadline = int((time.time() + _REMAINING_TIME.total_seconds()) * 1000)
        context = LambdaContext(invocation.request_id, None, None, deadline, invocation.function_arn)
        marshaller = LambdaMarshaller()
        answer = self._handler(marshaller.unmarshal_request(invocation.event), context)
        payload: str | bytes = marshaller.marshal_response(answer)[0]
        return payload if isinstance(payload, str) else payload.decode()


@contextmanager
def _function_environment(variables: Mapping[str, str], folders: list[str]) -> Iterator[None]:
    """Set a function's environment variables and import path on the process, and restore the previous ones afterwards."""
    with _ONE_AT_A_TIME:
        environment, path = dict(os.environ), list(sys.path)
        os.environ.update(variables)
        sys.path[:0] = folders
        try:
            yield
        finally:
            sys.path[:] = path
            for name in set(os.environ) - set(environment):
                del os.environ[name]
            os.environ.update(environment)
