"""One handler module on both clouds: the same attempts, the same delays, the same log, the same headers on what is given up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deadlines import WHOLE_RUN
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable.headers import MESSAGE_ID
from recoverable_local.functions_host import LocalFunctions
from recoverable_local.lambda_host import LocalAws

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end_azure")]

APP = Path(__file__).with_name("both")

ORDERS = {
    "m-good": {"fails": "never"},
    "m-always": {"fails": "always"},
    "m-late": {"fails": "in round 0"},
    "m-declined": {"fails": "for good"},
    "m-unreadable": None,
}
RUN = {
    "m-good": ["0.1"],
    "m-always": ["0.1", "0.2", "1.1", "1.2", "2.1", "2.2"],
    "m-late": ["0.1", "0.2", "1.1"],
    "m-declined": ["0.1"],
    "m-unreadable": ["0.1"],
}
"""The attempts of each order, as round and attempt."""

AT_ONCE, LATER, ASIDE = (f"recoverable.{which}:" for which in ("immediate_retry", "delayed_retry", "move_to_error"))
LOGGED = {
    "m-good": [],
    "m-always": [AT_ONCE, LATER, AT_ONCE, LATER, AT_ONCE, ASIDE],
    "m-late": [AT_ONCE, LATER, "recoverable.complete:"],
    "m-declined": [ASIDE],
    "m-unreadable": [ASIDE],
}
"""The loggers that say what was done with each."""

GIVEN_UP = {"m-always", "m-declined", "m-unreadable"}

DIFFERENT = {
    "NServiceBus.TimeSent",
    "NServiceBus.TimeOfFailure",
    "NServiceBus.ExceptionInfo.Data.Handler start time",
    "NServiceBus.ExceptionInfo.Data.Handler failure time",
    "NServiceBus.ProcessingMachine",
    "$.diagnostics.hostid",
    "$.diagnostics.hostdisplayname",
    "Recoverable.FailedQueue",
    "Recoverable.FirstFailedAt",
    "Recoverable.Origin",
}
"""The headers whose values are of the time and the place, and the id that the broker gave."""

FACTS = re.compile(r" \[action=[^\]]*\]")
TOOK = re.compile(r"[0-9:.]+ after its first failure")


@dataclass(frozen=True)
class Seen:
    """The result of the orders on one cloud, by message id.

    Args:
        attempts: The attempts of each in order, as round and attempt.
        waits: Seconds between an attempt and the next.
        log: The lines about each in order.
        headers: Those of ours on each that was given up.
    """

    attempts: Mapping[str, list[str]]
    waits: Mapping[str, list[float]]
    log: Mapping[str, list[str]]
    headers: Mapping[str, Mapping[str, str]]


def body(order: dict[str, str] | None) -> str:
    """Return the message of an order; None makes one that cannot be read."""
    return "{" if order is None else json.dumps(order)


def log_of(host: LocalAws | LocalFunctions) -> list[str]:
    """Wait for all that the functions wrote, and return it: it comes by another way than the answers."""

    def is_complete() -> bool:
        words = Counter(line.line.split(" ", 1)[0] for line in host.function_log)
        return all(words[word] >= sum(map(len, of.values())) for word, of in (("RUN", RUN), ("LOG", LOGGED)))

    host.run_until(is_complete, deadline=WHOLE_RUN)
    return [line.line for line in host.function_log]


def seen(lines: list[str], headers: list[Mapping[str, Any]]) -> Seen:
    """Return what the functions wrote, and what lies in the error queue."""
    runs = [line.split()[1:] for line in lines if line.startswith("RUN ")]
    times = {one: [float(at) for each, _, at in runs if each == one] for one in ORDERS}
    return Seen(
        attempts={one: [attempt for each, attempt, _ in runs if each == one] for one in ORDERS},
        waits={one: [late - early for early, late in pairwise(times[one])] for one in ORDERS},
        log={one: [line for line in lines if line.startswith("LOG ") and f"'{one}'" in line] for one in ORDERS},
        headers={each[MESSAGE_ID]: ours(each) for each in headers},
    )


def ours(headers: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers by which a message is traced, without those that name the place."""
    return {
        name: str(value) for name, value in headers.items() if name.startswith(("NServiceBus.", "Recoverable.", "$."))
    }


@pytest.fixture(scope="module")
def on_aws() -> Seen:
    with LocalAws.from_template(APP / "template.yaml") as host:
        for one, order in ORDERS.items():
            wrapped = json.dumps({MESSAGE_ID: one})
            host.send("orders", body(order), attributes={"NServiceBus.AmazonSQS.Headers": wrapped})
        host.run_until(
            lambda: (host.queue("orders").depth().total, host.queue("error").depth().total) == (0, 3),
            deadline=WHOLE_RUN,
        )
        return seen(log_of(host), [each.headers for each in host.queue("error").messages()])


@pytest.fixture(scope="module")
def on_azure() -> Seen:
    with LocalFunctions.from_folder(APP) as host:
        for one, order in ORDERS.items():
            host.send("orders", body(order), application_properties={MESSAGE_ID: one})
        host.run_until(
            lambda: (host.queue("orders").depth().total, host.queue("error").depth().active) == (0, 3),
            deadline=WHOLE_RUN,
        )
        arrived = [each.application_properties for each in host.queue("error").messages()]
        return seen(log_of(host), arrived)


def test_the_attempts_are_the_same(on_aws: Seen, on_azure: Seen) -> None:
    assert on_azure.attempts == on_aws.attempts == RUN


def test_no_delayed_retry_comes_too_early(on_aws: Seen, on_azure: Seen) -> None:
    for cloud in (on_aws, on_azure):
        _, first, _, second, _ = cloud.waits["m-always"]
        assert (first >= 1, second >= 2) == (True, True)


def test_the_log_is_the_same(on_aws: Seen, on_azure: Seen) -> None:
    # on Functions the facts stand in the text, for its worker passes on nothing else
    assert untimed(on_azure) == untimed(on_aws)
    assert {one: [line.split()[2] for line in lines] for one, lines in on_azure.log.items()} == LOGGED


def untimed(seen: Seen) -> dict[str, list[str]]:
    """Return the lines of the log without facts, and without how long a success took."""
    return {one: [TOOK.sub("", FACTS.sub("", line)) for line in lines] for one, lines in seen.log.items()}


@pytest.mark.parametrize("one", sorted(GIVEN_UP))
def test_the_headers_of_what_is_given_up_are_the_same_but_for_time_and_place(
    on_aws: Seen, on_azure: Seen, one: str
) -> None:
    there, here = on_aws.headers[one], on_azure.headers[one]

    assert there.keys() - here.keys() == {
        "Recoverable.RequestId",
        "Recoverable.LogGroup",
        "Recoverable.LogStream",
        "Recoverable.Version",
    }  # which Functions does not tell
    assert {name for name in here if there[name] != here[name]} == DIFFERENT
    assert (here[FAILED_QUEUE], here[MESSAGE_ID]) == ("orders", one)
