"""What an app imports until its first failure, and what it does without."""

from __future__ import annotations

import subprocess
import sys

from sources import DEAR, runtime_modules

PROGRAM = """
import sys

for name in {missing}:
    sys.modules[name] = None  # as if it were not installed

from recoverable import Message
from recoverable.azure import ServiceBusEndpoint

class Native:
    application_properties, user_properties, session_id, message_id, delivery_count, enqueued_time_utc, metadata = {{}}, {{}}, None, "m", 1, None, None
    def get_body(self):
        return b"{{}}"

def place_order(message: Message) -> None:
    message.json()

endpoint = ServiceBusEndpoint(place_order, queue="orders", connection="ServiceBus")
endpoint(Native())
print(sorted(name for name in sys.modules if "importlib" not in name and sys.modules[name]))
try:
    endpoint.blueprint()
except ImportError as error:
    print(error)
"""

FAILURE_SIDE = {"recoverable._ladder.decision", "recoverable._service_bus.senders", "recoverable.azure._settling"}


OF_LOGGING = {"traceback"}
"""Imported by `logging` of the standard library, which the Functions worker has imported before."""


def printed(*missing: str) -> list[str]:
    """Return what a fresh interpreter prints."""
    program = PROGRAM.format(missing=missing)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return ended.stdout.splitlines()


def test_before_the_first_failure_no_sdk_is_imported_and_nothing_of_the_failure_side() -> None:
    imported = printed()[0]

    assert "'azure." not in imported
    assert runtime_modules() >= FAILURE_SIDE
    assert [name for name in FAILURE_SIDE | (DEAR - OF_LOGGING) if f"'{name}'" in imported] == []


def test_without_the_sdks_all_works_until_a_blueprint_is_wanted() -> None:
    _, error = printed("azure.functions", "azure.servicebus")

    assert error.startswith("import of azure.functions halted")
    assert error.endswith("; write pip install 'recoverable[azure]'")
