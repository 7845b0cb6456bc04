"""Ordered sessions, and a batch with a refused copy, in Microsoft's own worker and through the real SDK."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from deadlines import WHOLE_RUN
from recoverable_local.functions_host import LocalFunctions

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end_azure")]

APP = Path(__file__).parent / "refusals"


def runs(host: LocalFunctions) -> list[str]:
    """Return what the handlers were called with."""
    return [line.line.removeprefix("RUN ") for line in host.function_log if line.line.startswith("RUN ")]


def test_a_session_keeps_its_order_over_delayed_retries() -> None:
    with LocalFunctions.from_folder(APP) as host:
        host.send("sessions", "bad", "good", session_id="customer-7")
        host.run_until(lambda: any(run.startswith("good") for run in runs(host)), deadline=WHOLE_RUN)
        [given_up] = host.queue("error").messages()

    assert runs(host) == ["bad 0.1", "bad 0.2", "bad 1.1", "bad 1.2", "good 0.1"]
    assert given_up.body == b"bad"


def test_a_copy_that_a_queue_refuses_multiplies_no_neighbour_in_its_batch() -> None:
    with LocalFunctions.from_folder(APP) as host:
        host.send("batches", "bad", "refused", "good")
        host.run_until(
            lambda: (host.queue("batches").depth().total, host.queue("error").depth().active) == (0, 2),
            deadline=WHOLE_RUN,
        )
        given_up = Counter(message.body for message in host.queue("error").messages())

    assert (Counter(runs(host)), given_up) == (
        Counter({"bad 0.1": 1, "refused 0.1": 1, "good 0.1": 1}),
        Counter({b"bad": 1, b"refused": 1}),
    )
