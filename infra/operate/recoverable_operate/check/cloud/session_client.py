"""Make the AWS clients of a check, and turn what a call raises into one line, or into a value that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from recoverable._sqs.answers import is_answer
from recoverable_operate.aws.answers import describe
from recoverable_operate.aws.session_client import CALL_TIMEOUT, Access, Clients, session_for
from recoverable_operate.check.known import Unknown
from recoverable_operate.port import OperateError

T = TypeVar("T")

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
        from botocore.config import Config

        config = Config(connect_timeout=CALL_TIMEOUT, read_timeout=CALL_TIMEOUT, retries={"mode": "standard"})
        return answered(
            service,
            "",
            lambda: self.session.client(
                service,  # type: ignore[call-overload]  # the stubs list each service by itself
                region_name=region or self.access.region,
                endpoint_url=self.access.endpoint_url,
                config=config,
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
    try:
        return call()
    except OperateError:
        raise
    except Exception as error:
        raise OperateError(text_of(error, service, of)) from error


def asked(service: str, of: str, call: Callable[[], T]) -> T | Unknown:
    """Return what calls answer; Unknown if one of them may not be made, or the service does not have it.

    Raises:
        OperateError: there was no answer.
    """
    try:
        return call()
    except OperateError as error:
        return Unknown(str(error))
    except Exception as error:
        if not is_answer(error):
            raise OperateError(text_of(error, service, of)) from error
        return Unknown(text_of(error, service, of))


def text_of(error: Exception, service: str, of: str) -> str:
    """Return what is missing, in one line."""
    code = str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
    operation = getattr(error, "operation_name", "the call")
    if "AccessDenied" in code or "NotAuthorized" in code:
        return f"{service}:{operation} is missing for {of}"
    if code == "ResourceNotFoundException":
        return f"there is no {of} in this account and region"
    return " ".join(describe(error, of or service).split())[:MOST_TEXT]
