"""Test the worker process, with Microsoft's runtime and an app: start, requests, and kill."""

from __future__ import annotations

import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.apps import app
from recoverable_local.functions_host import AppError, Died, Raised, Returned, TimedOut, Typed, Worker

TOLD: dict[str, Any] = {"MessageId": "m-1", "DeliveryCount": 3, "UserProperties": {}, "ApplicationProperties": {}}

SHOW = """
@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", data_type="binary")
def show(message: func.ServiceBusMessage) -> None:
    names = ("message_id", "delivery_count", "sequence_number", "correlation_id", "enqueued_time_utc", "application_properties")
    say("SHOW", message.get_body(), [getattr(message, name) for name in names])
"""

MANY = """
from typing import List

@app.service_bus_queue_trigger(arg_name="messages", queue_name="orders", connection="ServiceBus", data_type="binary", cardinality="many")
def many(messages: List[func.ServiceBusMessage]) -> None:
    say("MANY", [(each.get_body(), each.sequence_number, each.correlation_id) for each in messages])
"""


class Lines:
    """The worker's log."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, pid: int, line: str) -> None:
        self.lines.append(line)

    def starting(self, word: str) -> list[str]:
        """Return the lines that start with a word, without this word."""
        return [line.removeprefix(f"{word} ") for line in self.lines if line.startswith(f"{word} ")]


def worker(folder: Path, *functions: str, **options: Any) -> tuple[Worker, Lines]:
    """Create a worker with an app of these functions, and its log."""
    log = Lines()
    return Worker(app(folder, *functions), on_line=log, **options), log


def test_it_tells_the_functions_of_an_app_with_their_bindings(tmp_path: Path) -> None:
    started, _ = worker(tmp_path)
    with started:
        found = [(each.name, dict(each.trigger)) for each in started.functions]

    trigger = {
        "type": "serviceBusTrigger", "direction": "IN", "name": "message",
        "queueName": "orders", "connection": "ServiceBus", "dataType": "BINARY",
    }  # fmt: skip
    assert found == [("orders", trigger)]


def test_a_function_gets_the_message_and_what_the_host_tells_of_it(tmp_path: Path) -> None:
    started, log = worker(tmp_path, SHOW)
    told = {
        **TOLD,
        "SequenceNumber": 2**40,
        "CorrelationId": None,
        "EnqueuedTimeUtc": datetime(2026, 3, 14, 15, 0, 0, 120_000, tzinfo=UTC),
        "ApplicationProperties": {"tenant": "north"},
    }
    with started:
        outcome = started.invoke("show", b"\xff", told)

    when = "datetime.datetime(2026, 3, 14, 15, 0, 0, 120000, tzinfo=datetime.timezone.utc)"
    assert outcome == Returned()
    assert log.starting("SHOW") == [rf"b'\xff' ['m-1', 3, {2**40}, None, {when}, {{'tenant': 'north'}}]"]


def test_a_function_of_many_gets_a_list(tmp_path: Path) -> None:
    started, log = worker(tmp_path, MANY)
    told: dict[str, Any] = {
        "UserPropertiesArray": [{}, {}],
        "SequenceNumberArray": Typed("collection_sint64", [1, 2]),
        "CorrelationIdArray": [None, "second"],
    }
    with started:
        outcome = started.invoke("many", [b"a", b""], told)

    assert outcome == Returned()
    assert log.starting("MANY") == ["[(b'a', 1, 'second'), (b'', 2, None)]"]


def test_an_exception_is_told_with_its_traceback(tmp_path: Path) -> None:
    started, _ = worker(tmp_path)
    with started:
        outcome = started.invoke("orders", b"raise broken", TOLD)

    assert isinstance(outcome, Raised)
    assert outcome.message == "ValueError: broken"
    assert "raise ValueError(text)\nValueError: broken" in outcome.stack_trace


def test_a_function_that_kills_its_process_kills_the_worker_alone(tmp_path: Path) -> None:
    started, log = worker(tmp_path)
    with started:
        asleep = started.submit("orders", b"sleep 60", TOLD)
        killed = started.invoke("orders", b"exit 3", TOLD)
        after = started.invoke("orders", b"good", TOLD)

    assert (killed, asleep.result(), after) == (Died(3), Died(3), Died(3))
    assert "exit 3 3" in log.starting("RUN")


def test_a_function_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    started, _ = worker(tmp_path)
    with started:
        outcome = started.invoke("orders", b"sleep 60", TOLD, timeout=timedelta(seconds=0.5))

    assert (outcome, started.process.exit_code) == (TimedOut(timedelta(seconds=0.5)), -9)


def test_leaving_kills_the_process_and_ends_the_threads(tmp_path: Path) -> None:
    started, _ = worker(tmp_path)
    with started:
        asleep = started.submit("orders", b"sleep 60", TOLD)

    assert asleep.result() == Died(-9)
    name = f"worker-{started.process.pid}"
    assert [thread for thread in threading.enumerate() if thread.name == name] == []
    with pytest.raises(ProcessLookupError):
        os.kill(started.process.pid, 0)


def test_its_settings_are_environment_variables(tmp_path: Path) -> None:
    started, log = worker(tmp_path, settings={"Stage": "blue"})
    with started:
        started.invoke("orders", b"environment Stage", TOLD)

    assert log.starting("IS") == ["blue"]


def test_modules_are_found_in_the_app_in_its_packages_and_in_further_folders(tmp_path: Path) -> None:
    packages, further = tmp_path / ".python_packages/lib/site-packages", tmp_path / "further"
    for place, folder in [("mine", tmp_path), ("required", packages), ("given", further)]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{place}.py").write_text(f"print('FOUND', {place!r})")
    started, log = worker(tmp_path, "import mine, required, given", python_path=[further])
    with started:
        pass

    assert log.starting("FOUND") == ["mine", "required", "given"]


def test_what_a_function_logs_is_a_line(tmp_path: Path) -> None:
    started, log = worker(tmp_path)
    with started:
        started.invoke("orders", b"log hello", TOLD)

    assert log.starting("INFO") == ["root: hello"]


def test_an_app_that_cannot_be_loaded_is_refused_with_the_reason(tmp_path: Path) -> None:
    started, _ = worker(tmp_path, "import nowhere_to_be_found")

    with pytest.raises(AppError, match=r"(?s)cannot be loaded: .*nowhere_to_be_found.*function_app\.py"):
        started.__enter__()


def test_an_app_that_ends_its_process_while_it_loads_is_refused(tmp_path: Path) -> None:
    started, _ = worker(tmp_path, "os._exit(7)")

    with pytest.raises(AppError, match="the worker process ended with status 7"):
        started.__enter__()


def test_a_folder_without_an_app_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AppError, match=r"There is no .*function_app\.py; give the folder of an app"):
        Worker(tmp_path).__enter__()


def test_a_function_that_is_not_there_is_refused(tmp_path: Path) -> None:
    started, _ = worker(tmp_path)
    with started, pytest.raises(KeyError, match=r"There is no function 'order'\. The app has orders"):
        started.invoke("order", b"", TOLD)


def test_a_python_without_microsoft_s_runtime_is_refused_with_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without what is installed
    bare.chmod(0o755)
    started, _ = worker(tmp_path, python=str(bare))

    with pytest.raises(AppError, match="has no azure-functions-runtime; run pip install azure-functions-runtime"):
        started.__enter__()
