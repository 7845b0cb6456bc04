"""The known deviations of hosts from what their tests state, by behaviour and host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Contract:
    """A contract.

    Args:
        of: whose behaviour it is.
        folder: where its tests are.
        hosts: the hosts that are held to it.
        deviations: what a host does instead, by behaviour and host.
    """

    of: str
    folder: Path
    hosts: tuple[str, ...]
    deviations: Mapping[tuple[str, str], str] = field(default_factory=dict)


def expected(request: pytest.FixtureRequest, contract: Contract) -> None:
    """Expect the test to fail on a host that is known to differ."""
    test = request.node
    assert isinstance(test, pytest.Function)
    sentence = test.originalname.removeprefix("test_").replace("_", " ")
    case = test.callspec.params.get("case")
    for behaviour in (sentence, f"{sentence}: {case}"):
        if (known := contract.deviations.get((behaviour, request.param))) is not None:
            test.add_marker(pytest.mark.xfail(reason=known, strict=True))


HERE = Path(__file__).parent

SHARED = "all processes share the modules of yours"

AWS = Contract(
    "Lambda", HERE / "aws", ("SqsWorld", "LocalAws"), {("a new process imports the module anew", "SqsWorld"): SHARED}
)
AZURE = Contract(
    "the Functions host",
    HERE / "azure",
    ("ServiceBusWorld", "LocalFunctions"),
    {("a new process imports the app anew", "ServiceBusWorld"): SHARED},
)
