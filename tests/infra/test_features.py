"""What template.yaml makes of a queue, an error queue, a key and a VPC that its user brings along, alone and together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from re import findall
from typing import Any

import pytest

from infra.decided import decided
from infra.features import (
    FEATURES,
    GROUPS,
    KEY,
    SUBNETS,
    YOUR_BODIES,
    YOUR_BUCKET,
    YOUR_ERRORS,
    YOUR_ORDERS,
    asking_for,
    every_pair,
    every_three,
    spoken,
)
from infra.sam_template import Template, template, transformed

SAM = template()
SAM_MAKES = {"OrdersFunctionOrders"}
"""What the transform makes of an event, and is referred to by that name."""


@cache
def resources(*features: str) -> Template:
    """Return the resources with these features."""
    found: Template = decided(SAM, asking_for(*features))["Resources"]
    return found


def properties(resource: str, *features: str) -> Template:
    """Return a resource's properties with these features."""
    found: Template = resources(*features)[resource]["Properties"]
    return found


def referred_to(node: Any) -> Iterator[str]:
    """Yield the names that a part of a template refers to."""
    match node:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": [str(text), dict(names)]}:
            yield from set(findall(r"\$\{([\w:]+)", text)) - names.keys()
            yield from referred_to(names)
        case {"Fn::Sub": str(text)}:
            yield from findall(r"\$\{([\w:]+)", text)
        case dict() | list():
            for inner in node.values() if isinstance(node, dict) else node:
                yield from referred_to(inner)
        case _:
            pass


def test_each_two_features_meet_and_part() -> None:
    sets = [set(features) for features in every_pair()]

    for one in FEATURES:
        for other in FEATURES.keys() - {one}:
            met = {(one in features, other in features) for features in sets}
            assert met == {(False, False), (False, True), (True, False), (True, True)}, (one, other)


def test_no_three_features_there_or_not_make_a_template_refer_to_what_is_not_there() -> None:
    for features in every_three():
        stack = decided(SAM, asking_for(*features))
        named = {name for name in referred_to(stack) if not name.startswith("AWS::")}
        assert named <= stack["Resources"].keys() | SAM_MAKES, features


def test_a_reference_to_what_is_not_there_is_found() -> None:
    text = {"Fn::Sub": ["${Gone.Arn} ${AWS::Region} ${Mine}", {"Mine": {"Ref": "Lost"}}]}

    found = set(referred_to([text, {"Fn::GetAtt": ["Away", "Arn"]}, {"Fn::Sub": "${Left}"}]))

    assert found == {"Gone", "AWS::Region", "Lost", "Away", "Left"}


@pytest.mark.parametrize(
    ("features", "queues"),
    [
        ((), {"OrdersQueue", "ErrorQueue", "PlacedQueue"}),
        (("an orders queue of yours",), {"ErrorQueue", "PlacedQueue"}),
        (("an error queue of yours",), {"OrdersQueue", "PlacedQueue"}),
        (("an orders queue of yours", "an error queue of yours"), {"PlacedQueue"}),
        (("stamped dead letters",), {"OrdersQueue", "ErrorQueue", "PlacedQueue", "DeadLetterQueue"}),
    ],
    ids=lambda value: spoken(value) if isinstance(value, tuple) else "",
)
def test_a_queue_that_is_there_is_not_made(features: tuple[str, ...], queues: set[str]) -> None:
    made = {name for name, resource in resources(*features).items() if resource["Type"] == "AWS::SQS::Queue"}

    assert made == queues


def test_the_function_reads_the_queue_that_is_there() -> None:
    event = properties("OrdersFunction", "an orders queue of yours")["Events"]["Orders"]

    assert event["Properties"]["Queue"] == YOUR_ORDERS


def test_the_error_queue_that_is_made_takes_from_the_queue_that_is_there() -> None:
    allowed = properties("ErrorQueue", "an orders queue of yours")["RedriveAllowPolicy"]

    assert allowed == {"redrivePermission": "byQueue", "sourceQueueArns": [YOUR_ORDERS]}


def test_the_queue_that_is_made_gives_up_to_the_error_queue_that_is_there() -> None:
    assert properties("OrdersQueue", "an error queue of yours")["RedrivePolicy"] == {
        "deadLetterTargetArn": YOUR_ERRORS,
        "maxReceiveCount": 50,
    }


