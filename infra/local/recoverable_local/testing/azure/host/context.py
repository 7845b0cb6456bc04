"""Build the context object that the worker passes to a function."""

from __future__ import annotations

import inspect
from pathlib import Path
from threading import local
from types import SimpleNamespace

from recoverable_local.testing.azure.app import TriggeredFunction


class Context:
    """The worker's context object.

    Args:
        function: the function.
        number: which invocation it is in this world.
    """

    def __init__(self, function: TriggeredFunction, number: int) -> None:
        self.function_name = function.name
        self.function_directory = str(Path(inspect.getfile(function.call)).parent)
        self.invocation_id = f"00000000-0000-0000-0000-{number:012}"
        self.thread_local_storage = local()
        self.thread_local_storage.invocation_id = self.invocation_id
        self.trace_context = trace(f"00-{number:032x}-{number:016x}-00")
        self.retry_context = SimpleNamespace(retry_count=0, max_retry_count=0, rpc_exception=None)


def trace(parent: str) -> SimpleNamespace:
    """Return the trace context of an invocation, under its current and its former names."""
    names = {"trace_parent": parent, "trace_state": "", "attributes": {}}
    before = {"Traceparent": parent, "Tracestate": "", "Attributes": names["attributes"]}
    return SimpleNamespace(**names, **before)
