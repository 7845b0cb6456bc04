"""What the arguments of `recoverable check` choose, and the rules at their bounds, in the example shop and in small templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from operate.check.conftest import Check, reported, rules_found
from operate.check.templates import RULES, changed, good, written
from recoverable_operate import rules as rules_of
from recoverable_operate.templates import describe_template, parse_document, read_template


def rules(check: Check, *words: str) -> list[str]:
    return rules_found(check(*words, "--json"))


def test_one_function_of_a_template_is_checked(check: Check, tmp_path: Path) -> None:
    audit = changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate"})["Shop"]
    path = written(tmp_path, {**good(), "Audit": audit})

    assert [rules(check, path, *words) for words in ([], ["--function", "Shop"])] == [
        ["only-reader", "only-reader", "recursive-loop"],
        ["only-reader"],
    ]
    assert check(path, "--function", "Nobody") == (
        2,
        "",
        f"recoverable check: {path}: no function Nobody reads a queue; Shop, Audit do\n",
    )


def test_a_rule_is_left_out(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate"}))

    assert check(path, "--ignore", "recursive-loop") == (
        0,
        f"Nothing found.\n{RULES - 1} of {RULES - 1} checks done ({RULES - 1} rules, 1 function).\n",
        "",
    )


def test_no_retries_need_few_receives(check: Check, tmp_path: Path) -> None:
    few = changed(good(), {"Orders.Properties.RedrivePolicy.maxReceiveCount": 6})
    off = changed(few, {"Shop.Properties.Environment.Variables.RECOVERABLE_ENABLED": "false"})

    assert [rules(check, written(tmp_path, each)) for each in (few, off)] == [["max-receive-count"], []]


def test_a_rule_that_is_none_is_refused(check: Check, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check(written(tmp_path, good()), "--ignore", "everything")

    assert "'everything' is no rule; there are partial-responses, " in capsys.readouterr().err


ROOT = Path(__file__).parents[3]
SHOP = parse_document((ROOT / "template.yaml").read_text(encoding="utf-8"))
KEY = "arn:aws:kms:eu-west-1:123456789012:key/1"
CHOICES: list[dict[str, str]] = [
    *({"FunctionTimeout": str(seconds)} for seconds in (10, 60, 120, 300, 900)),
    {"ImmediateRetries": "20", "BatchWindowSeconds": "60"},
    {"RateLimitAfter": "50", "PauseTrigger": "true"},
    {"Timeouts": "true", "LargeTimeouts": "true"},
    {"KmsKeyArn": KEY},
    {"OrdersQueueArn": "arn:aws:sqs:eu-west-1:123456789012:orders", "KmsKeyArn": KEY},
    {"ErrorQueueArn": "arn:aws:sqs:eu-west-1:123456789012:errors"},
    {"SubnetIds": "subnet-1", "SecurityGroupIds": "sg-1"},
]


@pytest.mark.parametrize("parameters", CHOICES, ids=str)
def test_nothing_is_found_in_the_example_shop_whatever_is_chosen(parameters: dict[str, str]) -> None:
    described = describe_template(read_template(SHOP, parameters, lenient=True)).functions

    checks = [each for one in described for each in rules_of.check(rules_of.SQS_RULES, one)]
    assert [each.problems for each in checks if each.problems] == []


@pytest.mark.parametrize(
    ("reserved", "most", "write"),
    [
        (5, 5, []),
        (5, 6, ["write ScalingConfig: {MaximumConcurrency: 5} on the mapping"]),
        (
            1,
            None,
            [
                "write ScalingConfig: {MaximumConcurrency: 2} on the mapping and ReservedConcurrentExecutions: 2 on the function"
            ],
        ),
    ],
)
def test_a_mapping_invokes_no_more_than_the_function_reserves(
    check: Check, tmp_path: Path, reserved: int, most: int | None, write: list[str]
) -> None:
    scaling = {} if most is None else {"MaximumConcurrency": most}
    event = {**good()["Shop"]["Properties"]["Events"]["Orders"]["Properties"], "ScalingConfig": scaling}
    changes = {
        "Shop.Properties.ReservedConcurrentExecutions": reserved,
        "Shop.Properties.Events.Orders.Properties": event,
    }

    ran = check(written(tmp_path, changed(good(), changes)), "--json")

    assert [each["write"] for each in reported(ran)] == write


def test_provisioned_pollers_are_not_compared_with_reserved_concurrency(check: Check, tmp_path: Path) -> None:
    template = changed(
        good(),
        {
            "Shop.Properties.ReservedConcurrentExecutions": 5,
            "Shop.Properties.Events.Orders.Properties.ProvisionedPollerConfig": {"MinimumPollers": 2},
        },
    )

    assert check(written(tmp_path, template)).out.startswith(
        "not checked: reserved-concurrency: Shop.Orders has provisioned"
    )
