"""What cfn-lint says of template.yaml, and that it would say so of a fault; the deploying page has `sam validate` typed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from infra.decided import decided
from infra.features import asking_for, every_pair, spoken
from infra.sam_template import Parameters, Template, bounds, complaints, template

SAM = template()
RANGES = [name for name, parameter in SAM["Parameters"].items() if "MinValue" in parameter]


def complaints_when(parameters: Parameters) -> list[str]:
    """Return what cfn-lint finds with these parameters; an unused mapping is no complaint."""
    found = complaints(decided(SAM, parameters))
    return [complaint for complaint in found if not complaint.startswith("W7001 Mappings/")]


def with_event(name: str, wrong: Any) -> Template:
    """Return the template with one property of its SQS event changed."""
    changed = deepcopy(SAM)
    changed["Resources"]["OrdersFunction"]["Properties"]["Events"]["Orders"]["Properties"][name] = wrong
    return changed


def test_the_transformed_template_is_clean() -> None:
    assert complaints(SAM) == []


@pytest.mark.parametrize("features", every_pair(), ids=spoken)
def test_it_is_clean_with_features_alone_and_together(features: tuple[str, ...]) -> None:
    """cfn-lint itself follows the conditions of the template above; here it sees the values too."""
    assert complaints_when(asking_for(*features)) == []


@pytest.mark.parametrize("end", [0, -1], ids=["least", "most"])
def test_it_is_clean_at_the_ends_of_every_range(end: int) -> None:
    extreme = {name: bounds(SAM, name)[end] for name in RANGES}

    assert complaints_when(extreme) == []


@pytest.mark.parametrize(
    ("name", "wrong", "complaint"),
    [
        ("BatchSize", 99_999, "E3034 Resources/OrdersFunctionOrders/Properties/BatchSize"),
        (
            "MaximumBatchingWindowInSeconds",
            301,
            "E3034 Resources/OrdersFunctionOrders/Properties/MaximumBatchingWindowInSeconds",
        ),
        (
            "FunctionResponseTypes",
            ["ReportBatchItemFailure"],
            "E3030 Resources/OrdersFunctionOrders/Properties/FunctionResponseTypes/0",
        ),
        (
            "ScalingConfig",
            {"MaximumConcurrency": 1},
            "E3034 Resources/OrdersFunctionOrders/Properties/ScalingConfig/MaximumConcurrency",
        ),
    ],
    ids=str,
)
def test_a_fault_below_events_is_found(name: str, wrong: Any, complaint: str) -> None:
    """cfn-lint and `sam validate --lint` look at the untransformed template, and find none of these there."""
    assert complaint in complaints(with_event(name, wrong))
