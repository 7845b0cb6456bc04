"""Handle a Functions trigger's messages: messages → deliveries → attempts → copies → return or raise."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, overload

from recoverable.attempts.drive import drive
from recoverable.attempts.flow import utc_clock
from recoverable.attempts.handlers import is_coroutine_handler
from recoverable.attempts.invocation import Invocation
from recoverable.azure.flow import process_messages
from recoverable.azure.messages import ambiguous_fields, as_list, checked_binary, delivery_of, without_fields
from recoverable.azure.settings import (
    checked_resend_for,
    checked_sessions,
    connection_name,
    function_name,
    host,
    is_source,
    machine,
    queue_name,
    with_error_queue,
)
from recoverable.config import Recoverability
from recoverable.environment import Environment, current_environment
from recoverable.limits import NO_DELAY, name_of
from recoverable.recovery.delivery import Platform

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from azure.functions import Blueprint, ServiceBusMessage  # noqa: TID251  # for types alone
    from azure.servicebus import ServiceBusClient  # noqa: TID251  # for types alone

    from recoverable.azure.client import Broker
    from recoverable.azure.sending.letter import Letter
    from recoverable.message import Message
    from recoverable.observe.observer import Observer
    from recoverable.outgoing.senders import Sender
    from recoverable.rate_limit.limiter import Limiter
    from recoverable.recovery.delivery import Counter, Delivery
    from recoverable.recovery.settlement import Forward

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
        name: the function's name; the handler's when not given.
        client: an azure-servicebus client, instead of the one made at the first failure.
        clock: returns the time; without a zone, that of the machine.
        resend_for: for how long a copy is sent again that Service Bus did not take because it was busy or could not be reached. When not
            given, 60 s; in a batch, whose locks the host does not renew, 10 s. Keep it well below `functionTimeout`, and in a batch below
            the queue's lock.
        warm: True to make the Service Bus client when the endpoint is made, for handlers that send: else the first `Message.send` of a
            process waits for it.

    Raises:
        TypeError: a handler that cannot be called, or a setting of another kind.
        ValueError: a blank name, a `%SETTING%` that is none, a sub-queue, or an error queue that is the queue itself; with
            `sessions="ordered"` a batch, or a delay that an invocation cannot wait out.
    """

    @overload
    def __init__(
        self: ServiceBusEndpoint[Coroutine[Any, Any, None]],
        handler: Callable[[Message], Coroutine[Any, Any, Any]],
        recoverability: Recoverability = ...,
        *,
        queue: str,
        connection: str,
        sessions: bool | Literal["ordered"] = ...,
        batch: bool = ...,
        name: str | None = ...,
        client: ServiceBusClient | None = ...,
        clock: Callable[[], datetime] | None = ...,
        resend_for: timedelta | None = ...,
        warm: bool = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: ServiceBusEndpoint[None],
        handler: Callable[[Message], object],
        recoverability: Recoverability = ...,
        *,
        queue: str,
        connection: str,
        sessions: bool | Literal["ordered"] = ...,
        batch: bool = ...,
        name: str | None = ...,
        client: ServiceBusClient | None = ...,
        clock: Callable[[], datetime] | None = ...,
        resend_for: timedelta | None = ...,
        warm: bool = ...,
    ) -> None: ...
    def __init__(
        self,
        handler: Callable[[Message], Any],
        recoverability: Recoverability = Recoverability(),
        *,
        queue: str,
        connection: str,
        sessions: bool | Literal["ordered"] = False,
        batch: bool = False,
        name: str | None = None,
        client: ServiceBusClient | None = None,
        clock: Callable[[], datetime] | None = None,
        resend_for: timedelta | None = None,
        warm: bool = False,
    ) -> None:
        self._handler, self._is_coroutine = handler, is_coroutine_handler(handler)
        self._connection = connection_name(connection)
        self._sessions, self._batch = checked_sessions(sessions, batch=batch), batch
        self.queue = queue_name(queue, os.environ)
        self.recoverability = with_error_queue(recoverability, self.queue, os.environ)
        counter: Counter = "header" if batch else "native"
        names = host(os.environ), machine(os.environ)
        self._platform = Platform(
            counter, shared_process=True, text_log=True, is_source=is_source, host=names[0], machine=names[1]
        )
        if sessions == "ordered":
            from recoverable.azure.host_json import longest_wait  # noqa: PLC0415  # for ordered sessions alone
            from recoverable.azure.ordered import check_delays  # noqa: PLC0415  # as above

            longest = longest_wait(os.environ)
            check_delays(self.recoverability.delayed, longest)
            self._platform = self._platform.__replace__(redelivers_only=True, longest_delay=longest)
        self._time_for_retries: timedelta | None = None
        if self.recoverability.immediate.in_process:
            from recoverable.azure.host_json import time_for_retries  # noqa: PLC0415  # for those who ask for it

            self._time_for_retries = time_for_retries(os.environ, batch=batch)
        self._resend_for = checked_resend_for(resend_for, batch=batch)
        self._environment = Environment(client, utc_clock(clock), nullcontext)
        if warm:
            self._bus(self._environment)
        self.__name__ = self.__qualname__ = name or name_of(handler)
        self.__doc__ = getattr(handler, "__doc__", None)
        self.__module__ = getattr(handler, "__module__", __name__)

    def __call__(self, messages: ServiceBusMessage | list[ServiceBusMessage]) -> R:
        """Handle the messages of a trigger that you write yourself; for a coroutine handler, await the result.

        Args:
            messages: the trigger's message, or its list where it gives many.

        Raises:
            TypeError: the trigger delivers text; nothing is settled, and all of it is redelivered.
            Exception: the handler's, so that the host redelivers the message; or the reason why a copy could not be
                sent.
        """
        return self._handle(checked_binary(messages, batch=self._batch))

    def blueprint(self) -> Blueprint:
        """Return a blueprint with the function and its trigger, rightly set, for `app.register_functions`.

        Raises:
            ImportError: azure-functions is not installed.
            ValueError: the host does not take the name for a function.
        """
        from recoverable.azure.blueprint_client import blueprint, warn_of_missing_connection  # noqa: PLC0415  # the SDK's side

        warn_of_missing_connection(self._connection, os.environ)
        return blueprint(
            self._function(),
            function_name(self.__name__),
            connection=self._connection,
            queue_name=self.queue,
            cardinality="many" if self._batch else "one",
            is_sessions_enabled=bool(self._sessions),
            auto_complete_messages=True,
        )

    @property
    def _function_builders(self) -> NoReturn:
        """Refuse to be registered as it is: `app.register_functions` reads this of a blueprint."""
        raise TypeError(
            f"{self.__name__} is an endpoint, and an app registers blueprints; write app.register_functions({self.__name__}.blueprint())"
        )

    def _function(self) -> Callable[..., Any]:
        """Return a function, for the host takes no other callable; without annotations, which it could not resolve."""
        handle: Callable[[Any], Any] = self._handle

        async def coroutine(message: Any) -> None:
            await handle(as_list(message, batch=self._batch))

        def plain(message: Any) -> None:
            handle(as_list(message, batch=self._batch))

        function = coroutine if self._is_coroutine else plain
        function.__name__ = function.__qualname__ = self.__name__
        function.__doc__, function.__module__ = self.__doc__, self.__module__
        function.__annotations__ = {}
        function.__dict__["recoverability"] = self.recoverability  # for tests, which make the error queue
        return function

    def _handle(self, natives: list[ServiceBusMessage]) -> R:
        environment = current_environment.get() or self._environment
        if absent := ambiguous_fields(natives):
            from recoverable.azure.log import log_ambiguous_fields  # noqa: PLC0415  # most batches have none

            log_ambiguous_fields(absent, self.queue)
            natives = without_fields(natives, absent)
        settings, platform = self.recoverability, self._platform
        deliveries = [delivery_of(native, self.queue, settings, platform) for native in natives]
        invocation = Invocation(
            settings, platform, environment.clock, limiter=self._limiter(environment), holds_interruptions=False
        )
        invocation.observer = self._observer(environment)
        invocation.sender = partial(self._sender, environment)
        if self._time_for_retries is not None:
            from recoverable.azure.host_json import countdown  # noqa: PLC0415  # for those who retry in process

            invocation.seconds_for_retries = countdown(environment.clock, self._time_for_retries)
        handler = environment.wrap_handler(self._handler) if environment.wrap_handler else self._handler
        send = partial(self._send, environment=environment)
        send_outgoing = partial(self._send_outgoing, environment=environment)
        wait = partial(self._wait, environment=environment, began=environment.clock())
        result: R = self._driver()(process_messages(deliveries, invocation, send, wait, send_outgoing), handler)
        return result

    def _wait(self, delay: timedelta, *, environment: Environment, began: datetime) -> None:
        """Wait out a delay in place, where sessions keep their order."""
        from recoverable.azure.ordered import wait_in_place  # noqa: PLC0415  # for ordered sessions alone

        wait_in_place(delay, environment=environment, until=began + (self._platform.longest_delay or NO_DELAY))

    def _bus(self, environment: Environment) -> Broker:
        from recoverable.azure.client import broker  # noqa: PLC0415  # the SDK, for handlers that send
        from recoverable.azure.settings import connection  # noqa: PLC0415  # as above

        return broker(environment.client, lambda: connection(self._connection, os.environ))

    def _sender(self, environment: Environment) -> Sender:
        """Return what collecting outgoing messages needs; it makes the client, in the handler's time."""
        from recoverable.azure.sending.outgoing import ServiceBusSender  # noqa: PLC0415  # for handlers that send

        return ServiceBusSender(self._bus(environment), self.queue, environment.clock)

    def _send_outgoing(self, invocation: Invocation, *, environment: Environment) -> None:
        from recoverable.azure.sending.outgoing import send_outgoing  # noqa: PLC0415  # it was imported to collect

        send_outgoing(invocation, self._bus(environment), patience=self._resend_for, sleep=environment.sleep)

    def _driver(self) -> Callable[..., Any]:
        if not self._is_coroutine:
            return drive
        from recoverable.attempts.drive_async import drive_async  # noqa: PLC0415  # asyncio, for those who need it

        return drive_async

    def _observer(self, environment: Environment) -> Observer | None:
        if self.recoverability.observe is None:
            return None
        from recoverable.observe.observer import Observer  # noqa: PLC0415  # imported for those who observe

        return Observer(self.recoverability.observe, "servicebus", environment.clock)

    def _limiter(self, environment: Environment) -> Limiter | None:
        limit = self.recoverability.rate_limit
        if limit is None:
            return None
        from recoverable.rate_limit.limiter import limiter_for  # noqa: PLC0415  # imported for those who limit the rate

        return limiter_for(self, limit, self.recoverability, environment, may_defer=not self._sessions)

    def _send(
        self, forwards: list[tuple[Delivery, Forward]], *, environment: Environment, once: bool = False
    ) -> list[Letter]:
        """Send the copies by the failure side of this platform, which is imported when there are some; return what no queue took."""
        from recoverable.azure.client import send_copies  # noqa: PLC0415

        return send_copies(
            forwards,
            environment,
            self._connection,
            error_queue=self.recoverability.failed.error_queue or "",
            batch=self._batch,
            patience=NO_DELAY if once else self._resend_for,
        )
