"""`recoverable check` reads a function and its queues as they are deployed, by the real SDK; moto answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from operate.check.conftest import Check, not_checked, rules_found
from operate.check.deployment import Account, Shop, account
from servers.moto import CREDENTIALS, REGION

pytestmark = pytest.mark.xdist_group("deployed-on-aws")


@pytest.fixture(scope="module")
def served() -> Iterator[Account]:
    with account() as here:
        yield here


@pytest.fixture
def shop(served: Account, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Return a shop that is not deployed yet."""
    for name, value in {**CREDENTIALS, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL": served.url}.items():
        monkeypatch.setenv(name, value)
    served.denied.clear()
    return Shop(served)


CODE = {"one-error-queue", "handler", "handler-timeout"}
"""Rules that need the code, which is not read of a deployed function."""


def test_nothing_is_found_where_all_is_right_and_what_the_code_says_is_not_checked(check: Check, shop: Shop) -> None:
    shop.deploy()

    ran = check("--function", shop.name, "--json", "--immediate-retries", "5", "--delayed-retries", "3")

    assert (ran.status, rules_found(ran), {*not_checked(ran)}) == (0, [], CODE)
    silent = check("--function", shop.name, "--json")
    assert {*not_checked(silent)} - CODE == {
        "max-receive-count",
        "ladder-retention",
    }  # which go with a ladder that nobody said


def test_each_thing_that_is_wrong_is_found_as_it_is_deployed(check: Check, shop: Shop) -> None:
    key = shop.account.client("kms").create_key()["KeyMetadata"]["KeyId"]
    wrong = {"RECOVERABLE_IMMEDIATE_RETRIES": "6", "RECOVERABLE_ENABLE": "true"}
    replace(shop, response_types=(), kms_key=key, variables=wrong).deploy()
    shop.may({"sqs:*": "orders"})
    shop.account.looping.clear()
    shop.account.client("lambda").put_function_concurrency(FunctionName=shop.name, ReservedConcurrentExecutions=3)
    shop.account.client("cloudwatch").put_metric_alarm(
        AlarmName="age", Namespace="AWS/SQS", MetricName="ApproximateAgeOfOldestMessage", Statistic="Maximum", Period=60,
        Dimensions=[{"Name": "QueueName", "Value": f"{shop.name}-error"}], EvaluationPeriods=1, Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )  # fmt: skip

    ran = check("--function", shop.name, "--json")

    assert (ran.status, rules_found(ran)) == (
        1,
        [
            "partial-responses",
            "recursive-loop",
            "max-receive-count",
            "rights",
            "key-access",
            "key-access",
            "reserved-concurrency",
            "variables",
            "error-queue-alarm",
        ],
    )


def test_of_a_function_that_reads_dead_letters_it_is_not_said_whether_it_stamps_them(check: Check, shop: Shop) -> None:
    shop.deploy()
    stamp = shop.deploy_stamp()

    ran = check("--function", stamp, "--json", "--immediate-retries", "0", "--delayed-retries", "0")

    why = f"{shop.name}-dead gets dead letters, and whether the function stamps them is in its code, which is not read"
    unknown = {rule for rule, reason in not_checked(ran).items() if reason == why}
    assert (ran.status, rules_found(ran), unknown) == (0, [], {"recursive-loop", "fifo-batch-size", "rights"})


def test_what_may_not_be_read_is_not_checked_and_said(check: Check, shop: Shop) -> None:
    shop.deploy()
    shop.account.denied.add("/recursion-config")

    ran = check("--function", shop.name, "--json")

    assert not_checked(ran)["recursive-loop"] == f"lambda:GetFunctionRecursionConfig is missing for {shop.name}"


def test_a_queue_is_checked_with_its_error_queue_and_an_error_queue_with_each_queue_that_it_is_for(
    check: Check, shop: Shop
) -> None:
    replace(shop, max_receive_count=6).deploy()

    ran = check("--queue", f"{shop.name}-orders")

    assert (ran.status, ran.out.splitlines()[0]) == (1, f"{shop.name}-orders: max-receive-count")
    assert "rules: only the queue was looked at.\n" in ran.out
    assert check("--queue", shop.arn("error")) == ran
    assert check("--queue", shop.arn("orders"), "--immediate-retries", "0").status == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--function", "nobody"), "there is no function nobody in this account and region"),
        (("--queue", "nobody"), "there is no queue nobody in this account and region"),
        (("--queue", "arn:aws:sns:eu-west-1:123456789012:orders"), "is no ARN of an SQS queue"),
        ((), "give one thing to look at: a FILE, --function NAME or --queue QUEUE"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(check: Check, shop: Shop, words: tuple[str, ...], text: str) -> None:
    ran: Any = check(*words)

    assert (ran.status, ran.out, ran.err.count("\n"), text in ran.err) == (2, "", 1, True)
