"""The page about the proof lists the mistakes that the search is shown, as the search has them."""

from __future__ import annotations

import pytest

from docs.pages import page
from proof.catalogue import NAMED
from proof.crowds import mutations as crowds
from proof.crowds.mutations import CrowdMutation
from proof.mistakes import Mutation
from proof.test_mutations import MUTATIONS
from proof.timeouts import mutations as timeouts

PAGE = "internals/proof.md"


@pytest.mark.parametrize("mutation", [*MUTATIONS, *timeouts.MUTATIONS], ids=lambda mutation: mutation.name)
def test_the_page_lists_each_mistake_with_what_it_replaces(mutation: Mutation) -> None:
    row = f"| {mutation.name} | `{mutation.target}` | {mutation.scenario} | {mutation.breaks} |"

    assert f"\n{row}" in page(PAGE)


@pytest.mark.parametrize("mutation", crowds.MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_page_lists_each_mistake_that_a_crowd_shows(mutation: CrowdMutation) -> None:
    assert f"\n| {mutation.name} | `{mutation.target}` | {mutation.breaks} |" in page(PAGE)


def test_the_page_lists_each_scenario() -> None:
    assert [name for name in NAMED if f"\n| {name} | " not in page(PAGE)] == []
