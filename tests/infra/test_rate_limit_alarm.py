"""The alarm that the rate has been limited for long: what it counts stands in the log that the functions really write."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, repeat

import pytest

from aws.recording_client import RecordingClient
from aws.records import event, record
from infra.decided import decided
from infra.features import asking_for
from infra.lambda_log import Log, package_log
from infra.sam_template import bounds, template
from recoverable import Failed, Message, RateLimit, Recoverability
from recoverable._rate_limit.state import Open, delay_of_probe
from recoverable.aws import SqsEndpoint

SAM = template()
RESOURCES = decided(SAM, asking_for("a paused trigger"))["Resources"]
ALARM = RESOURCES["RateLimitedAlarm"]["Properties"]
FILTERS = [RESOURCES[name]["Properties"] for name in ("RateLimitedOrders", "RateLimitedProbes")]
PATTERN = FILTERS[0]["FilterPattern"]
NOW = datetime(2030, 1, 1, tzinfo=UTC)


class NoTime:
    """The context of an invocation whose time is over before its handler begins."""

    def __init__(self) -> None:
        self._milliseconds = chain([60_000], repeat(0))

    def get_remaining_time_in_millis(self) -> int:
        return next(self._milliseconds)


@pytest.fixture
def log() -> Iterator[Log]:
    with package_log() as log:
        yield log


def fail(_message: Message) -> None:
    raise ConnectionError("the database is down")


def endpoint(limit: RateLimit | None = None) -> SqsEndpoint:
    recoverability = Recoverability(failed=Failed("orders-error"), rate_limit=limit)
    hidden = timedelta(minutes=6)
    return SqsEndpoint(fail, recoverability, client=RecordingClient().as_client(), visibility_timeout=hidden)


def counted(log: Log) -> list[tuple[str, str]]:
    """Return the lines that the metric counts: who wrote them, and about which message."""
    return [(line["logger"], line["message_id"]) for line in log.found(PATTERN)]


def test_each_deferral_while_the_rate_is_limited_counts_once(log: Log) -> None:
    limited = endpoint(RateLimit(1))

    limited(event(record(message_id="fails first"), record(message_id="waits")))

    assert counted(log) == [("recoverable.deferral", "fails first"), ("recoverable.deferral", "waits")]


def test_a_deferral_for_lack_of_time_does_not_count(log: Log) -> None:
    endpoint()(event(record()), NoTime())

    assert (len(log.found('"recoverable.deferral"')), counted(log)) == (1, [])


def test_the_line_of_a_switch_does_not_count(log: Log) -> None:
    endpoint(RateLimit(1))(event(record()))

    assert (len(log.found('"recoverable.rate_limit"')), len(counted(log))) == (1, 1)


def test_both_functions_lines_go_into_the_metric_that_the_alarm_watches() -> None:
    logs = [(each["LogGroupName"], each["FilterPattern"], each["MetricTransformations"]) for each in FILTERS]
    metric = {"MetricNamespace": ALARM["Namespace"], "MetricName": ALARM["MetricName"], "MetricValue": "1"}

    assert logs == [({"Ref": "OrdersLog"}, PATTERN, [metric]), ({"Ref": "ProbeLog"}, PATTERN, [metric])]


def test_each_period_of_an_outage_has_a_line() -> None:
    """The message that was attempted comes back soonest, and is attempted or deferred then; twice that leaves room for its delivery."""
    ages = [timedelta(minutes=minutes) for minutes in (1, 10, 60, 1440)]

    waits = [delay_of_probe(Open(NOW - age, NOW), RateLimit(1), "a message", NOW) for age in ages]

    assert max(waits) * 2 < timedelta(seconds=ALARM["Period"])


@pytest.mark.parametrize("minutes", bounds(SAM, "RateLimitedAlarmMinutes"))
def test_the_alarm_waits_for_as_many_minutes_as_the_parameter_says(minutes: int) -> None:
    periods = SAM["Mappings"]["ByAlarmMinutes"][str(minutes)]["Periods"]

    assert periods * ALARM["Period"] == minutes * 60
