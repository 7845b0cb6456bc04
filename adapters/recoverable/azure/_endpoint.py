"""Define the endpoint of a Service Bus queue: its settings, checked, and its function for the Functions host."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, overload

from recoverable._config import Recoverability
from recoverable._flow.handlers import is_coroutine_handler
from recoverable._limits import name_of
from recoverable._variables import FACTS_FILE
from recoverable.azure._blueprint import blueprint, warn_of_missing_connection
from recoverable.azure._messages import as_list, checked_binary
from recoverable.azure._processor import Processor
from recoverable.azure._settings import ServiceBusSettings, check_timeout_in_order, times_of
from recoverable.hosting import Environment, utc_clock

if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from typing import Required, TypedDict, Unpack

    from azure.functions import Blueprint, Context, ServiceBusMessage  # noqa: TID251  # for types alone
    from azure.servicebus import ServiceBusClient  # noqa: TID251  # for types alone

    from recoverable._message import Message

    class Settings(TypedDict, total=False):
        """The settings of an endpoint, as type checkers see them."""

        queue: Required[str]
        connection: Required[str]
        sessions: bool | Literal["ordered"]
        batch: bool
        lock: timedelta | None
        handler_timeout: timedelta | None
        name: str | None
        client: ServiceBusClient | None
        clock: Callable[[], datetime] | None
        resend_for: timedelta | None
        warm: bool
        extensions: tuple[object, ...]


R = TypeVar("R")


class ServiceBusEndpoint(Generic[R]):
    """A function for the trigger of a Service Bus queue, with immediate retries, delayed retries and an error queue.

    Args:
        handler: your function, plain or coroutine; it gets one `Message`, and each exception that it raises is a failed attempt.
        recoverability: the settings for retries and the error queue.
        queue: the queue's name; `%SETTING%` stands for an app setting.
        connection: the name under which the app settings hold the connection, as the trigger has it.
        sessions: True if the queue has sessions: immediate retries keep the order of a session, delayed ones do not. "ordered" if they
            must too: the last attempt of a round waits out the delay inside the invocation, as long as host.json lets it, and the
            session waits. The queue's MaxDeliveryCount must then be all attempts + 10.
        batch: True if the trigger gives many messages at once. Immediate retries are then copies that carry the count, and the host can
            only abandon all messages together: after a crash, or when a copy cannot be sent, the whole batch runs again.
        lock: the queue's `lockDuration`, which the host does not say. For a batch it must be known; when not given, the app setting
            RECOVERABLE_LOCK_DURATION says it, such as PT1M. The host renews no locks of a batch: no handler starts when its copies could
            not leave in time any more, coroutines are stopped then, and nothing is sent once the locks are over. Without a batch it
            counts where host.json says that locks are renewed for a shorter time.
        handler_timeout: how long a handler may work on one message; None for as long as the function runs. A coroutine is cancelled. A plain
            handler is run in a thread of its own, and left behind in it when it takes longer: its message is retried by a copy that waits for
            as long again. A process leaves four such threads behind; with more an attempt waits, and `functionTimeout` ends the process.
        name: the function's name; the handler's when not given.
        client: an azure-servicebus client, instead of the one made at the first failure.
        clock: returns the time; without a zone, that of the machine.
        resend_for: for how long a copy is sent again that Service Bus did not take because it was busy or could not be reached. When not
            given, 60 s; in a batch, whose locks the host does not renew, 10 s. Keep it well below `functionTimeout`.
        warm: True to make the Service Bus client when the endpoint is made, where handlers send: else the first `Message.send` of a
            process waits for it.
        extensions: what watches or feeds it, of `recoverable.extensions` or your own: `(Observe(on_error=page_somebody),)`.

    Raises:
        TypeError: a handler that cannot be called, or a setting of another kind.
        ValueError: a blank name, a `%SETTING%` that is none, a sub-queue, a topic's subscription, or an error queue that
            is the queue itself; with `sessions="ordered"` a batch, a delay that an invocation cannot wait out, or
            `handler_timeout` with a plain handler, whose message could only be redelivered beside it; with `batch=True`
            no lock.
    """

    @overload
    def __init__(
        self: ServiceBusEndpoint[Coroutine[Any, Any, None]],
        handler: Callable[[Message], Coroutine[Any, Any, Any]],
        recoverability: Recoverability = ...,
        **settings: Unpack[Settings],
    ) -> None: ...
    @overload
    def __init__(
        self: ServiceBusEndpoint[None],
        handler: Callable[[Message], object],
        recoverability: Recoverability = ...,
        **settings: Unpack[Settings],
    ) -> None: ...
    def __init__(  # each setting has a name
        self,
        handler: Callable[[Message], Any],
        recoverability: Recoverability = Recoverability(),
        *,
        queue: str,
        connection: str,
        sessions: bool | Literal["ordered"] = False,
        batch: bool = False,
        lock: timedelta | None = None,
        handler_timeout: timedelta | None = None,
        name: str | None = None,
        client: ServiceBusClient | None = None,
        clock: Callable[[], datetime] | None = None,
        resend_for: timedelta | None = None,
        warm: bool = False,
        extensions: tuple[object, ...] = (),
    ) -> None:
        settings = ServiceBusSettings(
            recoverability, queue=queue, connection=connection, sessions=sessions, batch=batch, lock=lock,
            handler_timeout=handler_timeout, resend_for=resend_for, extensions=extensions,
        )  # fmt: skip
        is_coroutine = is_coroutine_handler(handler)
        check_timeout_in_order(settings, is_coroutine=is_coroutine)
        self.queue, self.recoverability, self._settings = settings.queue, settings.recoverability, settings
        times = times_of(settings)
        self._processor = Processor(
            handler, is_coroutine, settings, settings.platform(times), times,
            environment=Environment(client, utc_clock(clock), nullcontext), facts_file=os.environ.get(FACTS_FILE),
        )  # fmt: skip
        if warm:
            self._processor.warm_up()
        self.__name__ = self.__qualname__ = name or name_of(handler)
        self.__doc__ = getattr(handler, "__doc__", None)
        self.__module__ = getattr(handler, "__module__", __name__)

    def __call__(self, messages: ServiceBusMessage | list[ServiceBusMessage], context: Context | None = None) -> R:
        """Handle the messages of a trigger that you write yourself; for a coroutine handler, await the result.

        Args:
            messages: the trigger's message, or its list where it gives many.
            context: the one that the host passes to an argument `context` of your function, for `message.context`.

        Raises:
            TypeError: the trigger delivers text; nothing is settled, and all of it is redelivered.
            Exception: the handler's, so that the host redelivers the message; or the reason why a copy could not be
                sent.
        """
        result: R = self._processor.process(checked_binary(messages, batch=self._settings.batch), context)
        return result

    def blueprint(self) -> Blueprint:
        """Return a blueprint with the function and its trigger, rightly set, for `app.register_functions`.

        Raises:
            ImportError: azure-functions is not installed.
            ValueError: the host does not take the name for a function.
        """
        warn_of_missing_connection(self._settings.connection, os.environ)
        return blueprint(
            self._function(), self.__name__, connection=self._settings.connection, queue_name=self.queue,
            cardinality="many" if self._settings.batch else "one", is_sessions_enabled=bool(self._settings.sessions),
            auto_complete_messages=True,
        )  # fmt: skip

    @property
    def _function_builders(self) -> NoReturn:
        """Refuse to be registered as it is: `app.register_functions` reads this of a blueprint."""
        raise TypeError(
            f"{self.__name__} is an endpoint, and an app registers blueprints; write app.register_functions({self.__name__}.blueprint())"
        )

    def _function(self) -> Callable[..., Any]:
        """Return a function, because the host takes no other callable; without annotations, which it could not resolve."""
        process: Callable[[Any, Any], Any] = self._processor.process

        async def coroutine(
            message: Any, context: Any = None
        ) -> None:  # the host passes its own to an argument of this name
            await process(as_list(message, batch=self._settings.batch), context)

        def plain(message: Any, context: Any = None) -> None:
            process(as_list(message, batch=self._settings.batch), context)

        function = coroutine if self._processor.is_coroutine else plain
        function.__name__ = function.__qualname__ = self.__name__
        function.__doc__, function.__module__ = self.__doc__, self.__module__
        function.__annotations__ = {}
        function.__dict__["recoverability"] = self.recoverability  # for tests, which make the error queue
        return function
