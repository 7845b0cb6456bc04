"""Test that the host creates the error queue that an endpoint names in the namespace that it serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.functions_host.apps import app
from recoverable_local.functions_host import LocalFunctions

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("functions_host")]

ENDPOINT = """
from recoverable import Failed, Recoverability
from recoverable.azure import ServiceBusEndpoint

def place_order(message):
    pass

ladder = Recoverability(failed=Failed("orders-error"))
app.register_functions(ServiceBusEndpoint(place_order, ladder, queue="orders", connection="ServiceBus").blueprint())
"""


def test_the_namespace_has_the_error_queue_of_the_apps_endpoint(tmp_path: Path) -> None:
    with LocalFunctions.from_folder(app(tmp_path, ENDPOINT)) as host:
        assert host.queues == ("orders-error", "orders")
