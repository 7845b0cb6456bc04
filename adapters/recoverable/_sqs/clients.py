"""Make the process's own clients of AWS, for functions that give none, and check those that users give."""

from __future__ import annotations

import logging
import os
from functools import cache, partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from recoverable._limits import was_idle
from recoverable._sqs.answers import keeps_connection, was_reset
from recoverable._sqs.batches import CHANGE_VISIBILITY, DELETE, SEND

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session
    from botocore.config import Config

log = logging.getLogger("recoverable")

ONCE = 'boto3.client("sqs", config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))'

IDLE = 20.0
"""Seconds after which an idle connection is not used any more. SQS was seen to close one after about two minutes, and NAT gateways forget
one after 350 s ("NAT gateways", Amazon VPC User Guide); a frozen environment sees neither."""

CONDITIONAL = {"ConditionExpression", "TransactItems"}
"""Arguments of writes that are read back and not repeated: the first may have been done, and then its condition no longer holds."""


class RenewingClient:
    """A client whose calls do not fail because its connections ended while they were idle.

    Connections of the process's own client are closed before a call when they were idle for longer than `IDLE`; the call then opens one.
    A call that is reset all the same, on a connection that had carried a call before, is made once more, as it was, on a new one. A
    connection that urllib3 replaced by itself, because it saw its end, counts as one that had. Any other call without an answer may have
    been carried out, and is not repeated here. Nor is one that took longer than `IDLE`, as where the environment was frozen under it: the
    caller has given it up by then, and what it was to send may have been sent since.

    Args:
        client: a client of boto3.
        closes: False for a client that the user gave, whose connections are the user's.
        clock: returns seconds; when it jumps back, connections are closed too early.
    """

    def __init__(self, client: Any, *, closes: bool = True, clock: Callable[[], float] = monotonic) -> None:
        self.meta = getattr(client, "meta", None)
        self._client, self._closes, self._clock, self._lock = client, closes, clock, Lock()
        self._repeats = not repeats_calls(client)
        self._used_at: float | None = None  # None while no open connection has carried a call

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        return partial(self._call, found) if callable(found) else found

    def _call(self, method: Callable[..., Any], *args: Any, **request: Any) -> Any:
        may_repeat = self._renew() and self._repeats and not CONDITIONAL & request.keys()
        began = self._clock()
        try:
            return self._call_once(method, *args, **request)
        except Exception as error:
            if not (may_repeat and was_reset(error)) or was_idle(began, self._clock(), IDLE):
                raise
        return self._call_once(method, *args, **request)

    def _renew(self) -> bool:
        """Close the connections if they were idle for long; return True if one is left that has carried a call."""
        with self._lock:  # one thread closes, before the others take a connection
            used_at = self._used_at  # a call of another thread may end meanwhile, and set it to None
            if used_at is not None and was_idle(used_at, self._clock(), IDLE) and self._closes:
                self._close()
            return self._used_at is not None

    def _call_once(self, method: Callable[..., Any], *args: Any, **request: Any) -> Any:
        try:
            answer = method(*args, **request)
        except Exception as error:
            self._note(getattr(error, "response", None))
            raise
        self._note(answer)
        return answer

    def _note(self, answer: object) -> None:
        """Note whether a connection is left that has carried a call."""
        if isinstance(answer, dict) and keeps_connection(answer):
            self._used_at = self._clock()
        else:
            self._close()

    def _close(self) -> None:
        self._used_at = None
        if self._closes:
            self._client.close()


@cache
def session() -> Session:
    """Return the session of the process's clients: one of its own, which `boto3.setup_default_session` in a handler does not change."""
    import boto3

    return boto3.session.Session()


@cache
def client(service: str, region: str | None, timeout: float, attempts: int = 1) -> Any:
    """Return the process's client of a service in a region, made when it is first needed.

    By default it tries each call once: a resend after a lost answer would make a second copy, and an unsettled message
    is redelivered anyway.

    Args:
        service: such as "sqs".
        region: such as "eu-central-1"; None for the process's.
        timeout: seconds for connecting to one address and for one read; the call as a whole is bounded where it is
            made.
        attempts: how often it tries a call; more than once where a call that is made twice has the same effect as once.
    """
    made = session().client(service, region_name=region, config=config(timeout, attempts))  # type: ignore[call-overload]  # the stubs list each service by itself
    return RenewingClient(made)


def given_client(client: Any) -> Any:
    """Return a client that the user gave as the package calls it; None where none was given."""
    return client if client is None or isinstance(client, RenewingClient) else RenewingClient(client, closes=False)


def config(timeout: float, attempts: int) -> Config:
    """Return the settings of a client that tries each call so often, and takes so many seconds for connecting and one read."""
    from botocore.config import Config

    return Config(
        connect_timeout=timeout / 2,
        read_timeout=timeout / 2,
        retries={"total_max_attempts": attempts, "mode": "standard"},
    )


@cache
def default_region() -> str:
    """Return the process's region, for queues whose name does not say theirs; "" where there is none."""
    return os.environ.get("AWS_REGION") or session().region_name or ""


def check_client(owner: str, given: Any) -> None:
    """Check the setting `client` of an endpoint. Warn of one that repeats its calls.

    Args:
        owner: the name of the class that was given it.
        given: the setting.

    Raises:
        TypeError: it is no SQS client.
    """
    if not all(callable(getattr(given, each.method, None)) for each in (SEND, DELETE, CHANGE_VISIBILITY)):
        raise TypeError(f"{owner}(client) is {given!r}; write {ONCE}, or leave it out")
    if repeats_calls(given):
        log.warning(
            "The client of %s repeats calls that got no answer. A copy that SQS took without answering is then sent twice, and its"
            " message is handled twice. Write client=%s, or leave it out.",
            owner,
            ONCE,
        )


def repeats_calls(client: Any) -> bool:
    """True if a client repeats calls that got no answer."""
    retries = getattr(getattr(getattr(client, "meta", None), "config", None), "retries", None)
    return isinstance(retries, dict) and retries.get("total_max_attempts") != 1
