"""A function run inside the host's own process, for debugging: breakpoints work, time-outs and crashes are not contained."""

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

# What the context says is left: nobody's time-out runs while a breakpoint is looked at.
_PATIENCE = timedelta(hours=1)
_ONE_AT_A_TIME = threading.Lock()  # the environment is the process's, so functions take turns


class InProcessInstance:
    """An instance without a process of its own.

    The handler runs on a thread other than the main one, with its variables and import path in force while it runs.
    What it prints is not captured, `sys.exit` ends the invocation as it does in Lambda, and `os._exit` ends the host.

    Args:
        function: What it runs.
        variables: Lambda's and the template's environment variables.
    """

    def __init__(self, function: Function, *, variables: Mapping[str, str]) -> None:
        self._function = function
        self._variables = variables
        self._handler: Callable[[Any, Any], Any] | None = None
        self.alive = True

    @property
    def pid(self) -> int:
        """The host's own process."""
        return os.getpid()

    def initialize(self) -> InitFailed | None:
        """Import the handler's module anew."""
        module, _, name = self._function.handler.replace("/", ".").rpartition(".")
        with _dressed(self._variables, import_folders(self._function)):
            sys.modules.pop(module, None)
            try:
                self._handler = getattr(importlib.import_module(module), name)
            except Exception as error:  # noqa: BLE001 (whatever a module raises while it loads is for its author to see)
                self.stop()
                return InitFailed(type(error).__name__, str(error))
        return None

    def invoke(self, invocation: Invocation) -> Outcome:
        """Call the handler; its answer takes the same way through JSON as in Lambda."""
        variables = {**self._variables, "_X_AMZN_TRACE_ID": invocation.trace_id}
        try:
            with _dressed(variables, import_folders(self._function)):
                return Returned(self._call(invocation))
        except SystemExit as error:
            self.stop()
            return Died(error.code if isinstance(error.code, int) else int(error.code is not None))
        except Exception as error:  # noqa: BLE001 (the runtime client reports every exception of a handler just so)
            return Raised(type(error).__name__, str(error))

    def stop(self) -> None:
        """Take no more invocations; one that runs cannot be stopped."""
        self.alive = False

    def _call(self, invocation: Invocation) -> str:
        assert self._handler is not None, "initialize() comes first"
        deadline = int((time.time() + _PATIENCE.total_seconds()) * 1000)
        context = LambdaContext(invocation.request_id, None, None, deadline, invocation.function_arn)
        marshaller = LambdaMarshaller()
        answer = self._handler(marshaller.unmarshal_request(invocation.event), context)
        payload: str | bytes = marshaller.marshal_response(answer)[0]
        return payload if isinstance(payload, str) else payload.decode()


@contextmanager
def _dressed(variables: Mapping[str, str], folders: list[str]) -> Iterator[None]:
    """Put a function's variables and import path on the process, and take them off again."""
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
