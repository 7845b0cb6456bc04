"""One message whole: the link to its log, its trace in the order of Python, and lines that nobody can forge."""

from __future__ import annotations

import time

import pytest

from operate.failing import FRAME, fault_headers
from recoverable_operate._commands.places import Place
from recoverable_operate._commands.whole import lines_of
from recoverable_operate.errors import FailedMessage

ERROR = "arn:aws:sqs:eu-west-1:123456789012:orders-error"
ON_AZURE = "sb://shop.servicebus.windows.net/orders-error"
LOG = {
    "Recoverable.LogGroup": "/aws/lambda/orders",
    "Recoverable.LogStream": "2026/11/22/[7]58f4",
    "Recoverable.RequestId": "8476a536",
    "Recoverable.Version": "7",
}


def shown(*, queue: str = ERROR, app_insights: str | None = None, id: str = "order-1", **headers: str) -> list[str]:  # noqa: A002  # as the message calls it
    """Return the lines that describe a message with these headers."""
    message = FailedMessage(id, "1", fault_headers(**headers), b"{}")
    return list(lines_of(message, Place(queue=queue, app_insights=app_insights), queue))


def log_of(lines: list[str]) -> list[str]:
    """Return the links and queries among the lines."""
    return [line.removeprefix("  log: ") for line in lines if line.startswith("  log: ")]


def test_the_log_of_the_last_attempt_is_a_link_into_the_console() -> None:
    assert log_of(shown(**LOG)) == [
        "https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/"
        "$252Faws$252Flambda$252Forders/log-events/2026$252F11$252F22$252F$255B7$255D58f4"
        "$3FfilterPattern$3D$25228476a536$2522"
    ]


def test_with_snapstart_which_names_no_log_the_link_is_to_the_request_in_the_function_s_group() -> None:
    named = {"Recoverable.RequestId": "8476a536", "$.diagnostics.hostdisplayname": "orders"}

    assert log_of(shown(**named)) == [
        "https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/"
        "$252Faws$252Flambda$252Forders/log-events$3FfilterPattern$3D$25228476a536$2522"
    ]


@pytest.mark.parametrize(
    ("partition", "host"), [("aws-cn", "console.amazonaws.cn"), ("aws-us-gov", "console.amazonaws-us-gov.com")]
)
def test_the_partition_of_the_error_queue_chooses_the_consoles_host(partition: str, host: str) -> None:
    [link] = log_of(shown(queue=ERROR.replace(":aws:", f":{partition}:"), **LOG))

    assert link.startswith(f"https://{host}/cloudwatch/home?region=eu-west-1#")


def test_a_header_cannot_lead_a_link_elsewhere() -> None:
    forged = dict.fromkeys(LOG, '@evil.test/"?#&\n')

    [link] = log_of(shown(**forged))

    assert link.startswith(
        "https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/$2540evil.test$252F"
    )
    assert not set('@"&\n ') & set(link)


def test_on_azure_the_log_is_a_query_which_is_a_link_where_the_resource_is_known() -> None:
    query, link = (
        log_of(shown(queue=ON_AZURE, app_insights=resource, id='o"1')) for resource in (None, "/subscriptions/1/x")
    )

    assert query == ['union traces, exceptions | where * has "o\\"1" | order by timestamp asc']
    assert link == [
        "https://portal.azure.com/#blade/Microsoft_OperationsManagementSuite_Workspace/Logs.ReactView/resourceId/"
        "%2Fsubscriptions%2F1%2Fx/source/LogsBlade.AnalyticsShareLinkToQuery/query/union%20traces%2C%20exceptions%20%7C%20"
        "where%20%2A%20has%20%22o%5C%221%22%20%7C%20order%20by%20timestamp%20asc"
    ]


def test_a_value_with_line_ends_forges_no_line() -> None:
    forged = "x\nmessage other\ngroup   forged\nbody"

    lines = shown(**{"id": forged, "message": forged, "type": forged, "Recoverable.LogStream": forged, forged: forged})

    assert [line for line in lines if line in ("message other", "group   forged", "body")] == ["body"]


def test_a_trace_is_shown_as_python_writes_it() -> None:
    trace = "\n".join(
        (
            "bank.BankUnavailable: no answer ---> TimeoutError: 5 s",
            "   at http.get() in /opt/python/http.py:line 7",
            "   at bank.ask() in /var/task/bank.py:line 9",
            "   --- End of inner exception stack trace ---",
            "   at bank.pay() in /var/task/bank.py:line 3",
            FRAME,
        )
    )

    lines = shown(trace=trace)

    start = lines.index("stack trace (most recent call last)")
    assert lines[start + 1 : start + 8] == [
        '    File "/var/task/bank.py", line 9, in bank.ask',
        '    File "/opt/python/http.py", line 7, in http.get',
        "  TimeoutError: 5 s",
        "  which led to:",
        '    File "/var/task/orders.py", line 12, in orders.place_order',
        '    File "/var/task/bank.py", line 3, in bank.pay',
        "  bank.BankUnavailable: no answer",
    ]


@pytest.mark.parametrize(
    "trace",
    ["System.Exception: no\n   at Shop.Pay() in /src/Pay.cs:line 4", f"a.A: x ---> b.B: y\n{FRAME}", "a text"],
    ids=["NServiceBus", "cut", "none"],
)
def test_any_other_trace_is_shown_as_it_is(trace: str) -> None:
    lines = shown(trace=trace)

    start = lines.index("stack trace")
    assert lines[start + 1 : start + 1 + len(trace.splitlines())] == [f"  {line}" for line in trace.splitlines()]


def test_local_time_stands_beside_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        lines = shown()
    finally:
        monkeypatch.undo()
        time.tzset()

    assert "  2026-11-22 10:00:00 (Sun 15:30 IST)  failed for the last time, at orders" in lines


TOOK = {
    "said": ({"start": "09:59:59:250000 Z", "failure": "10:00:00:000000 Z"}, " after 0.750 s"),
    "backwards": ({"start": "10:00:01:000000 Z", "failure": "10:00:00:000000 Z"}, ""),
    "half": ({"start": "09:59:59:250000 Z"}, ""),
}


@pytest.mark.parametrize(("said", "shown_as"), TOOK.values(), ids=TOOK)
def test_for_how_long_the_last_attempt_ran_is_shown_where_it_is_known(said: dict[str, str], shown_as: str) -> None:
    times = {
        f"NServiceBus.ExceptionInfo.Data.Handler {which} time": f"2026-11-22 {time_}" for which, time_ in said.items()
    }

    [line] = [line for line in shown(**times) if "failed for the last time" in line]

    assert line.endswith(f"failed for the last time{shown_as}, at orders")
