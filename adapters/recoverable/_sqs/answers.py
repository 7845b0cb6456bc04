"""Read SQS's answers and errors: what is confirmed, and why the rest failed. Pure functions; an answer may be anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["size", "refused", "busy", "unknown"]
"""Why an entry failed: too large for the queue; refused for good, so that repeating the call does not help; not taken now, so that it
does; or without an answer, so that it may have been done."""

BUSY_CODES = ("throttl", "overlimit", "requestlimit", "serviceunavailable", "slowdown")
"""Parts of the codes, in lower case, by which AWS refuses what it may take a moment later ("Common errors", Amazon SQS API reference)."""

NEVER_SENT = {"EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError", "SSLError"}
"""Errors of botocore for calls that reached nobody."""

SERVER_ERROR, BUSY = 500, {429, 503}


class Failure(NamedTuple):
    """The failure of an entry, or of a whole call.

    Args:
        kind: what may be done about it.
        reason: why, for the log.
    """

    kind: Kind
    reason: str


NOT_NAMED = Failure("unknown", "its answer does not name them")


def entries_in(answer: object, name: str) -> dict[str, Mapping[str, Any]]:
    """Return the entries of a list in an answer by their ids; none of those that are no entries."""
    listed = answer.get(name) if isinstance(answer, Mapping) else None
    entries = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    return {each["Id"]: each for each in entries if isinstance(each.get("Id"), str)}


def failures_in(answer: object, number: int) -> dict[int, Failure]:
    """Return the failures in the answer to a batch call by the numbers of their entries; what is missing is confirmed.

    An entry is confirmed only when the answer says so, and says nothing else.

    Args:
        answer: what SQS answered.
        number: how many entries the call had.
    """
    confirmed, failed = entries_in(answer, "Successful"), entries_in(answer, "Failed")
    return {
        n: entry_failure(failed[str(n)]) if str(n) in failed and str(n) not in confirmed else NOT_NAMED
        for n in range(number)
        if str(n) in failed or str(n) not in confirmed
    }


def entry_failure(entry: Mapping[str, Any]) -> Failure:
    """Return the failure that one entry of an answer is about."""
    code, text = str(entry.get("Code")), str(entry.get("Message", ""))
    not_taken_now = entry.get("SenderFault") is False
    return Failure("busy" if not_taken_now else kind_of(code, text, 0), f"{code} {text}")


def call_failure(error: Exception, reason: str) -> Failure:
    """Return the failure of a whole call.

    Args:
        error: what the client raised.
        reason: its text for the log.
    """
    if not is_answer(error):
        return Failure("busy" if type(error).__name__ in NEVER_SENT else "unknown", reason)
    response: Any = getattr(error, "response", {})
    details, metadata = response.get("Error") or {}, response.get("ResponseMetadata") or {}
    status = metadata.get("HTTPStatusCode")
    return Failure(kind_of(str(details.get("Code")), reason, status if isinstance(status, int) else 0), reason)


def kind_of(code: str, text: str, status: int) -> Kind:
    """Return why SQS refused: for size, for now, or for good; an error of its own may have come after it took the call."""
    if "must be shorter than" in text:  # it has no code of its own
        return "size"
    if status in BUSY or any(part in code.lower() for part in BUSY_CODES):
        return "busy"
    return "unknown" if status >= SERVER_ERROR else "refused"


def is_answer(error: Exception) -> bool:
    """True if AWS answered with the error; a connection error of botocore has a `response` too, but no dict."""
    return isinstance(getattr(error, "response", None), dict)


def describe_error(error: Exception) -> str:
    """Return a text about an error for the log.

    It is the text of AWS's answer. Of any other error it is the type alone, for its text may quote what was to be sent.
    """
    if isinstance(error, TimeoutError):
        return "no answer in the time that is kept for it; SQS may still do it"
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'"
    return str(error) if is_answer(error) else type(error).__name__
