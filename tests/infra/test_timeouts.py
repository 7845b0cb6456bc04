"""What template.yaml makes of timeouts: the table, the dispatcher and what it may do, and the alarms with their metrics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from inspect import signature
from runpy import run_path
from typing import Any

import pytest

from builders import Clock
from infra.aws_calls import operations
from infra.decided import decided
from infra.features import YOUR_BUCKET, asking_for
from infra.lambda_log import Log, package_log
from infra.needs import BUCKET, CALLS, DISPATCHER, ENDPOINTS, TABLE, TIMEOUTS
from infra.needs import LARGE as LARGE_TIMEOUTS
from infra.sam_template import ROOT, Template, template, transformed
from recoverable.timeouts import Dispatcher, Timeouts
from waiting.stores import Cloud, OneShard, moto

SAM = template()
RESOURCES: Template = transformed(decided(SAM, asking_for("timeouts")))["Resources"]
HOUR = timedelta(hours=1)
GONE = "arn:aws:sqs:eu-west-1:123456789012:gone"


def properties(resource: str) -> Template:
    """Return a resource's properties."""
    found: Template = RESOURCES[resource]["Properties"]
    return found


def of_type(kind: str) -> list[Template]:
    """Return the properties of all resources of a type."""
    return [resource["Properties"] for resource in RESOURCES.values() if resource["Type"] == kind]


def test_the_table_can_be_restored_and_forgets_only_what_is_done_with() -> None:
    keys = {"pk": "HASH", "sk": "RANGE"}

    assert properties(TABLE) == {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in keys],
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    }


def test_the_table_outlives_the_stack() -> None:
    kept = (RESOURCES[TABLE]["DeletionPolicy"], RESOURCES[TABLE]["UpdateReplacePolicy"])

    assert kept == ("RetainExceptOnCreate", "Retain")


def test_the_function_dispatches_from_that_table(monkeypatch: pytest.MonkeyPatch) -> None:
    function = properties("TimeoutsFunction")
    monkeypatch.setenv("TIMEOUTS_TABLE", "the table")

    handler = run_path(str(ROOT / "functions" / "aws" / "timeouts.py"))["handler"]

    assert function["Environment"]["Variables"] == {"TIMEOUTS_TABLE": {"Ref": TABLE}}
    assert function["Handler"] == "timeouts.handler"
    assert isinstance(handler, Dispatcher)


def test_it_comes_each_minute_and_a_failure_waits_for_the_next() -> None:
    (rule,), (again,) = of_type("AWS::Events::Rule"), of_type("AWS::Lambda::EventInvokeConfig")

    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert rule["Targets"][0]["Arn"] == {"Fn::GetAtt": ["TimeoutsFunction", "Arn"]}
    assert again["MaximumRetryAttempts"] == 0


def test_one_run_lasts_until_a_table_that_does_not_answer_is_a_critical_error() -> None:
    defaults = signature(Dispatcher).parameters
    critical_after, settling = defaults["critical_after"].default, defaults["settle_within"].default

    assert timedelta(seconds=properties("TimeoutsFunction")["Timeout"]) > critical_after + settling


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with moto(tmp_path_factory.mktemp("moto")) as running:
        yield running


