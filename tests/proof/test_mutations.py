"""Show that the search can fail: it finds each mistake that it was made to find."""

from __future__ import annotations

import pytest

from proof.catalogue import NAMED
from proof.exploring import Search
from proof.mistakes import Mutation
from proof.service_bus import mutations as service_bus
from proof.service_bus import outgoing_mutations as service_bus_outgoing
from proof.sqs import mutations as sqs
from proof.sqs import outgoing_mutations as sqs_outgoing

PAIRS = 100


MUTATIONS = (*sqs.MUTATIONS, *sqs_outgoing.MUTATIONS, *service_bus.MUTATIONS, *service_bus_outgoing.MUTATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mistake_is_found(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"recoverable.{mutation.target}", mutation.by)

    found = Search(NAMED[mutation.scenario], until=mutation.breaks).run(PAIRS)

    broken = {problem.partition(":")[0] for _, problems in found.broken for problem in problems}
    assert mutation.breaks in broken, f"{found.schedules} schedules, broken: {broken}"
