"""Define `Message`, which a handler gets; it is the same on each platform."""

from __future__ import annotations

import json
from types import MappingProxyType

from recoverable.errors import MessageDeserializationError

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any, Protocol, Self, TypeVar, overload

    T = TypeVar("T")

    class Model(Protocol):
        """A class that reads itself from JSON, such as a model of pydantic."""

        @classmethod
        def model_validate_json(cls, json_data: str | bytes, /) -> Self:
            """Return the model that is read from the JSON."""

    M = TypeVar("M", bound=Model)

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Message:
    """A message for a handler. Its `id` never changes over retries, deferrals and redrives.

    Args:
        body: the body as it came, text or bytes; or the error to raise when it is read.
        id: the message's id.
        native: the platform's own record of it.
        queue: the name of the queue it came from.
        sent_at: when it was first sent; or a function of the message that returns it, called at the first use.
        headers: names and texts; or a function that returns them, called at the first use.
        attempt: the number of this attempt in its round, from 1.
        round: the number of delayed retries made before this attempt.
        group_id: the FIFO message group or the session that it belongs to.
    """

    __slots__ = ("_body", "_headers", "_sent_at", "attempt", "group_id", "id", "native", "queue", "round")

    def __init__(
        self,
        body: str | bytes | MessageDeserializationError,
        id: str = "",  # noqa: A002  # the field's standard name
        native: Any = None,
        queue: str = "",
        sent_at: datetime | Callable[[Message], datetime | None] | None = None,
        *,  # what an untouched message has is given by place, for each keyword costs each record
        headers: Mapping[str, str] | Callable[[], Mapping[str, str]] = NO_HEADERS,
        attempt: int = 1,
        round: int = 0,  # noqa: A002  # the field's standard name
        group_id: str | None = None,
    ) -> None:
        self._body, self._headers, self._sent_at = body, headers, sent_at
        self.id, self.attempt, self.round = id, attempt, round
        self.queue, self.group_id, self.native = queue, group_id, native

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempt={self.attempt}, round={self.round}, queue={self.queue!r})"  # no body: it may be secret

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers and the user's own text attributes.

        They cannot be changed, for a retry starts from what was received.
        """
        if callable(self._headers):
            self._headers = self._headers()
        return MappingProxyType(self._headers)

    @property
    def sent_at(self) -> datetime | None:
        """Return when the message was first sent; None if that is unknown."""
        if callable(self._sent_at):
            self._sent_at = self._sent_at(self)
        return self._sent_at

    @property
    def body(self) -> bytes:
        """Return the body as bytes.

        Raises:
            MessageDeserializationError: the body is not here, such as one that its sender stored in S3, or cannot be
                encoded as UTF-8.
        """
        raw = self._raw()
        return raw if isinstance(raw, bytes) else self._parsed(raw.encode)

    @property
    def text(self) -> str:
        """Return the body as text.

        Raises:
            MessageDeserializationError: the body is not UTF-8.
        """
        raw = self._raw()
        return raw if isinstance(raw, str) else self._parsed(raw.decode)

    def json(self) -> Any:
        """Return the body parsed as JSON.

        Raises:
            MessageDeserializationError: the body is not JSON.
        """
        body = self._body
        if isinstance(body, MessageDeserializationError):
            raise body
        try:
            return json.loads(body)
        except ValueError as error:
            raise unreadable(self.id, error) from error

    if TYPE_CHECKING:

        @overload
        def parse(self, model: type[M]) -> M: ...
        @overload
        def parse(self, model: Callable[[bytes], T]) -> T: ...

    def parse(self, model: Any) -> Any:
        """Return the body as an object.

        Args:
            model: a class with `model_validate_json`, such as pydantic's, or a function from bytes.

        Raises:
            MessageDeserializationError: the model raised ValueError, TypeError or KeyError; other errors pass as they
                are.
        """
        parse_body = getattr(model, "model_validate_json", model)
        return self._parsed(lambda: parse_body(self.body))

    def _raw(self) -> str | bytes:
        if isinstance(self._body, MessageDeserializationError):
            raise self._body
        return self._body

    def _parsed(self, parse: Callable[[], T]) -> T:
        try:
            return parse()
        except (ValueError, TypeError, KeyError) as error:
            raise unreadable(self.id, error) from error


def unreadable(message_id: str, error: Exception) -> MessageDeserializationError:
    """Return the error that says why a message cannot be read; it does not quote the body, which may be secret."""
    return MessageDeserializationError(f"message '{message_id}' cannot be read: {type(error).__name__}")
