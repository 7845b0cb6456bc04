"""Each reader of the errors of Service Bus understands them as the table says."""

from __future__ import annotations

import pytest

from answers.cases import cases
from answers.service_bus_answers import ERRORS, FOR_GOOD, Meaning
from recoverable._service_bus.answers import refusal_of
from recoverable_operate._migration.service_bus_client import is_refusal
from recoverable_operate.errors._azure.answers import describe

Error = tuple[Meaning, Exception]

REFUSALS = {
    "missing": "missing",
    "closed": "closed",
    "denied": "denied",
    "limit": "limit",
    "transient": "transient",
    "unknown": "transient",
    "lost": "transient",
}
"""The kinds of refusal by which the endpoint settles, by the meaning of an error."""

CREDENTIALS = ["ClientAuthenticationError (transient)", "ServiceBusAuthenticationError (transient)"]


@pytest.mark.parametrize(
    "found", cases(ERRORS, {"expired or wrong credentials are a right that is missing": CREDENTIALS})
)
def test_the_endpoint_understands_an_error(found: Error) -> None:
    meaning, error = found

    assert refusal_of(error) == REFUSALS[meaning]


@pytest.mark.parametrize(
    "found",
    cases(
        ERRORS,
        {
            "an unknown error is refused for good": [
                "com.microsoft:something-new",
                "amqp:internal-error",
                "ServiceBusError (unknown)",
            ]
        },
    ),
)
def test_a_migration_and_a_redrive_understand_an_error(found: Error) -> None:
    meaning, error = found

    assert is_refusal(error) == (meaning in FOR_GOOD)


def cause_in(text: str) -> str:
    """Return what a command's line says of a queue: the cause, "refused" for one without a name, or nothing of these."""
    said = {" is missing": "denied", "there is no queue": "missing", " is disabled": "closed", " refused: ": "refused"}
    return next((what for part, what in said.items() if part in text), "")


@pytest.mark.parametrize(
    "found",
    cases(
        ERRORS,
        {
            "what is only busy or away is said to refuse": [
                "OSError (lost)",
                "ServiceBusError (unknown)",
                "amqp:internal-error",
                "com.microsoft:server-busy",
                "com.microsoft:something-new",
            ]
        },
    ),
)
def test_a_command_names_the_queue_or_the_right_that_is_missing(found: Error) -> None:
    meaning, error = found
    causes = {"missing": {"missing"}, "denied": {"denied"}, "closed": {"closed", "refused"}, "limit": {"refused"}}

    assert cause_in(describe(error, "sb://shop/orders", "Send")) in causes.get(meaning, {""})
