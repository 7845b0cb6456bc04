"""List the behaviours of Service Bus that the contract holds, and the known deviations: behaviour × server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

SERVERS = ("ServiceBusWorld", "emulator")

DEVIATIONS: Mapping[tuple[str, str], str] = {}
"""Deviations of the servers, by the behaviour as `behaviour_of` returns it; none is known."""


def behaviours() -> list[str]:
    """Return the sentences about Service Bus that the tests of this folder state."""
    files = sorted(Path(__file__).parent.glob("test_*.py"), reverse=True)
    names = [name for file in files for name in re.findall(r"^def test_(\w+)\(", file.read_text(), re.MULTILINE)]
    return [name.replace("_", " ") for name in names]


def table() -> str:
    """Return the contract as a Markdown table."""
    head = [["What Service Bus does", *SERVERS], ["---"] * (len(SERVERS) + 1)]
    body = [[name, *(DEVIATIONS.get((name, server), "the same") for server in SERVERS)] for name in behaviours()]
    return "\n".join(f"| {' | '.join(row)} |" for row in head + body)
