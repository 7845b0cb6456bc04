"""How properties are tried, the same inputs each time, so that a red run is red again (`make properties` draws others); and what spares the suite time."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# no time limit for an example or for drawing it, which a busy machine breaks: a hang ends the run
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeated", derandomize=True, **UNTIMED)
settings.register_profile("drawn", print_blob=True, **UNTIMED)
settings.load_profile("repeated")

pytest_plugins = ["guards", "order"]

SDK = "azure.servicebus"
WAITING = (
    f"{SDK}._pyamqp.client",
    f"{SDK}._servicebus_receiver",
    f"{SDK}._servicebus_sender",
    f"{SDK}._session_browser",
)
SHORTER = {0.05: 0.005, 1: 0.02}
"""Seconds between two looks of the SDK: whether a link is open, and whether the thread for idle links is to end, for which a link that closes waits."""


@pytest.fixture(scope="session", autouse=True)
def _opens_and_closes_links_at_once() -> Iterator[None]:
    """Let azure-servicebus look sooner whether a link is open or may close: each took half a second, in which nothing happened."""

    def sleep(seconds: float) -> None:
        time.sleep(SHORTER.get(seconds, seconds))

    quicker = SimpleNamespace(**{**vars(time), "sleep": sleep})
    with pytest.MonkeyPatch.context() as patch:
        for name in WAITING:
            if name in sys.modules:  # it is, where a test that was collected imports the SDK
                patch.setattr(sys.modules[name], "time", quicker)
        yield


@pytest.fixture(scope="session", autouse=True)
def _reads_models_of_aws_once() -> Iterator[None]:
    """Share between boto3's sessions what they have read: each took 70 ms for the models of its services, and each command makes sessions."""
    with pytest.MonkeyPatch.context() as patch:
        if module := sys.modules.get("botocore.session"):
            patch.setattr(module, "create_loader", cache(module.create_loader))
        yield


def pytest_collection_finish() -> None:
    """Collect garbage less often, and never what was collected of tests: the many objects of a world took a tenth of a search's time."""
    gc.freeze()
    gc.set_threshold(20_000)
