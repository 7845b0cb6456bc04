"""Each name in main.bicep leads somewhere, and each version is a released one: what a compiler would have said."""

from __future__ import annotations

import re

import pytest
from lark.exceptions import UnexpectedInput

from infra.azure.bicep import SOURCE, Deployment
from infra.azure.bicep_names import DECLARED, names_declared, names_used

DEPLOYED = Deployment({"rateLimitAfter": 50, "stampDeadLetters": True})  # with all that a parameter asks for
RELEASED = re.compile(r"20\d\d-\d\d-\d\d")
ENDS = {
    "ordersSubscription", "settings", "errorQueueDepthAlert", "deadLettersAlert", "ordersWaitAlert", "rateLimitedAlert",
}  # fmt: skip
"""Resources to which nothing needs to refer."""


def test_what_is_referred_to_is_declared() -> None:
    assert names_used() - names_declared() == set()


def test_what_is_declared_is_used() -> None:
    assert names_declared() - names_used() == ENDS


def test_no_two_things_bear_one_name() -> None:
    """The parser would keep the last."""
    names = [name for name in DECLARED.findall(SOURCE) if name not in DEPLOYED.outputs]

    assert sorted(names) == sorted(names_declared())


def test_each_api_version_is_a_released_one() -> None:
    versions = [found["api_version"] for found in DEPLOYED.resources.values()]

    assert [version for version in versions if not RELEASED.fullmatch(version)] == []


def test_parent_and_scope_are_resources() -> None:
    configs = [found["config"] for found in DEPLOYED.resources.values()]
    named = {config[key] for config in configs for key in ("parent", "scope") if key in config}

    assert named <= DEPLOYED.resources.keys()


def test_what_is_waited_for_is_a_resource() -> None:
    waited = {name for found in DEPLOYED.resources.values() for name in found["config"].get("dependsOn", [])}

    assert waited <= DEPLOYED.resources.keys()


@pytest.mark.parametrize(
    ("right", "wrong", "unknown"),
    [
        ("forwardTo: ordersQueue.name", "forwardTo: orderQueue.name", {"orderQueue"}),
        ("'${serviceBus.name}.servicebus", "'${bus.name}.servicebus", {"bus"}),
        ("version: pythonVersion", "version: python", {"python"}),
        ("scope: errorQueue", "scope: errors", {"errors"}),
    ],
)
def test_a_name_that_leads_nowhere_is_found(right: str, wrong: str, unknown: set[str]) -> None:
    source = SOURCE.replace(right, wrong)

    assert names_used(source) - names_declared(source) == unknown


def test_a_parameter_that_nothing_uses_is_found() -> None:
    source = SOURCE + "\nparam colour string = 'red'\n"

    assert names_declared(source) - names_used(source) == ENDS | {"colour"}


def test_a_slip_of_the_pen_is_no_bicep() -> None:
    with pytest.raises(UnexpectedInput):
        Deployment(source=SOURCE.replace("maxDeliveryCount: 100\n", "maxDeliveryCount 100\n"))
