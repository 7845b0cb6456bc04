"""Write Function Apps for tests, whose functions do what the message tells them."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from recoverable_local.functions_host import MINIMAL_HOST_JSON

MINIMAL: dict[str, Any] = json.loads(MINIMAL_HOST_JSON)

BEGINNING = """
import json, logging, os, sys, time
import azure.functions as func

app = func.FunctionApp()

def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")  # at once, so that lines of functions beside each other stay whole

def await_gate(path):
    while not os.path.exists(path):
        time.sleep(0.01)
"""

ORDERS = """
@app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus", data_type=func.DataType.BINARY)
def orders(message: func.ServiceBusMessage) -> None:
    say("RUN", message.get_body().decode(), message.delivery_count)
    match message.get_body().decode().split():
        case ["raise", text]:
            raise ValueError(text)
        case ["exit", code]:
            os._exit(int(code))
        case ["die", code] if message.delivery_count == 1:
            os._exit(int(code))
        case ["sleep", seconds]:
            time.sleep(float(seconds))
        case ["wait", gate]:
            await_gate(gate)
        case ["log", text]:
            logging.info(text)
        case ["environment", name]:
            say("IS", os.environ[name])
"""


def app(
    folder: Path, *functions: str, host: dict[str, Any] | None = None, settings: dict[str, str] | None = None
) -> Path:
    """Write an app with these functions, or only with `orders`, into a folder."""
    source = BEGINNING + "\n".join(dedent(each) for each in functions or (ORDERS,))
    (folder / "function_app.py").write_text(source)
    (folder / "host.json").write_text(json.dumps({**MINIMAL, **(host or {})}))
    if settings is not None:
        (folder / "local.settings.json").write_text(json.dumps({"IsEncrypted": False, "Values": settings}))
    return folder
