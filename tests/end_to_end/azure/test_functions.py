"""The ladder in Microsoft's own worker, on a Service Bus namespace on loopback, through the real SDK."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from attempts_table import TABLE
from deadlines import WHOLE_RUN
from recoverable_local.functions_host import LocalFunctions
from recoverable_local.service_bus import Queue, ServiceBusNamespace

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end_azure")]

HERE = Path(__file__).parent

BODIES = ("first", "second", "third")
GOOD = [f"good-{number}" for number in range(9)]


def runs(*hosts: LocalFunctions) -> list[str]:
    """Return what the handlers were called with."""
    lines = [line.line for host in hosts for line in host.function_log]
    return [line.removeprefix("RUN ") for line in lines if line.startswith("RUN ")]


def every_attempt(immediate: int, delayed: int) -> list[str]:
    """Return the expected runs: each body once in each attempt of each round."""
    attempts = [f"{round_}.{attempt}" for round_ in range(delayed + 1) for attempt in range(1, immediate + 2)]
    return [f"orders-{immediate}-{delayed} {body} {attempt}" for body in BODIES for attempt in attempts]


def queues(names: Iterable[str]) -> list[Queue]:
    """Return queues whose dead letters go to the error queue."""
    dead = {"forward_dead_lettered_messages_to": "error"}
    return [*(Queue(name, max_delivery_count=100, **dead) for name in names), Queue("error")]  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [1, 3])
def test_the_attempts_of_the_table_are_made_by_any_number_of_hosts(count: int) -> None:
    rows = [(immediate, delayed) for immediate, delayed, _ in TABLE]
    settings = {"TABLE": json.dumps(rows), "AzureWebJobsServiceBus": "the namespace that is given goes first"}
    with ExitStack() as running:
        names = [f"orders-{immediate}-{delayed}" for immediate, delayed in rows]
        namespace = running.enter_context(ServiceBusNamespace(queues(names)))
        hosts = [
            running.enter_context(
                LocalFunctions.from_folder(
                    HERE / "table", app_settings=settings, connection_string=namespace.connection_string
                )
            )
            for _ in range(count)
        ]
        for name in names:
            hosts[0].send(name, *BODIES)
        expected = sum(attempts for *_, attempts in TABLE) * len(BODIES)
        arrived = namespace.queue("error")
        hosts[0].run_until(lambda: arrived.depth().active == len(TABLE) * len(BODIES), deadline=WHOLE_RUN)
        hosts[0].run_until(lambda: len(runs(*hosts)) >= expected, deadline=WHOLE_RUN)
        hosts[0].run_until(lambda: not any(namespace.queue(name).depth().total for name in names), deadline=WHOLE_RUN)

    made = Counter(runs(*hosts))
    assert made == Counter(run for row in rows for run in every_attempt(*row))
    assert made.total() == expected


@pytest.mark.parametrize(
    ("tenth", "settings"),
    [
        ("kill", {}),
        # in which, after a time-out, a new worker starts, imports the SDK and sends
        ("sleep", {"AzureFunctionsJobHost__functionTimeout": "00:00:04"}),
    ],
)
def test_a_message_that_kills_at_every_delivery_is_retried_and_its_neighbours_are_processed(
    tenth: str, settings: dict[str, str]
) -> None:
    with LocalFunctions.from_folder(HERE / "jobs", app_settings=settings) as host:
        host.send("jobs", *GOOD[:5], tenth, *GOOD[5:])
        host.run_until(
            lambda: (host.queue("jobs").depth().total, host.queue("error").depth().active) == (0, 1), deadline=WHOLE_RUN
        )
        host.run_until(lambda: {run.split()[0] for run in runs(host)} == {*GOOD, tenth}, deadline=WHOLE_RUN)
        [dead] = host.queue("error").messages()

    reason = dead.application_properties["NServiceBus.ExceptionInfo.ExceptionType"]
    assert (dead.body.decode(), reason) == (tenth, "recoverable.UnreportedFailure")
    assert {run.split()[1].split(".")[0] for run in runs(host) if run.startswith(tenth)} == {"0", "1"}


def test_one_at_a_time_not_even_what_kills_at_once_touches_its_neighbours() -> None:
    settings = {"AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls": "1"}
    with LocalFunctions.from_folder(HERE / "jobs", app_settings=settings) as host:
        host.send("jobs", *GOOD[:5], "kill at once", *GOOD[5:])
        host.run_until(
            lambda: (host.queue("jobs").depth().total, host.queue("error").depth().active) == (0, 1), deadline=WHOLE_RUN
        )
        host.run_until(lambda: len(runs(host)) >= len(GOOD) + 8, deadline=WHOLE_RUN)
        [dead] = host.queue("error").messages()

    made = Counter(run.rpartition(" ")[0] for run in runs(host))
    assert (dead.body, made) == (b"kill at once", Counter({**dict.fromkeys(GOOD, 1), "kill at once": 8}))
