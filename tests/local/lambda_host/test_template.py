"""Test the parsing of a template, and the notes on parts that this host does not run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import FUNCTIONS, LONG, document, written
from recoverable_local.lambda_host.sam.created import Created, CreatedQueue, CreatedTable, CreatedTopic
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Queue, Redrive, Schedule, Stack
from recoverable_local.lambda_host.sam.template import Template
from recoverable_operate.templates import TemplateError

REPOSITORY = Path(__file__).parents[3]


def test_what_nothing_runs_needs_no_parameter_and_all_others_are_asked_for_at_once(tmp_path: Path) -> None:
    names = ("Unused", "Policy", "Stage", "Days")
    policies = [{"SNSPublishMessagePolicy": {"TopicName": {"Ref": "Policy"}}}]
    function = {"Policies": policies, "Environment": {"Variables": {"STAGE": {"Ref": "Stage"}}}}
    template = document(
        queue={"MessageRetentionPeriod": {"Ref": "Days"}}, function=function,
        Parameters={name: {"Type": "String"} for name in names},
    )  # fmt: skip
    path = written(tmp_path, template)

    with pytest.raises(TemplateError) as asked:
        read(path).refuse_missing({})

    assert str(asked.value) == (
        "The parameters Days, Stage have no value here; give them with --parameter Days=VALUE --parameter Stage=VALUE."
    )
    read(path, Days="345600", Stage="test").refuse_missing({})


def read(path: Path, **parameters: str) -> Template:
    return Template.from_file(path, parameters=parameters, region="us-east-1", stack_name="shop")


def stack_of(template: Template, environment: dict[str, str] | None = None) -> Stack:
    created = {
        queue.logical_id: CreatedQueue(
            queue.name, f"http://broker/{queue.name}", f"arn:aws:sqs:us-east-1:42:{queue.name}"
        )
        for queue in template.queues()
    }
    tables = {
        table.logical_id: CreatedTable(table.name, f"arn:aws:dynamodb:us-east-1:42:table/{table.name}")
        for table in template.tables()
    }
    topics = {
        topic.logical_id: CreatedTopic(topic.name, f"arn:aws:sns:us-east-1:42:{topic.name}")
        for topic in template.topics()
    }
    return template.stack(Created(created, tables, topics), environment or {})


def stack(folder: Path, environment: dict[str, str] | None = None, **parts: Any) -> Stack:
    return stack_of(read(written(folder, document(**parts))), environment)


def queue(name: str, *, seconds: int, redrive: Redrive | None = None) -> Queue:
    return Queue(name.title(), f"shop-{name}", False, timedelta(seconds=seconds), {}, redrive)  # noqa: FBT003 (fifo)


ERRORS = queue("errors", seconds=30)
ORDERS = queue("orders", seconds=LONG, redrive=Redrive("shop-errors", 10))
SHOP = Function(
    logical_id="Shop",
    name="Shop",
    code=FUNCTIONS,
    handler="scripted.handler",
    runtime="python3.11",
    timeout=timedelta(seconds=LONG),
    memory=128,
    environment={"ERROR_QUEUE_URL": "http://broker/shop-errors"},
    layers=(),
    reserved_concurrency=None,
    log_format="Text",
    log_level=None,
    recursive_loop="Terminate",
)
MAPPING = EventSourceMapping(
    name="Shop.Orders",
    queue="shop-orders",
    function="Shop",
    batch_size=10,
    window=timedelta(0),
    max_concurrency=None,
    partial_responses=True,
)


def test_what_a_template_leaves_out_has_the_defaults_of_aws(tmp_path: Path) -> None:
    assert stack(tmp_path) == Stack((ERRORS, ORDERS), (SHOP,), (MAPPING,), ())


@pytest.mark.parametrize(
    ("config", "processes"),
    [
        ({"Arn": "arn", "PerExecutionEnvironmentMaxConcurrency": 8}, 8),
        ({"LambdaManagedInstancesCapacityProviderConfig": {"PerExecutionEnvironmentMaxConcurrency": 3}}, 3),
        ({"Arn": {"Fn::GetAtt": ["Capacity", "CapacityProviderArn"]}}, 4),
    ],
    ids=["as SAM has it", "as Lambda has it", "without a number"],
)
def test_a_function_on_managed_instances_has_processes_and_up_to_ninety_minutes(
    tmp_path: Path, config: dict[str, Any], processes: int
) -> None:
    function = {"CapacityProviderConfig": config, "Timeout": 5_400}

    (shop,) = stack(tmp_path, function=function, queue={"VisibilityTimeout": 5_400}).functions

    assert shop == replace(SHOP, processes=processes, timeout=timedelta(minutes=90))


def test_a_queue_has_the_attributes_that_the_template_sets(tmp_path: Path) -> None:
    properties = {
        "DelaySeconds": 5,
        "MessageRetentionPeriod": {"Ref": "Days"},
        "SqsManagedSseEnabled": True,
        "ContentBasedDeduplication": True,
    }
    template = document(queue=properties, Parameters={"Days": {"Type": "Number", "Default": 345600}})

    orders = read(written(tmp_path, template)).queues()[1]

    attributes = {"ContentBasedDeduplication": "true", "DelaySeconds": "5", "MessageRetentionPeriod": "345600"}
    assert orders == replace(ORDERS, attributes=attributes)


def test_a_queue_without_a_name_has_that_of_its_logical_id(tmp_path: Path) -> None:
    template = {"Resources": {"Orders": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": True}}}}

    assert [queue.name for queue in read(written(tmp_path, template)).queues()] == ["Orders.fifo"]


def test_a_mapping_has_what_the_event_sets(tmp_path: Path) -> None:
    event = {
        "BatchSize": 50,
        "MaximumBatchingWindowInSeconds": 3,
        "ScalingConfig": {"MaximumConcurrency": 4},
        "FunctionResponseTypes": [],
    }

    (mapping,) = stack(tmp_path, event=event).mappings

    expected = replace(MAPPING, batch_size=50, window=timedelta(seconds=3), max_concurrency=4, partial_responses=False)
    assert mapping == expected


def test_a_function_has_its_own_properties_over_those_of_globals(tmp_path: Path) -> None:
    shared = {
        "Timeout": 9,
        "MemorySize": 256,
        "ReservedConcurrentExecutions": 3,
        "Environment": {"Variables": {"STAGE": "test", "ERROR_QUEUE_URL": "not this one", "DEBUG": True}},
    }

    (function,) = stack(tmp_path, Globals={"Function": shared}).functions

    environment = {"STAGE": "test", "ERROR_QUEUE_URL": "http://broker/shop-errors", "DEBUG": "true"}
    assert function == replace(SHOP, memory=256, reserved_concurrency=3, environment=environment)


def test_variables_may_depend_on_a_condition_and_name_the_brokers_account(tmp_path: Path) -> None:
    variables = {"Fn::If": ["Always", {"ACCOUNT": {"Fn::Sub": "in ${AWS::AccountId}"}}, {"Ref": "AWS::NoValue"}]}
    conditions = {"Always": {"Fn::Equals": [1, 1]}}

    (function,) = stack(tmp_path, function={"Environment": {"Variables": variables}}, Conditions=conditions).functions

    assert function.environment == {"ACCOUNT": "in 42"}


def test_a_given_variable_wins_and_the_templates_own_is_not_looked_at(tmp_path: Path) -> None:
    variables = {"TOPIC": {"Ref": "Topic"}, "STAGE": "test"}
    template = document(function={"Environment": {"Variables": variables}})
    template["Resources"]["Topic"] = {"Type": "AWS::SNS::Topic"}

    (function,) = stack_of(read(written(tmp_path, template)), {"TOPIC": "mine"}).functions

    assert function.environment == {"TOPIC": "mine", "STAGE": "test"}


def test_layers_are_import_folders_the_last_one_first(tmp_path: Path) -> None:
    for folder in ("built/python", "plain"):
        (tmp_path / folder).mkdir(parents=True)
    template = document(function={"Layers": [{"Ref": "Built"}, {"Ref": "Plain"}, "arn:aws:lambda:eu:1:layer:x:1"]})
    for name in ("Built", "Plain"):
        properties = {"ContentUri": f"{name.lower()}/"}
        template["Resources"][name] = {"Type": "AWS::Serverless::LayerVersion", "Properties": properties}

    found = stack_of(read(written(tmp_path, template)))

    assert found.functions[0].layers == (tmp_path / "plain", tmp_path / "built" / "python")
    assert found.not_served == (
        "Shop: the layer arn:aws:lambda:eu:1:layer:x:1 is not fetched; install what it holds beside recoverable",
    )


def test_a_resource_whose_condition_does_not_hold_is_not_there(tmp_path: Path) -> None:
    template = document(Conditions={"Never": {"Fn::Equals": [1, 2]}})
    template["Resources"]["Extra"] = {"Type": "AWS::SQS::Queue", "Condition": "Never"}

    assert [queue.logical_id for queue in read(written(tmp_path, template)).queues()] == ["Errors", "Orders"]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    template = document()
    events = template["Resources"]["Shop"]["Properties"]["Events"]
    events["Pictures"] = {"Type": "S3", "Properties": {"Bucket": "pictures"}}
    events["Off"] = {"Type": "SQS", "Properties": {**events["Orders"]["Properties"], "Enabled": False}}
    template["Resources"]["Old"] = {"Type": "AWS::Lambda::EventSourceMapping"}

    found = stack_of(read(written(tmp_path, template)))

    assert found.mappings == (MAPPING,)
    assert found.not_served == (
        "Old invokes no function of this template, so nothing here reads its queue",
        "Shop.Pictures is an event of Type S3, which this host does not send",
        "Shop.Off is not Enabled, so nothing here reads its queue",
    )


def test_the_template_of_this_repository_runs_as_it_is_deployed() -> None:
    found = stack_of(read(REPOSITORY / "template.yaml", FunctionTimeout="10"))

    assert [(queue.name, queue.visibility_timeout.seconds) for queue in found.queues] == [
        ("shop-orders", 120),
        ("shop-orders-error", 30),
        ("shop-orders-placed", 30),
    ]
    assert [(one.code, one.layers) for one in found.functions] == [
        (REPOSITORY / "functions" / "aws", (REPOSITORY / "adapters",))
    ]
    assert [(one.queue, one.batch_size, one.max_concurrency, one.partial_responses) for one in found.mappings] == [
        ("shop-orders", 10, 10, True)
    ]
    assert found.functions[0].environment["RECOVERABLE_ERROR_QUEUE"] == "shop-orders-error"
    assert found.not_served == ()


def test_the_template_of_this_repository_runs_with_all_that_it_can_do() -> None:
    everything = {"RateLimitAfter": "20", "PauseTrigger": "true", "Timeouts": "true"}

    found = stack_of(read(REPOSITORY / "template.yaml", **everything))

    minute = timedelta(minutes=1)
    orders, probe, dispatcher = (function.environment for function in found.functions)
    assert [table.name for table in found.tables] == ["shop-CircuitTable", "shop-TimeoutsTable"]
    assert found.schedules == (
        Schedule("ProbeFunction.EachMinute", "ProbeFunction", minute),
        Schedule("TimeoutsFunction.EachMinute", "TimeoutsFunction", minute),
    )
    assert (orders["TIMEOUTS_TABLE"], dispatcher) == ("shop-TimeoutsTable", {"TIMEOUTS_TABLE": "shop-TimeoutsTable"})
    assert (probe["CIRCUIT_TABLE"], probe["ORDERS_FUNCTION"]) == ("shop-CircuitTable", "OrdersFunction")
    assert found.not_served == ()