class Recorded:
    """A client and the operations it was asked for.

    Args:
        client: a boto3 client.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.operations: set[str] = set()
        client.meta.events.register("before-call", self._note)

    def _note(self, model: Any, **_: Any) -> None:
        self.operations.add(model.name)


def test_a_dispatcher_calls_what_it_may_and_all_of_that(cloud: Cloud) -> None:
    """It is given what can be sent, with a correlation and a bare name, and what cannot, which it tries again."""
    cloud.client("sqs").create_queue(QueueName="orders")
    clock, dynamodb, sqs = Clock(), Recorded(cloud.client("dynamodb")), Recorded(cloud.client("sqs"))
    store = cloud.store()
    timeouts = Timeouts(store, clock=clock)
    timeouts.schedule("orders", "hello", delay=HOUR, correlation="saga")
    timeouts.schedule(GONE, "hello", delay=HOUR)
    clock.advance(HOUR)

    seen = OneShard(store._table.name, client=dynamodb.client)
    dispatcher = Dispatcher(seen, client=sqs.client, clock=clock)
    first = dispatcher.run()
    clock.advance(1.1 * HOUR)
    second = dispatcher.run()

    assert (first.dispatched, first.kept, second.dispatched, second.kept) == (1, 1, 0, 1)
    assert {"dynamodb": dynamodb.operations, "sqs": sqs.operations} == allowed()


def test_an_endpoint_that_stores_copies_calls_what_it_may_and_all_of_that(cloud: Cloud) -> None:
    """One is stored in time, and one when its minute was over for a dispatcher."""
    clock, ahead, dynamodb = Clock(), Clock(), Recorded(cloud.client("dynamodb"))
    ahead.advance(HOUR)
    store = OneShard(cloud.store()._table.name, client=dynamodb.client)
    timeouts, copy = Timeouts(store, clock=clock), {"MessageBody": "hello"}

    timeouts.hold(copy, to=GONE, at=clock() + HOUR)
    Dispatcher(OneShard(store._table.name, client=cloud.client("dynamodb")), clock=ahead).run()
    timeouts.hold(copy, to=GONE, at=clock())

    assert dynamodb.operations == operations_of(ENDPOINTS, "dynamodb")


LARGE = "x" * 500_000


def test_a_message_too_large_for_a_row_takes_the_calls_that_are_allowed(cloud: Cloud) -> None:
    cloud.client("sqs").create_queue(QueueName="large")
    clock, table, bucket = Clock(), cloud.store()._table.name, cloud.bucket()
    storing, dispatching = Recorded(cloud.client("s3")), Recorded(cloud.client("s3"))
    dynamodb = cloud.client("dynamodb")

    store = OneShard(table, bucket=bucket, client=dynamodb, s3=storing.client)
    Timeouts(store, clock=clock).schedule("large", LARGE, delay=HOUR)
    clock.advance(HOUR)
    seen = OneShard(table, bucket=bucket, client=dynamodb, s3=dispatching.client)
    report = Dispatcher(seen, client=cloud.client("sqs"), clock=clock).run()

    assert (report.dispatched, storing.operations) == (1, operations_of(ENDPOINTS, "s3"))
    assert dispatching.operations == operations_of(DISPATCHER, "s3")


@pytest.mark.parametrize(
    ("features", "name"),
    [
        (("timeouts",), None),
        (("large timeouts",), {"Ref": BUCKET}),
        (("a bucket of yours",), {"Fn::Select": [5, {"Fn::Split": [":", YOUR_BUCKET]}]}),
    ],
    ids=str,
)
def test_all_functions_know_the_bucket(features: tuple[str, ...], name: Any) -> None:
    resources = decided(SAM, asking_for(*features, "a paused trigger"))["Resources"]
    functions = ("OrdersFunction", "ProbeFunction", "TimeoutsFunction")
    variables = [resources[each]["Properties"]["Environment"]["Variables"] for each in functions]

    assert [each.get("TIMEOUTS_BUCKET") for each in variables] == [name] * 3
    assert (BUCKET in resources) == (features == ("large timeouts",))


@pytest.mark.parametrize("function", ["orders", "timeouts"])
@pytest.mark.parametrize(("variable", "there"), [(None, False), ("", False), ("mine", True)])
def test_the_functions_use_the_bucket_of_the_parameter(
    function: str, variable: str | None, *, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIMEOUTS_TABLE", "the table")
    if variable is not None:
        monkeypatch.setenv("TIMEOUTS_BUCKET", variable)

    handler = run_path(str(ROOT / "functions" / "aws" / f"{function}.py"))["handler"]

    store = handler._settings.store if function == "timeouts" else handler._processor.settings.timeouts._store
    assert (store._bodies.bucket is not None) is there


def test_the_bucket_outlives_the_stack_is_nobody_elses_and_forgets_nothing() -> None:
    bucket = decided(SAM, asking_for("large timeouts"))["Resources"][BUCKET]
    blocked = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")

    assert bucket == {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
        "Properties": {"PublicAccessBlockConfiguration": dict.fromkeys(blocked, True)},
    }


@pytest.mark.parametrize(
    ("given", "missing"),
    [({"LargeTimeouts": "true"}, "Timeouts"), ({"TimeoutsBucketArn": YOUR_BUCKET}, "LargeTimeouts")],
)
def test_a_bucket_for_what_is_not_asked_for_is_refused(given: dict[str, str], missing: str) -> None:
    with pytest.raises(AssertionError, match=f"; give {missing}=true too"):
        decided(SAM, given)


def test_the_endpoint_stores_in_that_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMEOUTS_TABLE", "the table")

    handler = run_path(str(ROOT / "functions" / "aws" / "orders.py"))["handler"]

    assert handler._processor.settings.timeouts._store._table.name == "the table"
    assert properties("OrdersFunction")["Environment"]["Variables"]["TIMEOUTS_TABLE"] == {"Ref": TABLE}


def allowed() -> dict[str, set[str]]:
    """Return the operations that a dispatcher's permissions are made of."""
    return {service: operations_of(DISPATCHER, service) for service in ("dynamodb", "sqs")}