@pytest.mark.parametrize("errors", [None, YOUR_ERRORS])
def test_dead_letters_come_to_the_error_queue_by_the_stamp_and_without_it_after_some_hours(errors: str | None) -> None:
    features = ("stamped dead letters", *(["an error queue of yours"] if errors else []))
    ends = errors or {"Fn::GetAtt": ["ErrorQueue", "Arn"]}

    orders, dead = (properties(queue, *features)["RedrivePolicy"] for queue in ("OrdersQueue", "DeadLetterQueue"))

    assert orders == {"deadLetterTargetArn": {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}, "maxReceiveCount": 50}
    assert dead == {"deadLetterTargetArn": ends, "maxReceiveCount": 50}
    reads = properties("StampFunction", *features)["Events"]["DeadLetters"]["Properties"]
    assert reads == {
        "Queue": {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}, "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }  # fmt: skip


def test_the_function_knows_the_error_queue_that_is_there_by_its_name() -> None:
    variables = properties("OrdersFunction", "an error queue of yours")["Environment"]["Variables"]

    assert variables["RECOVERABLE_ERROR_QUEUE"] == name_in(YOUR_ERRORS)


def test_the_alarms_watch_the_queues_that_are_there() -> None:
    yours = ("an orders queue of yours", "an error queue of yours")
    alarms = ("ErrorQueueDepthAlarm", "ErrorQueueAgeAlarm", "OrdersQueueAgeAlarm")

    watched = [properties(alarm, *yours)["Dimensions"][0]["Value"] for alarm in alarms]

    assert watched == [name_in(YOUR_ERRORS), name_in(YOUR_ERRORS), name_in(YOUR_ORDERS)]


def name_in(arn: str) -> Template:
    """Return how a template says the name of the queue of an ARN."""
    return {"Fn::Select": [5, {"Fn::Split": [":", arn]}]}


@pytest.mark.parametrize("queue", ["OrdersQueue", "ErrorQueue", "PlacedQueue"])
@pytest.mark.parametrize(("features", "encrypted"), [((), (True, None)), (("a key",), (False, KEY))])
def test_a_queue_is_encrypted_with_the_key_or_with_that_of_sqs(
    queue: str, features: tuple[str, ...], encrypted: tuple[bool, str | None]
) -> None:
    found = properties(queue, *features)

    assert (found["SqsManagedSseEnabled"], found.get("KmsMasterKeyId")) == encrypted


def places(*features: str) -> dict[str, Any]:
    """Return where each function runs, once the transform has shared what they have in common."""
    made = transformed(decided(SAM, asking_for("a paused trigger", "timeouts", "stamped dead letters", *features)))[
        "Resources"
    ]
    functions = {name: each for name, each in made.items() if each["Type"] == "AWS::Lambda::Function"}
    return {name: function["Properties"].get("VpcConfig") for name, function in functions.items()}


def test_each_function_runs_in_the_subnets_and_groups() -> None:
    vpc = {
        "SubnetIds": {"Fn::Split": [",", ",".join(SUBNETS)]},
        "SecurityGroupIds": {"Fn::Split": [",", ",".join(GROUPS)]},
    }

    assert places("a VPC") == dict.fromkeys(
        ("OrdersFunction", "ProbeFunction", "StampFunction", "TimeoutsFunction"), vpc
    )


def test_no_function_runs_in_a_vpc_by_default() -> None:
    assert set(places().values()) == {None}


@pytest.mark.parametrize("given", ["SubnetIds", "SecurityGroupIds"])
def test_subnets_without_security_groups_are_refused_and_the_other_way_round(given: str) -> None:
    half = {given: asking_for("a VPC")[given]}

    with pytest.raises(AssertionError, match="go together; give both, or neither"):
        decided(SAM, half)


@pytest.mark.parametrize(
    ("parameter", "value", "taken"),
    [
        ("OrdersQueueArn", YOUR_ORDERS, True),
        ("OrdersQueueArn", f"{YOUR_ORDERS}.fifo", False),
        ("OrdersQueueArn", "mine", False),
        ("ErrorQueueArn", f"{YOUR_ERRORS}.fifo", False),
        ("TimeoutsBucketArn", YOUR_BUCKET, True),
        ("LargeBodiesBucketArn", YOUR_BODIES, True),
        ("LargeBodiesBucketArn", f"{YOUR_BODIES}/*", False),
        ("TimeoutsBucketArn", f"{YOUR_BUCKET}/timeouts", False),
        ("TimeoutsBucketArn", "mine-timeouts", False),
        ("KmsKeyArn", KEY, True),
        ("KmsKeyArn", KEY.replace("key/", "alias/"), False),
        ("KmsKeyArn", "alias/mine", False),
        ("SubnetIds", ",".join(SUBNETS), True),
        ("SubnetIds", ", ".join(SUBNETS), False),
        ("SecurityGroupIds", "default", False),
    ],
)
def test_a_parameter_takes_what_its_description_says(parameter: str, value: str, *, taken: bool) -> None:
    pattern = SAM["Parameters"][parameter]["AllowedPattern"]

    assert bool(findall(pattern, value)) is taken
