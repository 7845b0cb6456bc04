"""Commands for a place on SQS: what is said first, the account, and what production asks for."""

from __future__ import annotations

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from operate.places import Machine, machine, place
from servers.moto import ACCOUNT
from servers.queues import Queue

__all__ = ["machine"]

DONE, REFUSED = 0, 2


@pytest.fixture
def prod(sqs: str, machine: Machine, error: Queue, orders: Queue) -> str:
    """Return a place in production, with one failed message."""
    send_failed(error, headers=fault_headers(orders.name))
    machine.own.write_text(place("prod-orders", queue=error.arn, endpoint=sqs, poll=0, production=True))
    return "prod-orders"


def test_a_run_says_first_which_place_of_which_file_and_account_it_is_for(
    errors: Errors, prod: str, error: Queue, machine: Machine
) -> None:
    ran = errors("list", prod)

    assert (ran.status, ran.err.splitlines()[0]) == (
        DONE, f"prod-orders of {machine.own}: {error.arn}, account {ACCOUNT}, in production"
    )  # fmt: skip


def test_credentials_of_another_account_are_refused(errors: Errors, prod: str, error: Queue, machine: Machine) -> None:
    machine.own.write_text(machine.own.read_text().replace(ACCOUNT, "210987654321"))

    ran = errors("retry", prod, "--confirm", prod)

    assert (ran.status, error.visible()) == (REFUSED, 1)
    assert f"is of account 210987654321, and the credentials are of {ACCOUNT}; choose others" in ran.err


def test_what_is_not_trusted_is_named(errors: Errors, error: Queue, machine: Machine, sqs: str) -> None:
    machine.project.write_text(place("test", queue=error.arn, poll=0, allow=[error.arn]))

    ran = errors("list", "test", "--endpoint-url", sqs)

    assert ran.err.splitlines()[1] == (
        "Not trusted, so not used: allow. To use them, read the file, then: recoverable places trust"
    )


@pytest.mark.parametrize("verb", ["retry", "purge"])
def test_yes_does_not_answer_in_production(errors: Errors, prod: str, error: Queue, orders: Queue, verb: str) -> None:
    ran = errors(verb, prod, "--yes")

    assert (ran.status, error.visible(), orders.count()) == (REFUSED, 1, 0)
    assert (
        f"--yes does not answer here. Nothing is done yet. To do it: recoverable errors {verb} {prod} --yes --confirm {prod}"
        in ran.err
    )


def test_in_production_the_places_name_answers(errors: Errors, prod: str, error: Queue, orders: Queue) -> None:
    wrong, right = errors("retry", prod, "--confirm", error.name), errors("retry", prod, "--confirm", prod)

    assert (wrong.status, right.status, error.count(), orders.count()) == (REFUSED, DONE, 0, 1)
    assert f"--confirm is '{error.name}', but the name is '{prod}'" in wrong.err


def test_an_edited_file_is_sent_in_production_only_by_the_places_name(
    errors: Errors, prod: str, error: Queue, orders: Queue, machine: Machine
) -> None:
    file = str(machine.project.parent / "failed.jsonl")
    errors("export", prod, "--file", file)

    refused, ran = (errors("import", prod, "--file", file, *words) for words in (["--yes"], ["--confirm", prod]))

    assert (refused.status, ran.status, error.count(), orders.count()) == (REFUSED, DONE, 0, 1)
