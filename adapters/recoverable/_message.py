"""Define `Message`, which a handler gets; it is the same on each platform."""

from __future__ import annotations

import json
from operator import attrgetter
from types import MappingProxyType

from recoverable._errors import MessageDeserializationError
from recoverable._unreadable import is_about_body, unreadable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any, Protocol, Self, TypeVar, Unpack, overload

    from recoverable._outgoing.message import Outgoing, SendOptions
    from recoverable._unreadable import Retried

    T = TypeVar("T")

    class ReadsJson(Protocol):
        """A class that reads itself from JSON, such as a model of pydantic."""

        @classmethod
        def model_validate_json(cls, json_data: str | bytes, /) -> Self:
            """Return the model that is read from the JSON."""

    Model = TypeVar("Model", bound=ReadsJson)

NO_HEADERS: Mapping[str, str] = MappingProxyType({})

if TYPE_CHECKING:
    from builtins import property as read_only
    from builtins import property as stored
else:

    class read_only(property):  # noqa: N801  # used as `property` is
        """A property that cannot be set: who a message is, and how often it was tried, is taken at receipt."""

        def __set__(self, message: Message, value: object) -> None:
            raise AttributeError(
                f"Message.{self.name} cannot be set to {value!r}: a retry starts from what was received"
            )

        def __set_name__(self, owner: type[Message], name: str) -> None:
            self.name = name

    def stored(declared: Callable[[Message], T]) -> read_only:
        """Return a property that is read as fast as the attribute that keeps it: `_id` for `id`."""
        return read_only(attrgetter(f"_{declared.__name__}"), doc=declared.__doc__)


