"""Write messages as JSON lines, and read such lines as edits of messages that still lie in their error queue."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recoverable_operate.errors._filter import Filter
from recoverable_operate.errors._message import FailedMessage, body_hash
from recoverable_operate.errors._queue import ErrorQueue, OperateError

FORMAT, FIRST_FORMAT = 2, 1
"""The versions of a line: what is written, and what is still read. In the first one the body is a part of the broker's record."""

OURS = ("NServiceBus.", "Recoverable.", "ServiceControl.", "$.diagnostics.")
"""With one of these begins each header that an edit must leave as it is."""


def line_of(message: FailedMessage, queue: ErrorQueue, *, deleted: bool = False) -> str:
    """Return a message as a line of JSON, from which it can be sent back as it was.

    Args:
        message: the message.
        queue: the error queue that it lies in.
        deleted: True if it is deleted next, so that the line is all that is left of it.
    """
    content = {
        "recoverable": FORMAT,
        "queue": queue.address,
        "id": message.id,
        **({"deleted": True} if deleted else {}),
        **body_fields(message.body),
        "body_sha256": body_hash(message),
        "message": queue.to_line(message),
    }
    return json.dumps(content) + "\n"


def body_fields(body: bytes | None) -> dict[str, str | None]:
    """Return a body as text where encoding that again gives the same bytes, else in base64; None where it is not with the message."""
    if body is None:
        return {"body": None}
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": b64encode(body).decode()}


@dataclass(frozen=True, slots=True)
class Line:
    """An exported message, as somebody may have edited it.

    Args:
        number: its number in the file, from 1.
        message: the message; `body_in_queue` is the hash of the body that was exported.
        deleted: True if the line is all that is left of the message.
    """

    number: int
    message: FailedMessage
    deleted: bool


def line_from(number: int, text: str, queue: ErrorQueue) -> Line:
    """Return the exported message of a line.

    Raises:
        KeyError, TypeError, ValueError: it is none, or one of another queue.
    """
    line = json.loads(text)
    if not isinstance(line, dict) or line.get("recoverable") not in (FORMAT, FIRST_FORMAT):
        raise ValueError(f'it does not have "recoverable": {FORMAT}')
    if line["queue"] != queue.address:
        raise ValueError(f"it was exported from {line['queue']}, and --queue is {queue.address}")
    if line["recoverable"] == FIRST_FORMAT:
        message, exported = queue.from_line(line["message"], None), line["body"]
    else:
        message, exported = queue.from_line(line["message"], body_in(line)), line["body_sha256"]
        if line["id"] != message.id:
            raise ValueError(f"its id was changed from {message.id!r} to {line['id']!r}; write the former")
    if not isinstance(exported, str):
        raise TypeError("the hash of its body must be a text")
    in_queue = exported if message.body is not None else body_hash(message)
    return Line(number, replace(message, body_in_queue=in_queue), deleted=line.get("deleted") is True)


def body_in(line: Mapping[str, Any]) -> bytes | None:
    """Return the body of a line.

    Raises:
        KeyError, TypeError, ValueError: there is none, or two.
    """
    if "body_base64" in line:
        if "body" in line:
            raise ValueError('it has both "body" and "body_base64"; leave one out')
        return b64decode(line["body_base64"], validate=True)
    body = line["body"]
    if not isinstance(body, str | None):
        raise TypeError('"body" must be a text; write JSON in it as a text, with its quotes escaped')
    return None if body is None else body.encode()


def read_lines(texts: Iterable[str], queue: ErrorQueue, name: str) -> dict[str, Line]:
    """Return the lines of a file by the broker's id of their message.

    Args:
        texts: the file.
        queue: the error queue that the messages were exported from.
        name: the file's name, for errors.

    Raises:
        OperateError: a line is no exported message of this queue, or the same message as an earlier one.
    """
    lines: dict[str, Line] = {}
    for number, text in enumerate(texts, 1):
        try:
            line = line_from(number, text, queue)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else error
            raise OperateError(f"{name}, line {number} is no exported message: {why}") from None
        if (first := lines.setdefault(line.message.broker_id, line)) is not line:
            raise OperateError(f"{name}, line {number} is the same message as line {first.number}; leave one out")
    return lines


class InFile:
    """Chooses the messages of an error queue of which a file has a line.

    Args:
        lines: the file.
        wanted: what else a message must be.
        name: the file's name, for errors.
    """

    def __init__(self, lines: Mapping[str, Line], wanted: Filter, name: str) -> None:
        self._lines, self._wanted, self._name = lines, wanted, name

    def matches(self, message: FailedMessage) -> bool:
        """True if the file has a line of the message.

        Raises:
            OperateError: the line is not of this message, or headers were changed.
        """
        if (line := self._lines.get(message.broker_id)) is None:
            return False
        if (problem := problem_of_edit(line.message, message)) is not None:
            raise OperateError(f"{self._name}, line {line.number}: {problem}; nothing is sent")
        return self._wanted.matches(message)

    def missing(self, found: Collection[str]) -> list[Line]:
        """Return the lines whose message a look has not found, as far as the filter chooses them."""
        return [line for name, line in self._lines.items() if name not in found and self._wanted.matches(line.message)]


def problem_of_edit(edited: FailedMessage, original: FailedMessage) -> str | None:
    """Return why a line must not be sent in place of a message of the queue; None when it may."""
    if edited.id != original.id:
        return f"its id is {edited.id!r}, and that of the message in the queue is {original.id!r}"
    if edited.body_in_queue != body_hash(original):
        return "its body_sha256 is not that of the message in the queue; leave it as it was exported"
    if edited.group_id != original.group_id:
        return f"its group or session is {edited.group_id!r}, and that of the message in the queue is {original.group_id!r}"
    mine, theirs = own_headers(edited), own_headers(original)
    if changed := sorted(name for name in mine | theirs if mine.get(name) != theirs.get(name)):
        return f"the headers {', '.join(changed)} were changed; leave them as they were exported"
    return None


def own_headers(message: FailedMessage) -> dict[str, str]:
    """Return the headers of this package's and of NServiceBus's."""
    return {name: text for name, text in message.headers.items() if name.startswith(OURS)}
