"""Handle the messages of one invocation: triggers' messages → deliveries → attempts → copies → return or raise."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from recoverable._flow.deadline import Deadline
from recoverable._flow.flow import drive
from recoverable._flow.invocation import Invocation
from recoverable._frozen import Frozen
from recoverable._limits import NO_DELAY
from recoverable.azure._flow import process_messages
from recoverable.azure._messages import ambiguous_fields, delivery_of, without_fields
from recoverable.hosting import current_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from azure.functions import Context, ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Forward, Platform
    from recoverable._message import Message
    from recoverable._observe.observer import Observer
    from recoverable._outgoing.outbox import Sender
    from recoverable._rate_limit.limiter import Limiter
    from recoverable._service_bus.senders import Broker
    from recoverable.azure._settings import ServiceBusSettings
    from recoverable.azure._settle import Letter
    from recoverable.hosting import Environment


class Processor(Frozen):
    """Takes the messages of an invocation through the ladder, with an endpoint's settings.

    Args:
        handler: the user's function.
        is_coroutine: True if it returns a coroutine.
        settings: the endpoint's settings.
        platform: what it counts and can do.
        time_for_retries: for how long retries in process may start; None without them.
        environment: client and clock of an invocation that no test makes.
    """

    handler: Callable[[Message], Any]
    is_coroutine: bool
    settings: ServiceBusSettings
    platform: Platform
    time_for_retries: timedelta | None
    environment: Environment

    __hash__ = object.__hash__  # the state that a process keeps is each endpoint's own

    def process(self, natives: list[ServiceBusMessage], context: Context | None) -> Any:
        """Handle the messages; for a coroutine handler, return a coroutine.

        Args:
            natives: the trigger's messages.
            context: the host's, for handlers that ask for it.

        Raises:
            Exception: the handler's, or the reason why a copy could not be sent: the host then redelivers the messages.
        """
        environment = current_environment.get() or self.environment
        deliveries = self._deliveries(natives)
        invocation = self._invocation(environment, context)
        steps = process_messages(
            deliveries,
            invocation,
            partial(self._send, environment=environment, settle=invocation.settle),
            partial(self._wait, environment=environment, began=environment.clock()),
            partial(self._send_outgoing, environment=environment),
        )
        if invocation.observer is not None:
            from recoverable._flow.emit import emit_after  # noqa: PLC0415  # imported for those who observe

            steps = emit_after(steps, invocation.observer, invocation, deliveries)
        handler = environment.wrap_handler(self.handler) if environment.wrap_handler else self.handler
        if not self.is_coroutine:
            return drive(steps, handler, invocation.deadline)
        from recoverable._flow.drive_async import drive_async  # noqa: PLC0415  # asyncio, for those who need it

        return drive_async(steps, handler)

    def _deliveries(self, natives: list[ServiceBusMessage]) -> list[Delivery]:
        if absent := ambiguous_fields(natives):
            from recoverable.azure._log import log_ambiguous_fields  # noqa: PLC0415  # most batches have none

            log_ambiguous_fields(absent, self.settings.queue)
            natives = without_fields(natives, absent)
        settings = self.settings
        return [delivery_of(native, settings.queue, settings.recoverability, self.platform) for native in natives]

    def _invocation(self, environment: Environment, context: Context | None) -> Invocation:
        seconds_for_retries = None
        if self.time_for_retries is not None:
            from recoverable.azure._waiting import countdown  # noqa: PLC0415  # for those who retry in process

            seconds_for_retries = countdown(environment.clock, self.time_for_retries)
        return Invocation(
            self.settings.recoverability, self.platform, environment.clock, Deadline(), context=context,
            seconds_for_retries=seconds_for_retries, limiter=self._limiter(environment),
            observer=self._observer(environment), sender=partial(self._sender, environment), holds_interruptions=False,
        )  # fmt: skip

    def _observer(self, environment: Environment) -> Observer | None:
        callbacks = self.settings.recoverability.observe
        if callbacks is None:
            return None
        from recoverable._observe.observer import Observer  # noqa: PLC0415  # imported for those who observe

        return Observer(callbacks, "servicebus", environment.clock)

    def _limiter(self, environment: Environment) -> Limiter | None:
        limit = self.settings.recoverability.rate_limit
        if limit is None:
            return None
        from recoverable._rate_limit.limiter import limiter_for  # noqa: PLC0415  # imported for those who limit the rate

        return limiter_for(self, limit, self.settings.recoverability, environment, may_defer=not self.settings.sessions)

    def _wait(self, delay: timedelta, *, environment: Environment, began: datetime) -> None:
        """Wait out a delay in place, where sessions keep their order."""
        from recoverable.azure._ordered import wait_in_place  # noqa: PLC0415  # for ordered sessions alone

        wait_in_place(delay, environment=environment, until=began + (self.platform.longest_delay or NO_DELAY))

    def bus(self, environment: Environment) -> Broker:
        """Return what sends; it makes the process's client, if there is none yet."""
        from recoverable._service_bus.app_settings import connection  # noqa: PLC0415  # as above
        from recoverable._service_bus.senders import broker  # noqa: PLC0415  # the SDK, for handlers that send

        return broker(environment.client, lambda: connection(self.settings.connection, os.environ))

    def warm_up(self) -> None:
        """Read what sends, and make the process's client, before the first message."""
        import recoverable._outgoing.outbox  # noqa: F401, PLC0415  # else the first send reads it

        self._sender(self.environment)

    def _sender(self, environment: Environment) -> Sender:
        """Return what collecting outgoing messages needs; it makes the client, in the handler's time."""
        from recoverable.azure._outgoing import ServiceBusSender  # noqa: PLC0415  # for handlers that send

        return ServiceBusSender(self.bus(environment), self.settings.queue, environment.clock)

    def _send_outgoing(self, invocation: Invocation, *, environment: Environment) -> None:
        from recoverable.azure._outgoing import send_outgoing  # noqa: PLC0415  # it was imported to collect

        send_outgoing(invocation, self.bus(environment), patience=self.settings.patience, sleep=environment.sleep)

    def _send(
        self,
        forwards: list[tuple[Delivery, Forward]],
        *,
        environment: Environment,
        settle: Callable[[Delivery, Forward], None],
        once: bool = False,
    ) -> list[Letter]:
        """Send the copies by the failure side of this platform, which is imported when there are some; return what no queue took."""
        from recoverable.azure._settle import send_copies  # noqa: PLC0415

        patience = NO_DELAY if once else self.settings.patience
        return send_copies(forwards, environment, self.settings, patience=patience, settle=settle)
