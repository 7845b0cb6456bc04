"""Each rule for a function on SQS finds what it is for in one template, and nothing in those that are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from operate.check.conftest import Check, found, not_checked, rules_found
from operate.check.templates import ALL_DONE, CODE, Template, attribute, changed, good, good_fifo, may, written
from recoverable_operate.rules import SQS_RULES

ROOT = Path(__file__).parents[3]
LIMITED = """
from datetime import timedelta
from recoverable import Recoverability
from recoverable.aws import SqsEndpoint
handler = SqsEndpoint(print, Recoverability.from_environment(), handler_timeout=timedelta(seconds=30))
"""
EVENT = "Shop.Properties.Events.Orders.Properties"
VARIABLES = "Shop.Properties.Environment.Variables"
ALARM: dict[str, Any] = {
    "Type": "AWS::CloudWatch::Alarm",
    "Properties": {
        "Namespace": "AWS/SQS",
        "MetricName": "ApproximateAgeOfOldestMessage",
        "Dimensions": [{"Name": "QueueName", "Value": attribute("Errors", "QueueName")}],
    },
}


class Case(NamedTuple):
    """A template that trips one rule.

    Args:
        changes: what differs from the good one.
        text: what is found.
        resources: the good one.
        code: the function's.
    """

    changes: dict[str, Any]
    text: str
    resources: Template = good()
    code: str = CODE


CASES: dict[str, Case] = {
    "partial-responses": Case(
        {f"{EVENT}.FunctionResponseTypes": None},
        "Shop.Orders has no FunctionResponseTypes: [ReportBatchItemFailures], so AWS deletes the messages that are reported as failed;"
        " write it, or SqsEndpoint(..., partial_responses=False)",
    ),
    "enabled": Case(
        {f"{EVENT}.Enabled": False},
        "Shop.Orders is switched off, so nothing reads the queue, and messages are deleted when its retention ends; leave Enabled out, or write"
        " Enabled: true",
    ),
    "only-reader": Case(
        {"Audit": {"Type": "AWS::Serverless::Function", "Properties": {"Runtime": "nodejs22.x", "Events": {"It": {"Type": "SQS", "Properties": {"Queue": attribute("Orders")}}}}}},
        "Shop reads the same queue as Audit, so each message runs in one of them only, whichever receives it first; write a queue for each, with a"
        " subscription of its own to a topic",
    ),
    "runtime": Case(
        {"Shop.Properties.Runtime": "python3.9"},
        "Shop has the runtime python3.9, so Lambda cannot start it: this package needs Python 3.11; write python3.13, or another from python3.11 on",
    ),
    "values": Case(
        {f"{EVENT}.MaximumBatchingWindowInSeconds": 301},
        "Shop.Orders.MaximumBatchingWindowInSeconds is '301', so it cannot be deployed; write a whole number from 0 to 300",
    ),
    "invoked-by-queue": Case(
        {"Shop.Properties.Events": {"Topic": {"Type": "SNS", "Properties": {"Topic": "arn:aws:sns:eu-west-1:42:orders"}}}},
        "Shop is an endpoint for SQS and is invoked by SNS (Shop.Topic), so the endpoint refuses each event, and no message of it is retried or moved"
        " to an error queue; let a queue take the events, and read it by an event of type SQS",
    ),
    "recursive-loop": Case(
        {"Shop.Properties.RecursiveLoop": "Terminate"},
        "Shop has no RecursiveLoop: Allow, so AWS stops a message's retries after about 16 of them; write RecursiveLoop: Allow on the function",
    ),
    "visibility-timeout": Case(
        {f"{EVENT}.MaximumBatchingWindowInSeconds": 3},
        "orders hides messages for 180 s, less than 6 times the Timeout of Shop and the batch window, so messages come back while Lambda still"
        " throttles or runs them, and each time costs a delivery; write a VisibilityTimeout of 183 s or more",
    ),
    "redrive-policy": Case(
        {"Orders.Properties.RedrivePolicy": None},
        "orders has no RedrivePolicy, so a message whose process ends before your code runs comes back until it expires; write one whose target"
        " is the error queue",
    ),
    "max-receive-count": Case(
        {f"{VARIABLES}.RECOVERABLE_IMMEDIATE_RETRIES": 6},
        "orders has a maxReceiveCount of 11, too few for a ladder of 6 immediate and 3 delayed retries, so SQS dead-letters messages before their"
        " retries are used up, and without a reason; write immediate retries + 6, which is 12, or more",
    ),
    "fifo-batch-size": Case(
        {f"{EVENT}.BatchSize": 10},
        "Shop.Orders has a BatchSize of 10, so what is held back in a batch of a FIFO queue uses up deliveries; write BatchSize: 1",
        good_fifo(),
    ),
    "filter-criteria": Case(
        {f"{EVENT}.FilterCriteria": {"Filters": [{"Pattern": '{"body": {"kind": ["order"]}}'}]}},
        "Shop.Orders has FilterCriteria, so Lambda deletes messages that pass no filter: they are neither processed nor moved to an error queue, also"
        " where one is sent back in another form; leave it out, and let the handler return for messages that it has nothing to do with",
    ),
    "same-kind": Case(
        {"Errors.Properties": good()["Errors"]["Properties"]},
        "errors is a standard queue, and orders.fifo, whose dead letters it is to get, a FIFO queue, so SQS refuses the redrive policy; write a"
        " FIFO queue as its target",
        good_fifo(),
    ),
    "queue-retention": Case(
        {"Orders.Properties.MessageRetentionPeriod": 1980},
        "orders keeps messages for 1980 s, and 11 receives at its visibility timeout take 1980 s, so SQS deletes messages of a function that does"
        " not start before it moves them to the error queue; write a longer MessageRetentionPeriod, such as 1209600, or a smaller"
        " maxReceiveCount",
    ),
    "error-queue-retention": Case(
        {"Errors.Properties.MessageRetentionPeriod": 345600},
        "errors keeps messages no longer than orders, and for dead-lettered messages the time counts from the first send, so SQS deletes them"
        " before anybody has looked; write a longer MessageRetentionPeriod, such as 1209600, or a shorter MessageRetentionPeriod on"
        " orders",
    ),
    "error-queue-redrives": Case(
        {"Errors.Properties.RedrivePolicy": {"deadLetterTargetArn": "arn:aws:sqs:eu-central-1:1:cellar", "maxReceiveCount": 3}},
        "errors is an error queue and has a RedrivePolicy, so SQS moves what was looked at 3 times to cellar, where nobody looks; leave the"
        " RedrivePolicy out",
    ),
    "error-queue-is-another": Case(
        {f"{VARIABLES}.RECOVERABLE_ERROR_QUEUE": attribute("Orders", "QueueName")},
        "orders is its own error queue, so a message that is given up begins anew, for ever; write the name of another queue",
    ),
    "one-error-queue": Case(
        {"Others": {"Type": "AWS::SQS::Queue", "Properties": {"MessageRetentionPeriod": 1209600}}, f"{VARIABLES}.RECOVERABLE_ERROR_QUEUE": "Others", "Shop.Properties.Policies": ["AmazonSQSFullAccess"]},
        "orders has its dead letters moved to errors, and its messages that are given up go to Others, so who looks at one of the two misses what is"
        " in the other; write Others as the target of the RedrivePolicy, or errors as the error queue",
    ),
    "rights": Case(
        {"Shop.Properties.Policies": [{"Statement": [may("sqs:SendMessage", "sqs:ChangeMessageVisibility", on="Orders")]}]},
        "the role of Shop may not sqs:SendMessage on errors, so messages that are given up stay on the queue, until SQS moves them without a"
        " reason; allow sqs:SendMessage on the ARN of errors",
    ),
    "key-access": Case(
        {
            "Key": {"Type": "AWS::KMS::Key"},
            "Orders.Properties.KmsMasterKeyId": {"Ref": "Key"},
            "Shop.Properties.Policies": [*good()["Shop"]["Properties"]["Policies"], {"KMSDecryptPolicy": {"KeyId": {"Ref": "Key"}}}],
        },
        "the role of Shop may not kms:GenerateDataKey on the key of orders, so SQS answers KMS.AccessDenied: nothing is received, or no copy can be"
        " sent; allow kms:GenerateDataKey on the ARN of the key of orders, and let the key's own policy allow the account's roles",
    ),
    "reserved-concurrency": Case(
        {"Shop.Properties.ReservedConcurrentExecutions": 5},
        "Shop reserves a concurrency of 5, and Shop.Orders invokes it up to any number of times at once, so Lambda throttles batches, each of which"
        " costs its messages a delivery without an attempt; write ScalingConfig: {MaximumConcurrency: 5} on the mapping",
    ),
    "variables": Case(
        {f"{VARIABLES}.RECOVERABLE_TIME_INCREASE": "soon"},
        "the environment variable RECOVERABLE_TIME_INCREASE is 'soon', so Shop does not start where it reads its settings from the environment;"
        " write a duration such as 10s, 5m, 1h or 00:00:10, up to 121 days, 16:00:00",
    ),
    "error-queue-alarm": Case(
        {"Age": ALARM},
        "Age watches ApproximateAgeOfOldestMessage of errors, and no alarm watches ApproximateNumberOfMessagesVisible, so a look with `recoverable"
        " errors` silences it: a message that was received three times no longer counts for its age; write an alarm on"
        " ApproximateNumberOfMessagesVisible greater than 0",
    ),
    "batch-window": Case(
        {f"{EVENT}.BatchSize": 11},
        "Shop.Orders has a BatchSize of 11 and no MaximumBatchingWindowInSeconds, so Lambda refuses the mapping; write"
        " MaximumBatchingWindowInSeconds: 1 or more, or a BatchSize of up to 10",
    ),
    "ladder-retention": Case(
        {"Orders.Properties.MessageRetentionPeriod": 7200, f"{VARIABLES}.RECOVERABLE_TIME_INCREASE": "5m"},
        "orders.fifo keeps messages for 7200 s, and 4 times all delays of the ladder take 7200 s, so SQS deletes messages that wait for a retry;"
        " write a longer MessageRetentionPeriod, such as 1209600, or shorter delays",
        good_fifo(),
    ),
    "redrive-allowed": Case(
        {"Errors.Properties.RedriveAllowPolicy": {"redrivePermission": "byQueue", "sourceQueueArns": ["arn:aws:sqs:eu-west-1:42:refunds"]}},
        "the RedriveAllowPolicy of errors does not list orders, so SQS refuses the redrive policy; write the ARN of orders into sourceQueueArns",
    ),
    "message-size": Case(
        {"Errors.Properties.MaximumMessageSize": 262144},
        "errors takes messages of up to 262144 bytes, and orders of up to 1048576, so a larger message that is given up stays on the queue until it"
        " expires or SQS dead-letters it without a reason; write a MaximumMessageSize of 1048576 or more, or leave it out",
    ),
    "handler": Case(
        {"Shop.Properties.Handler": "handlers.orders.handler"},
        "the handler of Shop is to be in src/handlers/orders.py, and there is no such file, so Lambda cannot start it; write the file's name into"
        " Handler, or its folder into CodeUri",
    ),
    "handler-timeout": Case(
        {},
        "src/app.py:5 has a handler_timeout of 0:00:30, and the Timeout of Shop is 0:00:30, so the function ends before its handler is stopped; write"
        " a shorter handler_timeout, or a longer time for the function",
        code=LIMITED,
    ),
    "queue-names": Case(
        {f"{EVENT}.Queue": "arn:aws:sqs:eu-west-1:42:oders"},
        "Shop names the queue oders, and the one that is made here is orders, so the two do not find each other; write orders",
    ),
    "references": Case(
        {"Shop.Properties.Layers": [{"Ref": "Layer"}]},
        "Shop has a Ref Layer, which is no resource or parameter of the template, so it cannot be deployed; write the logical id of a resource, or"
        " add it",
    ),
}  # fmt: skip


ELSEWHERE = {"Fn::ImportValue": "only the cloud knows"}
OF_THE_QUEUE, REDRIVE = "Orders.Properties", "Orders.Properties.RedrivePolicy"

NOT_KNOWN: dict[str, tuple[dict[str, Any], Template]] = {
    "partial-responses": ({f"{EVENT}.FunctionResponseTypes": ELSEWHERE}, good()),
    "recursive-loop": ({"Shop.Properties.RecursiveLoop": ELSEWHERE}, good()),
    "visibility-timeout": ({f"{OF_THE_QUEUE}.VisibilityTimeout": ELSEWHERE}, good()),
    "redrive-policy": ({REDRIVE: ELSEWHERE}, good()),
    "invoked-by-queue": ({"Shop.Properties.Events": None}, good()),
    "enabled": ({f"{EVENT}.Enabled": ELSEWHERE}, good()),
    "runtime": ({"Shop.Properties.Runtime": ELSEWHERE}, good()),
    "max-receive-count": ({f"{REDRIVE}.maxReceiveCount": ELSEWHERE}, good()),
    "fifo-batch-size": ({f"{EVENT}.BatchSize": ELSEWHERE}, good_fifo()),
    "batch-window": ({f"{EVENT}.BatchSize": 11, f"{EVENT}.MaximumBatchingWindowInSeconds": ELSEWHERE}, good()),
    "filter-criteria": ({f"{EVENT}.FilterCriteria": ELSEWHERE}, good()),
    "same-kind": ({"Errors.Properties.FifoQueue": ELSEWHERE}, good_fifo()),
    "queue-retention": ({f"{OF_THE_QUEUE}.MessageRetentionPeriod": ELSEWHERE}, good()),
    "ladder-retention": ({f"{VARIABLES}.RECOVERABLE_TIME_INCREASE": ELSEWHERE}, good()),
    "error-queue-retention": ({"Errors.Properties.MessageRetentionPeriod": ELSEWHERE}, good()),
    "error-queue-redrives": ({"Errors.Properties.RedrivePolicy": ELSEWHERE}, good()),
    "error-queue-is-another": ({f"{EVENT}.Queue": ELSEWHERE}, good()),
    "one-error-queue": ({f"{VARIABLES}.RECOVERABLE_ERROR_QUEUE": ELSEWHERE}, good()),
    "redrive-allowed": ({"Errors.Properties.RedriveAllowPolicy": ELSEWHERE}, good()),
    "message-size": ({"Errors.Properties.MaximumMessageSize": ELSEWHERE}, good()),
    "rights": ({"Shop.Properties.Policies": ELSEWHERE}, good()),
    "key-access": ({f"{OF_THE_QUEUE}.KmsMasterKeyId": ELSEWHERE}, good()),
    "reserved-concurrency": ({"Shop.Properties.ReservedConcurrentExecutions": ELSEWHERE}, good()),
    "network": ({"Shop.Properties.VpcConfig": {"SubnetIds": ["subnet-1"]}}, good()),
    "handler": ({"Shop.Properties.Handler": "wrapped.handler", "Shop.Properties.Layers": ["arn:aws:lambda:eu-west-1:42:layer:x:1"]}, good()),
    "handler-timeout": ({"Shop.Properties.CodeUri": "s3://bucket/key"}, good()),
    "variables": ({"Shop.Properties.Environment": ELSEWHERE}, good()),
    "queue-names": ({REDRIVE: ELSEWHERE}, good()),
    "references": ({"Shop.Properties.Layers": [{"Ref": "Layer"}]}, good()),
    "error-queue-alarm": ({"Age": {**ALARM, "Properties": {**ALARM["Properties"], "MetricName": ELSEWHERE}}}, good()),
}  # fmt: skip


def test_each_rule_has_a_case_of_each_kind() -> None:
    names = {each.name for each in SQS_RULES}

    # of a network nothing can be found; a value that is not known is refused by nobody, and has no other reader
    assert ({*CASES, "network"}, {*NOT_KNOWN, "values", "only-reader"}) == (names, names)


@pytest.mark.parametrize("resources", [good(), good_fifo()], ids=["standard", "FIFO"])
def test_nothing_is_found_where_all_is_right(check: Check, tmp_path: Path, resources: Template) -> None:
    assert check(written(tmp_path, resources)) == (0, ALL_DONE, "")


@pytest.mark.parametrize("template", ["template.yaml", "functions/aws/fifo/template.yaml"])
def test_nothing_is_found_in_the_example_shops(check: Check, template: str) -> None:
    assert check(str(ROOT / template)) == (0, ALL_DONE, "")


@pytest.mark.parametrize("rule", CASES)
def test_what_is_wrong_is_found_with_what_it_causes_and_what_to_write(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    case = CASES[rule]

    monkeypatch.chdir(tmp_path)
    written(tmp_path, changed(case.resources, case.changes), case.code)

    ran = check("template.yaml", "--json")

    assert (ran.status, found(ran)) == (1, [(rule, case.text)])


@pytest.mark.parametrize("rule", NOT_KNOWN)
def test_what_cannot_be_known_is_not_checked(check: Check, tmp_path: Path, rule: str) -> None:
    changes, resources = NOT_KNOWN[rule]
    transform = "Macro" if rule == "references" else "AWS::Serverless-2016-10-31"

    ran = check(written(tmp_path, changed(resources, changes), Transform=transform), "--json")

    assert (ran.status, rules_found(ran), rule in not_checked(ran)) == (0, [], True)


@pytest.mark.parametrize(
    ("delayed", "text"),
    [
        (
            164,
            "orders.fifo has a maxReceiveCount of 34, too few for a ladder of 5 immediate and 164 delayed retries, so SQS dead-letters messages before"
            " their retries are used up, and without a reason; write all attempts + 10, which is 1000, or more",
        ),
        (
            165,
            "orders.fifo needs a maxReceiveCount of all attempts + 10, which is 1006, for a ladder of 5 immediate and 165 delayed retries, and SQS takes"
            " 1000 at most, so SQS dead-letters messages before their retries are used up, and without a reason; write fewer retries: all attempts,"
            " which are (immediate retries + 1) × (delayed retries + 1), may be 990",
        ),
    ],
)  # fmt: skip
def test_a_ladder_that_no_fifo_queue_can_hold_is_to_be_shorter(
    check: Check, tmp_path: Path, delayed: int, text: str
) -> None:
    template = changed(
        good_fifo(),
        {f"{VARIABLES}.RECOVERABLE_DELAYED_RETRIES": delayed, f"{VARIABLES}.RECOVERABLE_TIME_INCREASE": "1s"},
    )

    assert found(check(written(tmp_path, template), "--json")) == [("max-receive-count", text)]
