"""Run one app in Microsoft's runtime, as the script of the worker process, and answer the host's requests over one connection.

The Python and the packages are the app's, so the script imports nothing of `recoverable`. The runtime expects protobuf messages from the
host (azure-functions-language-worker-protobuf, `FunctionRpc.proto`). It only reads their attributes and asks which field of a union is set,
so `Message` can stand in for them.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

RUNTIME = "azure_functions_runtime"
MISSING = (
    f"the Python {sys.executable} has no azure-functions-runtime; run pip install azure-functions-runtime, and before "
    "Python 3.13 pip install --no-deps --ignore-requires-python azure-functions-runtime"
)

MUTED = "RECOVERABLE_LOCAL_MUTED"
"""The environment variable with the names of loggers that log errors alone."""

_SYSTEM_LOGGERS = ("azure", "asyncio")  # the Functions host does not write these to the functions' log


class Message:
    """A message of `FunctionRpc.proto`, with the parts that the runtime uses."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        """Return None for optional fields that are not set. Other fields do not exist."""
        if name in ("exception", "retry_options"):
            return None
        raise AttributeError(name)

    def WhichOneof(self, union: str) -> str | None:  # noqa: N802  # protobuf's name
        """Return which field of a union is set: `data` for a parameter, else the message's only field."""
        names = [name for name in self.__dict__ if name != "name"]
        return ("data" if union == "rpc_data" else names[0]) if names else None


class StatusResult(Message):
    """The result of a request."""

    Failure, Success, Cancelled = 0, 1, 2


class BindingInfo(Message):
    """A binding, with protobuf's numbers of directions and data types."""

    out, inout = 1, 2
    undefined, string, binary, stream = 0, 1, 2, 3


PLAIN = (
    "FunctionLoadResponse", "FunctionMetadataResponse", "InvocationResponse", "ParameterBinding", "RpcException",
    "RpcFunctionMetadata", "RpcRetryOptions", "TypedData", "WorkerInitResponse", "WorkerMetadata",
)  # fmt: skip

PROTOS = SimpleNamespace(
    BindingInfo=BindingInfo, StatusResult=StatusResult, **{name: type(name, (Message,), {}) for name in PLAIN}
)


def request(**parts: Any) -> SimpleNamespace:
    """Build a request in the form that the runtime expects."""
    return SimpleNamespace(request=SimpleNamespace(**parts), properties={"host": "127.0.0.1", "protos": PROTOS})


async def index(runtime: Any, folder: str) -> tuple[Any, ...]:
    """Load the app. Return `("ready", functions)` or `("failed", message, stack_trace)`."""
    runtime.start_threadpool_executor()
    init = Message(capabilities={}, function_app_directory=folder)
    answer = await runtime.worker_init_request(request(worker_init_request=init))
    if answer.result.status != StatusResult.Success:
        return "failed", answer.result.exception.message, answer.result.exception.stack_trace
    indexed = await runtime.functions_metadata_request(request())
    found = indexed.function_metadata_results or []
    return "ready", [describe_function(runtime, each) for each in found]


def describe_function(runtime: Any, function: Any) -> tuple[Any, ...]:
    """Return a function's name, id, bindings, error queue, and whether it is a coroutine function."""
    bindings = tuple(map(json.loads, function.raw_bindings))
    registry = getattr(runtime.handle_event, "_functions", None)  # the runtime has no public access to its functions
    found = registry.get_function(function.function_id) if registry else None
    return function.name, function.function_id, bindings, error_queue(found), getattr(found, "is_async", False)


def error_queue(function: Any) -> str | None:
    """Return the error queue of a function's endpoint, if it is an endpoint; the host creates this queue in its namespace."""
    recoverability = getattr(getattr(function, "func", None), "recoverability", None)
    return getattr(getattr(recoverability, "failed", None), "error_queue", None)


async def invoke(runtime: Any, number: int, call: dict[str, Any]) -> tuple[Any, ...]:
    """Run a function. Return `("done", number, None, outputs)` or `("done", number, (message, stack_trace), ())`."""
    invocation = Message(
        invocation_id=call["invocation_id"],
        function_id=call["function_id"],
        input_data=[Message(name=call["parameter"], data=typed(*call["data"]))],
        trigger_metadata={name: typed(*value) for name, value in call["metadata"].items()},
        trace_context=Message(trace_parent=call["trace_parent"], trace_state="", attributes={}),
        retry_context=Message(retry_count=0, max_retry_count=0),
    )
    answer = await runtime.invocation_request(request(invocation_request=invocation))
    if answer.result.status != StatusResult.Success:
        return "done", number, (answer.result.exception.message, answer.result.exception.stack_trace), ()
    outputs = [(each.name, *field(each.data)) for each in answer.output_data]
    returned = answer.return_value
    return "done", number, None, outputs if returned is None else [*outputs, ("$return", *field(returned))]


def typed(kind: str, value: Any) -> Message:
    """Build a `TypedData`; a collection is a message inside it."""
    if kind.startswith("collection_"):
        value = Message(**{kind.removeprefix("collection_"): value})
    return Message(**{kind: value})


def field(data: Message) -> tuple[str, Any]:
    """Return the name and the value of the one field that a `TypedData` has."""
    return next(iter(data.__dict__.items()))


def read_requests(connection: Connection, handle: Callable[[tuple[int, dict[str, Any]]], object]) -> None:
    """Read requests until the host ends the connection, then end the process."""
    try:
        while True:
            handle(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def main(descriptor: int, folder: str) -> None:
    """Set up connection and logging, load the runtime, and serve."""
    os.set_inheritable(descriptor, False)  # noqa: FBT003  # its argument has no name
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # else output is lost when the process dies
    connection = Connection(descriptor)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    for name in _SYSTEM_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in os.environ.get(MUTED, "").split():
        logging.getLogger(name).setLevel(logging.ERROR)
    if importlib.util.find_spec(RUNTIME) is None:
        connection.send(("failed", MISSING, ""))
        return
    serve(connection, importlib.import_module(RUNTIME), folder)


def serve(connection: Connection, runtime: Any, folder: str) -> None:
    """Load the app, send its functions to the host, and run them until the host ends the connection."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    connection.send(loop.run_until_complete(index(runtime, folder)))
    tasks: set[asyncio.Task[None]] = set()  # the loop keeps only weak references to tasks

    async def answer(number: int, call: dict[str, Any]) -> None:
        connection.send(await invoke(runtime, number, call))

    def start(number: int, call: dict[str, Any]) -> None:
        tasks.add(task := loop.create_task(answer(number, call)))
        task.add_done_callback(tasks.discard)

    def handle(request: tuple[int, dict[str, Any]]) -> object:
        return loop.call_soon_threadsafe(start, *request)

    threading.Thread(target=read_requests, args=(connection, handle), daemon=True).start()
    loop.run_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
