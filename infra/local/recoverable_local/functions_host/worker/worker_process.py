"""The worker process: Microsoft's runtime with one app in it, which hears from the host and answers over one connection.

It is run as a script, by whatever Python and with whatever packages the app is to have, and so imports nothing of `recoverable`. What the
runtime expects from the host are protobuf messages (azure-functions-language-worker-protobuf, `FunctionRpc.proto`); of these it reads
attributes and asks which field of a union is set, and so `Message` is enough.
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
    f"the Python {sys.executable} has no azure-functions-runtime; write pip install azure-functions-runtime, and before "
    "Python 3.13 pip install --no-deps --ignore-requires-python azure-functions-runtime"
)

_SYSTEM_LOGGERS = ("azure", "asyncio")  # what the host keeps apart from the functions' own log


class Message:
    """A message of `FunctionRpc.proto`, as far as the runtime looks at one."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        """Fields that are not set; others do not exist."""
        if name in ("exception", "retry_options"):
            return None
        raise AttributeError(name)

    def WhichOneof(self, union: str) -> str | None:  # noqa: N802  # protobuf's name
        """Which field of a union is set; a parameter's are its data, and everything else has one field."""
        names = [name for name in self.__dict__ if name != "name"]
        return ("data" if union == "rpc_data" else names[0]) if names else None


class StatusResult(Message):
    """How a request ended."""

    Failure, Success, Cancelled = 0, 1, 2


class BindingInfo(Message):
    """A binding, with the numbers of directions and data types."""

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
    """A request as the runtime takes it."""
    return SimpleNamespace(request=SimpleNamespace(**parts), properties={"host": "127.0.0.1", "protos": PROTOS})


async def index(runtime: Any, folder: str) -> tuple[Any, ...]:
    """Load the app: `("ready", functions)`, or `("failed", what, where)`."""
    runtime.start_threadpool_executor()
    init = Message(capabilities={}, function_app_directory=folder)
    answer = await runtime.worker_init_request(request(worker_init_request=init))
    if answer.result.status != StatusResult.Success:
        return "failed", answer.result.exception.message, answer.result.exception.stack_trace
    indexed = await runtime.functions_metadata_request(request())
    found = indexed.function_metadata_results or []
    return "ready", [described(runtime, each) for each in found]


def described(runtime: Any, function: Any) -> tuple[Any, ...]:
    """A function's name, id, bindings and error queue."""
    bindings = tuple(map(json.loads, function.raw_bindings))
    return function.name, function.function_id, bindings, error_queue(runtime, function.function_id)


def error_queue(runtime: Any, function_id: str) -> str | None:
    """The error queue of the endpoint that a function is, if it is one, for the namespace that is served beside it."""
    registry = getattr(runtime.handle_event, "_functions", None)  # the runtime offers its functions nowhere else
    function = registry.get_function(function_id) if registry else None
    ladder = getattr(getattr(function, "func", None), "recoverability", None)
    return getattr(getattr(ladder, "failed", None), "error_queue", None)


async def invoke(runtime: Any, number: int, call: dict[str, Any]) -> tuple[Any, ...]:
    """Run a function: `("done", number, None, outputs)`, or `("done", number, (what, where), ())`."""
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
    return "done", number, None, [(each.name, *field(each.data)) for each in answer.output_data]


def typed(kind: str, value: Any) -> Message:
    """A `TypedData`; collections are messages of their own."""
    if kind.startswith("collection_"):
        value = Message(**{kind.removeprefix("collection_"): value})
    return Message(**{kind: value})


def field(data: Message) -> tuple[str, Any]:
    """The one field that a `TypedData` has."""
    return next(iter(data.__dict__.items()))


def listen(connection: Connection, hear: Callable[[tuple[int, dict[str, Any]]], object]) -> None:
    """Hear requests until the host is gone, and go with it."""
    try:
        while True:
            hear(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def main(descriptor: int, folder: str) -> None:
    """Make the process one of the host's, and serve."""
    os.set_inheritable(descriptor, False)  # noqa: FBT003  # its argument has no name
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # what a function printed before it died is seen
    connection = Connection(descriptor)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    for name in _SYSTEM_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    if importlib.util.find_spec(RUNTIME) is None:
        connection.send(("failed", MISSING, ""))
        return
    serve(connection, importlib.import_module(RUNTIME), folder)


def serve(connection: Connection, runtime: Any, folder: str) -> None:
    """Load the app, say what is in it, and run its functions until the host is gone."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    connection.send(loop.run_until_complete(index(runtime, folder)))
    tasks: set[asyncio.Task[None]] = set()  # the loop itself would let them be collected

    async def answered(number: int, call: dict[str, Any]) -> None:
        connection.send(await invoke(runtime, number, call))

    def start(number: int, call: dict[str, Any]) -> None:
        tasks.add(task := loop.create_task(answered(number, call)))
        task.add_done_callback(tasks.discard)

    def hear(asked: tuple[int, dict[str, Any]]) -> object:
        return loop.call_soon_threadsafe(start, *asked)

    threading.Thread(target=listen, args=(connection, hear), daemon=True).start()
    loop.run_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
