"""What recoverability costs a Function per good message, beside a bare one in the same host, and its import beside others': one table."""

from __future__ import annotations

import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from azure.functions import Blueprint, FunctionApp
from azure.functions.meta import Datum
from azure.functions.servicebus import ServiceBusMessageInConverter
from rich.console import Console
from rich.table import Table

from measuring import printed
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.functions_host import MINIMAL_HOST_JSON, Ended, Entry, LocalFunctions, Worker
from recoverable_local.functions_host.worker.rpc import to_metadata

MESSAGES, INVOCATIONS, IMPORTS = 300, 100, 9
TIMEOUT = 60  # seconds

APP = """
import azure.functions as func
from recoverable.azure import ServiceBusEndpoint

app = func.FunctionApp()

@app.service_bus_queue_trigger(arg_name="message", queue_name="bare", connection="ServiceBus", data_type=func.DataType.BINARY)
def bare(message: func.ServiceBusMessage) -> None:
    message.get_body()

def ours(message):
    message.body

app.register_functions(ServiceBusEndpoint(ours, queue="ours", connection="ServiceBus").blueprint())
"""

METADATA: dict[str, Any] = {
    "MessageId": "m-1", "DeliveryCount": 1, "SequenceNumber": 42, "LockToken": "6a3b0a52-0000-4000-8000-000000000001",
    "ApplicationProperties": {"tenant": "north"}, "UserProperties": {"tenant": "north"},
}  # fmt: skip

IMPORT = """
import sys, time
{before}
start = time.perf_counter()
{what}
print((time.perf_counter() - start) * 1e3)
"""


def in_turn(measure: Callable[[str], float], rounds: int) -> tuple[float, float]:
    """Return the best of bare and of ours, measured in turn: other work on the machine only slows down, and a drift of its speed is fair to both."""
    figures = [(measure("bare"), measure("ours")) for _ in range(rounds)]
    return min(figure for figure, _ in figures), min(figure for _, figure in figures)


def through_service_bus(folder: Path) -> tuple[float, float]:
    """Measure the microseconds of a message from queue to completion, with many on their way at once."""
    ended: list[float] = []

    def observe(entry: Entry) -> None:
        if isinstance(entry, Ended):
            ended.append(time.perf_counter())

    with LocalFunctions.from_folder(folder, observe=observe) as host:

        def measure(queue: str) -> float:
            ended.clear()
            host.send(queue, *["{}"] * MESSAGES)
            end = time.monotonic() + TIMEOUT
            while len(ended) < MESSAGES:
                if time.monotonic() > end:
                    raise TimeoutError(f"only {len(ended)} of {MESSAGES} messages were handled")
                time.sleep(0.001)
            return (ended[-1] - ended[0]) / (MESSAGES - 1) * 1e6

        in_turn(measure, 1)  # links are opened, and all is warm
        return in_turn(measure, 10)


def in_the_worker(folder: Path) -> tuple[float, float]:
    """Measure the microseconds of an invocation in Microsoft's worker, one after the other, without a broker."""
    with Worker(folder, settings={"ServiceBus": "unused"}) as worker:

        def measure(function: str) -> float:
            start = time.perf_counter()
            for _ in range(INVOCATIONS):
                worker.invoke(function, b"{}", METADATA)
            return (time.perf_counter() - start) / INVOCATIONS * 1e6

        return in_turn(measure, 40)


def decoded_and_called() -> tuple[float, float]:
    """Measure the microseconds of the function itself, with the decoding of its message, which the worker does for each."""
    endpoint = ServiceBusEndpoint(lambda each: each.body, queue="ours", connection="ServiceBus", name="ours")
    [ours] = [each.get_user_function() for each in registered(endpoint.blueprint())]
    functions: dict[str, Callable[[Any], Any]] = {"bare": lambda message: message.get_body(), "ours": ours}
    metadata = {name: Datum(typed.value, typed.kind) for name, typed in to_metadata(METADATA).items()}
    body, calls = Datum(b"{}", "bytes"), 5_000

    def once(function: Callable[[Any], Any]) -> None:
        function(ServiceBusMessageInConverter.decode(body, trigger_metadata=metadata))

    def measure(which: str) -> float:
        return timeit.timeit(lambda: once(functions[which]), number=calls) / calls * 1e6

    return in_turn(measure, 15)


def registered(blueprint: Blueprint) -> list[Any]:
    """Return the functions of a blueprint."""
    app = FunctionApp()
    app.register_functions(blueprint)
    found: list[Any] = app.get_functions()
    return found


def importing(what: str, before: str = "") -> float:
    """Measure the milliseconds of an import in a fresh interpreter."""
    program = ["-c", IMPORT.format(what=what, before=before)]
    return median(printed(program) for _ in range(IMPORTS))


def table() -> Table:
    """Measure all, and return the table."""
    made = Table("", "bare", "ours", "ours by bare")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "function_app.py").write_text(APP)
        (folder / "host.json").write_text(MINIMAL_HOST_JSON)
        row(made, "good message through the local host (µs)", *through_service_bus(folder))
        row(made, "good message in the worker alone (µs)", *in_the_worker(folder))
    row(made, "good message decoded and handled, alone (µs)", *decoded_and_called())
    functions = importing("import azure.functions")
    sdk = importing("import azure.servicebus")
    ours = importing("import recoverable.azure; assert 'azure.servicebus' not in sys.modules")
    row(made, "import of recoverable.azure by that of azure.functions (ms)", functions, ours)
    row(made, "import of recoverable.azure by that of azure.servicebus (ms)", sdk, ours)
    return made


def row(made: Table, what: str, bare: float, ours: float) -> None:
    """Add a line."""
    made.add_row(what, f"{bare:.1f}", f"{ours:.1f}", f"{ours / bare:.2f}")


if __name__ == "__main__":
    Console(file=sys.stdout, width=110).print(table())
