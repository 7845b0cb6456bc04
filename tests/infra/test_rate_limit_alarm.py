"""The alarm that the rate has been limited for long: what it counts stands in the log that the functions really write."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from awslambdaric.lambda_runtime_log_utils import JsonFormatter

from aws.recording_client import RecordingClient
from aws.records import event, record
from infra.decided import decided
from infra.features import asking_for
from infra.sam_template import bounds, template
from recoverable import Failed, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.circuit import Limited, probe_again_after

SAM = template()
RESOURCES = decided(SAM, asking_for("a paused trigger"))["Resources"]
ALARM = RESOURCES["RateLimitedAlarm"]["Properties"]
FILTERS = [RESOURCES[name]["Properties"] for name in ("RateLimitedOrders", "RateLimitedProbes")]
LEVEL = SAM["Globals"]["Function"]["LoggingConfig"]["ApplicationLogLevel"]
NOW = datetime(2030, 1, 1, tzinfo=UTC)
DOWN = "the database is down"


class Log(logging.Handler):
    """Keeps the lines as Lambda writes them in the format of the template."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class NoTime:
    """The context of an invocation whose time is over."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 0


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    log, ours = Log(), logging.getLogger("recoverable")
    with caplog.at_level(LEVEL, ours.name):
        ours.addHandler(log)
        yield log
        ours.removeHandler(log)


def fail(_message: Message) -> None:
    raise ConnectionError(DOWN)


def endpoint(limit: RateLimit | None = None) -> SqsEndpoint:
    recoverability = Recoverability(failed=Failed("orders-error"), rate_limit=limit)
    return SqsEndpoint(fail, recoverability, client=RecordingClient().as_client())


def matches(pattern: str, line: str) -> bool:
    """Whether CloudWatch's pattern of quoted terms matches: each of them is in the line ("Filter pattern syntax")."""
    return all(term in line for term in shlex.split(pattern))


def counted(log: Log) -> list[tuple[str, str]]:
    """The lines that the metric counts: who wrote them, and about which message."""
    lines = [json.loads(line) for line in log.lines if matches(FILTERS[0]["FilterPattern"], line)]
    return [(line["logger"], line["message_id"]) for line in lines]


def test_each_deferral_while_the_rate_is_limited_counts_once(log: Log) -> None:
    limited = endpoint(RateLimit(1))

    limited(event(record(message_id="fails first"), record(message_id="waits")))

    assert counted(log) == [("recoverable.deferral", "fails first"), ("recoverable.deferral", "waits")]


def test_the_lines_of_a_switch_and_of_other_deferrals_do_not_count(log: Log) -> None:
    endpoint()(event(record()), NoTime())
    endpoint(RateLimit(1))(event(record(message_id="switches")))

    loggers = [json.loads(line)["logger"] for line in log.lines]
    assert (loggers.count("recoverable.deferral"), loggers.count("recoverable.rate_limit")) == (2, 1)
    assert [message_id for _, message_id in counted(log)] == ["switches"]


def test_both_functions_lines_go_into_the_metric_that_the_alarm_watches() -> None:
    logs = [(each["LogGroupName"], each["FilterPattern"], each["MetricTransformations"]) for each in FILTERS]
    metric = {"MetricNamespace": ALARM["Namespace"], "MetricName": ALARM["MetricName"], "MetricValue": "1"}

    pattern = FILTERS[0]["FilterPattern"]
    assert logs == [({"Ref": "OrdersLog"}, pattern, [metric]), ({"Ref": "ProbeLog"}, pattern, [metric])]


def test_each_period_of_an_outage_has_a_line() -> None:
    """The message that was attempted comes back soonest; that, a full visibility wait aside, is when the next line is written."""
    ages = [timedelta(minutes=minutes) for minutes in (1, 10, 60, 1440)]

    waits = [probe_again_after(Limited(NOW - age, NOW), RateLimit(1), "a message", NOW) for age in ages]

    assert max(waits) * 2 < timedelta(seconds=ALARM["Period"])


@pytest.mark.parametrize("minutes", bounds(SAM, "RateLimitedAlarmMinutes"))
def test_the_alarm_waits_for_as_many_minutes_as_it_is_told(minutes: int) -> None:
    periods = SAM["Mappings"]["ByAlarmMinutes"][str(minutes)]["Periods"]

    assert periods * ALARM["Period"] == minutes * 60
