"""Each reader of the errors of Service Bus understands them as the table says."""

from __future__ import annotations

import pytest

from answers.service_bus_answers import ERRORS, FOR_GOOD, Meaning
from recoverable._service_bus.answers import failure_of
from recoverable_operate.errors._azure.answers import describe

Error = tuple[Meaning, Exception]

every_error = pytest.mark.parametrize("found", [found for _, found in ERRORS], ids=[name for name, _ in ERRORS])


@every_error
def test_the_endpoint_understands_an_error(found: Error) -> None:
    meaning, error = found

    assert failure_of(error).kind == meaning


@every_error
def test_what_is_refused_for_good_is_not_sent_again(found: Error) -> None:
    meaning, error = found

    assert failure_of(error).is_for_good == (meaning in FOR_GOOD)


def cause_in(text: str) -> str:
    """Return what a command's line says of a queue: the cause, "refused" for one without a name, or nothing of these."""
    said = {" is missing": "denied", "there is no queue": "missing", " is disabled": "closed", " refused: ": "refused"}
    return next((what for part, what in said.items() if part in text), "")


@every_error
def test_a_command_names_the_queue_or_the_right_that_is_missing(found: Error) -> None:
    meaning, error = found
    causes = {"missing": {"missing"}, "denied": {"denied"}, "closed": {"closed", "refused"}, "limit": {"refused"}}

    assert cause_in(describe(error, "sb://shop/orders", "Send")) in causes.get(meaning, {""})
