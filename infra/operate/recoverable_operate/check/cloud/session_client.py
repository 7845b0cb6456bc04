"""Make the AWS clients of a check, and turn what a call raises into one line, or into a value that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from recoverable._sqs.answers import call_failure, is_answer
from recoverable._sqs.clients import config
from recoverable_operate.aws.answers import describe
from recoverable_operate.aws.session_client import CALL_TIMEOUT, Access, Clients, session_for
from recoverable_operate.check.known import Unknown
from recoverable_operate.port import OperateError, one_line

T = TypeVar("T")

ATTEMPTS = 3
"""How often a call is tried, as the SDK's standard mode has it: reading harms nothing."""

MOST_TEXT = 300
"""Characters of an answer's own text."""


class Aws:
    """The clients of a check.

    Args:
        access: how AWS is reached.
    """

    def __init__(self, access: Access) -> None:
        self.access, self.session, self.sqs = access, session_for(access), Clients(access)

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a client of a service."""
        return answered(
            service,
            "",
            lambda: self.session.client(
                service,  # type: ignore[call-overload]  # the stubs list each service by itself
                region_name=region or self.access.region,
                endpoint_url=self.access.endpoint_url,
                config=config(CALL_TIMEOUT, ATTEMPTS),
            ),
        )


def answered(service: str, of: str, call: Callable[[], T]) -> T:
    """Return what a call answers.

    Args:
        service: whose call it is, as permissions name it.
        of: what it asks about.
        call: makes it.

    Raises:
        OperateError: it failed.
    """
    with one_line(lambda error: text_of(error, service, of)):
        return call()


def asked(service: str, of: str, call: Callable[[], T]) -> T | Unknown:
    """Return what calls answer; Unknown if one of them may not be made, or the service does not have it.

    Raises:
        OperateError: there was no answer, or one that may be another the next time.
    """
    try:
        return call()
    except OperateError as error:
        return Unknown(str(error))
    except Exception as error:
        if not is_answer(error) or call_failure(error).kind in {"busy", "lost"}:
            raise OperateError(text_of(error, service, of)) from error
        return Unknown(text_of(error, service, of))


def text_of(error: Exception, service: str, of: str) -> str:
    """Return what is missing, in one line."""
    return " ".join(describe(error, of or service, service, thing="").split())[:MOST_TEXT]
