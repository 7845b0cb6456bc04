"""Each page has at most so many words outside of blocks of code: one table, whose sum is what a reader has before him."""

from __future__ import annotations

import re

import pytest

from docs.pages import PAGES, README, page

BUDGETS = {
    README: 900,
    "start/aws.md": 900,
    "start/azure.md": 900,
    "start/wrap.md": 800,
    "start/is-it-for-you.md": 700,
    "use/retries.md": 1450,
    "use/handlers.md": 700,
    "use/time-outs-and-crashes.md": 1100,
    "use/sending.md": 800,
    "use/idempotency.md": 600,
    "use/order.md": 900,
    "use/outages.md": 1100,
    "use/clients.md": 400,
    "use/later.md": 1200,
    "use/powertools.md": 900,
    "use/testing.md": 1500,
    "use/local.md": 1100,
    "run/on-call.md": 750,
    "run/error-queue.md": 1700,
    "run/watch.md": 1100,
    "run/broker-fails.md": 600,
    "deploy/aws-on-one-screen.md": 250,
    "deploy/azure-on-one-screen.md": 250,
    "deploy/aws.md": 1300,
    "deploy/azure.md": 1700,
    "deploy/check.md": 600,
    "deploy/change.md": 500,
    "deploy/cost.md": 400,
    "peers/coming-from-nservicebus.md": 1200,
    "peers/beside-nservicebus.md": 750,
    "peers/limits.md": 800,
    "internals/how-it-works.md": 900,
    "internals/extensions.md": 600,
    "internals/proof.md": 1700,
    "internals/scale.md": 1700,
    "internals/outages.md": 1900,
    "internals/brokers.md": 1000,
    "internals/releases.md": 400,
}
"""A page may take a tenth more, if another leaves it."""

MOST, MOST_OF_INTERNALS = 27_500, 8_000


def words(name: str) -> int:
    """Return how many words a page has outside of blocks of code; marks of tables count, as they take room."""
    return len(re.sub(r"^( *)```.*?^\1```$", "", page(name), flags=re.MULTILINE | re.DOTALL).split())


@pytest.mark.parametrize("name", BUDGETS)
def test_a_page_keeps_its_budget(name: str) -> None:
    assert words(name) <= 1.1 * BUDGETS[name]


def test_all_pages_have_one_but_the_reference() -> None:
    assert {name for name in PAGES if not name.startswith("reference/")} == BUDGETS.keys()


def test_all_together_are_half_of_what_they_were() -> None:
    internals = {name for name in BUDGETS if name.startswith("internals/")}

    assert sum(words(name) for name in BUDGETS.keys() - internals) <= MOST
    assert sum(words(name) for name in internals) <= MOST_OF_INTERNALS
