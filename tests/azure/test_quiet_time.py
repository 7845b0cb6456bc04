"""The first failing message after a quiet time, with the real SDK: one run, one copy, and one new connection."""

from __future__ import annotations

from datetime import timedelta

import pytest

from azure.quiet_time import QUIET, first_failure
from docs.pages import section

pytestmark = pytest.mark.slow  # the SDK takes half a second to open each link

WAYS = ("connection string", "identity")


@pytest.mark.parametrize("quiet", QUIET, ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_it_costs_what_the_page_says(quiet: timedelta, way: str) -> None:
    cost = first_failure(quiet, identity=way == "identity")

    minutes = int(quiet.total_seconds() / 60)
    [row] = [
        line for line in section("use/clients.md", "## On Azure").splitlines() if line.startswith(f"| {minutes} min | ")
    ]
    assert row.endswith(f"| {cost.runs} | {cost.copies} | {cost.connections} |")
    assert cost[:3] == (1, 1, 1)


@pytest.mark.parametrize("quiet", [quiet for quiet in QUIET if quiet > timedelta(minutes=1)], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_it_costs_the_same_where_the_connection_ends_unnoticed(quiet: timedelta, way: str) -> None:
    """The send is lost on the connection that has ended, and repeated once on a new one."""
    assert first_failure(quiet, identity=way == "identity", noticed=False)[:3] == (1, 1, 1)
