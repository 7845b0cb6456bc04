"""List what the tests of hosts state, and the known deviations: behaviour × host, and the tables of docs/use/testing.md."""

from __future__ import annotations

import re
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

    def behaviours(self) -> list[str]:
        """Return what the tests state, and each case in which a host differs."""
        texts = [file.read_text() for file in sorted(self.folder.glob("test_*.py"))]
        names = [name for text in texts for name in re.findall(r"^def test_(\w+)\(", text, re.MULTILINE)]
        cases = [behaviour for behaviour, _ in self.deviations if ": " in behaviour]
        return [name.replace("_", " ") for name in names] + list(dict.fromkeys(cases))

    def table(self) -> str:
        """Return the contract as a Markdown table."""
        head = [[f"What {self.of} does", *self.hosts], ["---"] * (len(self.hosts) + 1)]
        body = [
            [name, *(self.deviations.get((name, host), "the same") for host in self.hosts)]
            for name in self.behaviours()
        ]
        return "\n".join(f"| {' | '.join(row)} |" for row in head + body)


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