def operations_of(roles: set[str], service: str) -> set[str]:
    """Return the operations of a service that the permissions of these roles are made of, as far as timeouts go."""
    calls = [call for call in CALLS if call.feature in {TIMEOUTS, LARGE_TIMEOUTS} and call.service == service]
    return {operations(service)[call.method] for call in calls if call.roles >= roles}


def test_what_is_late_and_what_is_kept_is_counted_by_the_metrics(cloud: Cloud) -> None:
    clock, store = Clock(), cloud.store()
    cloud.client("sqs").create_queue(QueueName="late")
    timeouts = Timeouts(store, clock=clock)
    for to in ("late", GONE, GONE):
        timeouts.schedule(to, "hello", delay=HOUR)
    clock.advance(HOUR + timedelta(seconds=90))

    with package_log() as log:
        Dispatcher(store, client=cloud.client("sqs"), clock=clock).run()
        Dispatcher(store, client=cloud.client("sqs"), clock=clock).run()

    assert {name: metric(name, log) for name in ("TimeoutsBehind", "TimeoutsKept")} == {
        "TimeoutsBehind": [90.0],
        "TimeoutsKept": [2],
    }


def metric(name: str, log: Log) -> list[float]:
    """Return the values of a metric that the filter of that name draws from a log."""
    filtered = properties(name)
    (transformation,) = filtered["MetricTransformations"]
    field = transformation["MetricValue"].removeprefix("$.")
    return [line[field] for line in log.found(filtered["FilterPattern"])]


@pytest.mark.parametrize("name", ["TimeoutsBehind", "TimeoutsKept"])
def test_an_alarm_watches_each_of_these_metrics(name: str) -> None:
    (metric,) = properties(name)["MetricTransformations"]
    alarm = properties(f"{name}Alarm")

    assert properties(name)["LogGroupName"] == {"Ref": "TimeoutsLog"}
    assert (alarm["Namespace"], alarm["MetricName"]) == (metric["MetricNamespace"], metric["MetricName"])


def test_a_dispatcher_that_is_not_called_is_noticed() -> None:
    alarm = properties("TimeoutsStoppedAlarm")

    assert (alarm["MetricName"], alarm["ComparisonOperator"], alarm["Threshold"]) == (
        "Invocations",
        "LessThanThreshold",
        1,
    )
    assert alarm["TreatMissingData"] == "breaching"