class Message:
    """A message for a handler. Its `id` never changes over retries, deferrals and redrives.

    Args:
        body: the body as it came, text or bytes; or a function that returns it or raises, called at the first use.
        id: the message's id.
        native: the platform's own record of it.
        queue: the name of the queue it came from.
        sent_at: when it was first sent; or a function of the message that returns it, called at the first use.
        headers: names and texts; or a function of the message that returns them, called at the first use.
        group_id: the FIFO message group or the session that it belongs to; or a function of the message, as before.
        attempt: the number of this attempt in its round, from 1.
        round: the number of delayed retries made before this attempt.
    """

    __slots__ = ("_attempt", "_body", "_context", "_copy", "_delivery", "_group_id", "_headers", "_id", "_native", "_outbox", "_queue", "_round", "_sent_at")  # fmt: skip

    def __init__(
        self,
        body: str | bytes | Callable[[], str | bytes],
        id: str = "",  # noqa: A002  # the field's standard name
        native: Any = None,
        queue: str = "",
        sent_at: datetime | Callable[[Message], datetime | None] | None = None,
        headers: Mapping[str, str] | Callable[[Message], Mapping[str, str]] = NO_HEADERS,
        group_id: str | Callable[[Message], str | None] | None = None,
        attempt: int = 1,
        round: int = 0,  # noqa: A002  # the field's standard name
    ) -> None:
        self._body, self._headers, self._sent_at = body, headers, sent_at
        self._id, self._attempt, self._round = id, attempt, round
        self._queue, self._group_id, self._native = queue, group_id, native
        self._delivery = None

    if TYPE_CHECKING:
        _context: Any
        _copy: Any
        _delivery: Any  # Delivery, None while there is nothing to say about it; see `delivery_of`
        _outbox: Any  # Outbox, what opens one, or False once the attempt has ended

    @stored
    def id(self) -> str:
        """Return the message's id."""
        return self._id

    @stored
    def attempt(self) -> int:
        """Return the number of this attempt in its round, from 1."""
        return self._attempt

    @stored
    def round(self) -> int:
        """Return the number of delayed retries made before this attempt."""
        return self._round

    @stored
    def queue(self) -> str:
        """Return the name of the queue it came from."""
        return self._queue

    @read_only
    def group_id(self) -> str | None:
        """Return the FIFO message group or the session that it belongs to; None when it is in none."""
        if callable(self._group_id):
            self._group_id = self._group_id(self)
        return self._group_id

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempt={self.attempt}, round={self.round}, queue={self.queue!r})"  # no body: it may be secret

    @property
    def native(self) -> Any:
        """Return the platform's own record of it.

        A record that is a dict is a copy: what is changed in it changes nothing about retries.
        """
        try:
            return self._copy
        except AttributeError:
            from copy import deepcopy  # noqa: PLC0415  # most handlers do not use it

            self._copy = deepcopy(self._native) if isinstance(self._native, dict) else self._native
            return self._copy

    @property
    def context(self) -> Any:
        """Return the host's context of the invocation that the attempt runs in, Lambda's or that of Azure Functions.

        None where the host passes none, such as to a test's own call, and on a message that a test has made.
        """
        return getattr(self, "_context", None)

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers and the user's own text attributes.

        They cannot be changed, for a retry starts from what was received.
        """
        if callable(self._headers):
            self._headers = self._headers(self)
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
            MessageDeserializationError: the body cannot be encoded as UTF-8, or its sender stored it in S3 and no
                setting says how to read it there.
        """
        raw = self._raw()
        return raw if isinstance(raw, bytes) else self._parsed(raw, str.encode)

    @property
    def text(self) -> str:
        """Return the body as text.

        Raises:
            MessageDeserializationError: the body is not UTF-8.
        """
        raw = self._raw()
        return raw if isinstance(raw, str) else self._parsed(raw, bytes.decode)

    def json(self) -> Any:
        """Return the body parsed as JSON.

        Raises:
            MessageDeserializationError: the body is not JSON, or nested too deep.
        """
        body = self._raw() if callable(self._body) else self._body
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise unreadable(self.id, error) from error

    if TYPE_CHECKING:

        @overload
        def parse(self, model: type[Model], *, retried: Retried = ()) -> Model: ...
        @overload
        def parse(self, model: Callable[[bytes], T], *, retried: Retried = ()) -> T: ...

    def parse(self, model: Any, *, retried: Retried = ()) -> Any:
        """Return the body as an object.

        Args:
            model: a class with `model_validate_json`, such as pydantic's, or a function from bytes.
            retried: types of errors that the function raises and that say nothing of the body; they pass as they are.

        Raises:
            MessageDeserializationError: the model or function raised. What says nothing of the body passes as it is:
                `RetryAfter`, lack of memory, a missing module, errors of the system or the network and what was raised
                because of one, and an error with the answer of a service.
        """
        return self._parsed(self.body, getattr(model, "model_validate_json", model), retried)

    def send(self, queue: str, body: object, **options: Unpack[SendOptions]) -> None:
        """Send a message to a queue when this attempt has succeeded; an attempt that fails sends nothing.

        Args:
            queue: a name in the same account or namespace, an ARN, a queue's URL, or `sb://namespace/queue`.
            body: text, bytes, or anything else as JSON; taken as it is now.
            options: `headers`, further headers; `attributes`, SQS's message attributes or Service Bus's application
                properties; `delay`, a timedelta; `group_id`, the FIFO message group or session, by default that of this
                message; `message_id`, its id, by default the same each time the handler sends the same again;
                `message_type`, the full name of the .NET type that an NServiceBus endpoint reads the body as, such as
                "Shop.PlaceOrder". The body is JSON then; for other text give `headers` an NServiceBus.ContentType.

        Raises:
            RuntimeError: the attempt has ended.
            TypeError: a part of another kind.
            ValueError: the platform takes no such message.
        """
        outgoing().collect(self, "Send", queue, body, **options)

    def publish(self, topic: str, body: object, **options: Unpack[SendOptions]) -> None:
        """Publish a message to a topic when this attempt has succeeded; see `send`."""
        outgoing().collect(self, "Publish", topic, body, **options)

    def reply(self, body: object, **options: Unpack[SendOptions]) -> None:
        """Send a message to the queue that the sender of this one named for replies; see `send`.

        Raises:
            ValueError: `headers` has no NServiceBus.ReplyToAddress, or one that is not the name of a queue in the same
                account and region, or namespace.
        """
        outgoing().collect(self, "Reply", outgoing().reply_address(self), body, **options)

    @property
    def outgoing(self) -> tuple[Outgoing, ...]:
        """Return what this attempt has sent and published so far."""
        sent: tuple[Outgoing, ...] = outgoing().collected(self)
        return sent

    def _raw(self) -> str | bytes:
        if callable(self._body):
            self._body = self._body()
        return self._body

    def _parsed(self, body: Any, parse: Callable[[Any], T], retried: Retried = ()) -> T:
        try:
            return parse(body)
        except MessageDeserializationError:
            raise
        except Exception as error:
            if not is_about_body(error, retried):
                raise
            raise unreadable(self.id, error) from error


def outgoing() -> Any:
    """Return the module that collects what handlers send."""
    import recoverable._outgoing.outbox as module  # noqa: PLC0415  # door: to sending

    return module


def place(message: Message, *, round: int, attempt: int) -> None:  # noqa: A002  # as the message calls it
    """Set the message's place on the ladder, which is known once its headers are read."""
    message._round, message._attempt = round, attempt


def received(message: Message) -> Any:
    """Return the platform's record as it was received, whatever the handler did to its own."""
    return message._native


class FetchedRecord(dict):  # type: ignore[type-arg]  # `typing` stays away at cold start
    """A platform's record in which something stands for the body, which an extension fetches."""


def fetch_body(message: Message, fetch: Callable[[], bytes]) -> None:
    """Have the body of a message fetched when it is first read."""
    message._body, message._native = fetch, FetchedRecord(message._native)
    message._copy = FetchedRecord(message.native)


def record_of(message: Message) -> Any:
    """Return the platform's record of a message, with the body in place of what stands for it where an extension fetches that.

    Raises:
        Exception: what fetching the body raises.
        MessageDeserializationError: the body that was fetched is no text.
    """
    record = message.native
    return {**record, "body": message.text} if isinstance(record, FetchedRecord) else record
