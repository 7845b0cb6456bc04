"""Define the settings of an endpoint as one value that checks itself, and derive the description of its platform."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from recoverable._config import Recoverability, error_queue_of
from recoverable._frozen import Frozen
from recoverable._ladder.settlement import Platform
from recoverable._limits import NO_DELAY, checked_delay, checked_queue
from recoverable._observe.extension import Setup
from recoverable._observe.parts import prepare
from recoverable._service_bus import app_settings
from recoverable._service_bus.app_settings import LOCK_DURATION, duration, find_setting, resolved
from recoverable.azure._messages import is_source, service_bus_key
from recoverable.azure._waiting import LONGEST_LOCK, check_delays, host_options, longest_wait, without_margin

if TYPE_CHECKING:
    from collections.abc import Mapping

RETRY_IN_A_BATCH = timedelta(seconds=10)
"""For how long retries in process may start in a batch, whose locks the host does not renew."""

RESEND, RESEND_IN_A_BATCH = timedelta(seconds=60), timedelta(seconds=10)
"""For how long sends are repeated: the host renews the locks of single messages, and those of a batch it does not."""


ENTITY = "(?=.{1,260}$)[A-Za-z0-9](?:[A-Za-z0-9./_-]*[A-Za-z0-9])?"
"""Names of queues ("Naming rules and restrictions for Azure resources", Microsoft.ServiceBus)."""

TAKE_NO_COPIES = (
    ("/subscriptions/", "a topic's subscription", "let it forward to a queue (ForwardTo)"),
    ("$", "a sub-queue", "have its messages forwarded to a queue (ForwardDeadLetteredMessagesTo)"),
)
"""Parts that no queue's own name has, the kind of entity that they mean, and the way of its messages to a queue."""


class ServiceBusSettings(Frozen):
    """The settings of an endpoint, with names of app settings resolved.

    Args:
        recoverability: the settings for retries; made with the error queue that counts: as given, else by the app settings, else "error".
        queue: the queue's name.
        connection: the name of the connection in the app settings.
        sessions: True if the queue has sessions; "ordered" if they keep their order over delayed retries too.
        batch: True if the trigger gives many messages at once.
        lock: for how long the queue of a batch locks its messages; made of the app setting RECOVERABLE_LOCK_DURATION when not given.
        handler_timeout: for how long a handler may work on one message; None for as long as the function runs.
        resend_for: for how long sends are repeated; None is 60 s, and 10 s in a batch.
        extensions: what watches or feeds the endpoint.

    Raises:
        TypeError: a setting of another kind.
        ValueError: a blank name, a `%SETTING%` that is none, a sub-queue, a topic's subscription, or an error queue that
            is the queue itself; ordered sessions in a batch; a batch without a lock; a time above an hour.
    """

    recoverability: Recoverability
    queue: str
    connection: str
    sessions: bool | Literal["ordered"] = False
    batch: bool = False
    lock: timedelta | None = None
    handler_timeout: timedelta | None = None
    resend_for: timedelta | None = None
    extensions: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Check the settings, and resolve names."""
        check_sessions(self.sessions, batch=self.batch)
        queue = queue_name(self.queue, os.environ)
        self._assign(
            queue=queue,
            recoverability=with_error_queue(self.recoverability, queue, os.environ),
            connection=app_settings.checked_connection("ServiceBusEndpoint(connection)", self.connection),
            lock=checked_lock(self.lock, os.environ) if self.batch or self.lock is not None else None,
        )
        own = self.handler_timeout
        if own is not None and not checked_delay("ServiceBusEndpoint(handler_timeout)", own, timedelta(hours=1)):
            raise ValueError("ServiceBusEndpoint(handler_timeout) is 0; write how long a handler may run, or None")
        if self.resend_for is not None:
            checked_delay("ServiceBusEndpoint(resend_for)", self.resend_for, timedelta(hours=1))
        prepare(self.extensions, Setup("azure", "ServiceBusEndpoint", self.recoverability, None, self.extensions))

    @property
    def is_ordered(self) -> bool:
        """True if the order of sessions is kept over delayed retries too."""
        return self.sessions == "ordered"

    @property
    def waits_in_place(self) -> bool:
        """True if messages of a session wait inside an invocation."""
        is_limited = self.recoverability.rate_limit is not None
        return not self.batch and (self.is_ordered or (self.sessions is True and is_limited))

    def platform(self, times: Times) -> Platform:
        """Return what the queue on this host counts and can do."""
        return Platform(
            "header" if self.batch else "native", shared_process=True, sessions=bool(self.sessions), text_log=True,
            is_source=is_source, key_of=service_bus_key, redelivers_only=self.is_ordered, longest_delay=times.in_place if self.is_ordered else None,
            host=app_settings.host(os.environ), machine=app_settings.machine(os.environ),
        )  # fmt: skip


class Times(NamedTuple):
    """The times of an endpoint's invocations; None where nothing ends what it says.

    Args:
        patience: for how many seconds sends are repeated that Service Bus did not take.
        for_retries: for how long retries in process may start; None also without them.
        in_place: for how long a message of a session may wait inside an invocation; None also where none does.
        for_handlers: for how long handlers of a batch may start: while copies can still leave, with their repetitions, and in half of the
            lock at least.
        for_sends: for how long copies of a batch may be sent, whose locks the host does not renew.
    """

    patience: float
    for_retries: timedelta | None
    in_place: timedelta | None
    for_handlers: timedelta | None
    for_sends: timedelta | None


def times_of(settings: ServiceBusSettings) -> Times:
    """Return the times of an endpoint's invocations.

    Raises:
        ValueError: order is kept, and an invocation cannot wait out one of the delays.
    """
    in_process = settings.recoverability.immediate.in_process
    resend = RESEND_IN_A_BATCH if settings.batch else RESEND
    patience = resend if settings.resend_for is None else settings.resend_for
    for_retries = in_place = for_handlers = for_sends = None
    if settings.batch and settings.lock is not None:
        for_sends = without_margin(settings.lock)
        for_handlers = max(for_sends - patience, settings.lock / 2)
    if in_process or settings.waits_in_place:
        longest = longest_wait(host_options(os.environ))
        if (
            in_process
        ):  # in half of the time: a retry that takes no longer than all that was before it then ends in time
            for_retries = min(longest / 2, RETRY_IN_A_BATCH) if settings.batch else longest / 2
        if settings.waits_in_place:
            in_place = longest
        if settings.is_ordered:
            check_delays(settings.recoverability.delayed, longest)
    return Times(patience.total_seconds(), for_retries, in_place, for_handlers, for_sends)


def with_error_queue(recoverability: Recoverability, queue: str, settings: Mapping[str, str]) -> Recoverability:
    """Return the settings with the error queue named, `%SETTING%` resolved; see `error_queue_of`.

    Raises:
        TypeError: no settings.
        ValueError: the error queue is the queue itself, so that a message would fail for ever; or it is a sub-queue.
    """
    given = error_queue_of("ServiceBusEndpoint", recoverability, lambda name: find_setting(name, settings))
    name = resolved(given, settings)
    checked_entity(name)
    if name.lower() == queue.lower():
        raise ValueError(
            f"the error queue is {app_settings.shown(name)}, the queue itself; write the name of another queue"
        )
    return recoverability.replace(failed=recoverability.failed.replace(error_queue=name))


def queue_name(queue: object, settings: Mapping[str, str]) -> str:
    """Return the queue's name, with app settings in place of `%SETTING%`.

    Raises:
        TypeError: no text.
        ValueError: blank, a `%SETTING%` that is none, a sub-queue, or a topic's subscription.
    """
    return checked_entity(resolved(checked_queue("ServiceBusEndpoint(queue)", queue), settings))


def checked_entity(queue: str) -> str:
    """Return the queue's name, if it can be one, and is not that of a sub-queue or a subscription, to which nobody can send a copy.

    Raises:
        ValueError: it is none, or one of these.
    """
    for part, kind, forwarding in TAKE_NO_COPIES:
        if part in f"{queue}/".lower():
            shown = app_settings.shown(queue)
            raise ValueError(f"{shown} is {kind}, which takes no copies; {forwarding}, and write that queue's name")
    if not re.fullmatch(ENTITY, queue):
        shown, allowed = app_settings.shown(queue), "up to 260 letters, digits, '.', '-', '_' and '/'"
        raise ValueError(f"{shown} is no name of a queue; write {allowed}, with a letter or digit at both ends")
    return queue


def checked_lock(lock: object, settings: Mapping[str, str]) -> timedelta:
    """Return how long the queue locks its messages: as given, else by the app settings.

    Raises:
        ValueError: neither says it, or Service Bus has no such lock.
    """
    if lock is None and (said := find_setting(LOCK_DURATION, settings)):
        lock = duration(said)
    if not isinstance(lock, timedelta) or not NO_DELAY < lock <= LONGEST_LOCK:
        raise ValueError(
            f"ServiceBusEndpoint(lock) is {lock}; write the queue's lockDuration, up to 5 minutes, which a batch needs and the host does "
            f"not say: lock=timedelta(minutes=1), or the app setting {LOCK_DURATION}: PT1M"
        )
    return lock


def check_timeout_in_order(settings: ServiceBusSettings, *, is_coroutine: bool) -> None:
    """Raise ValueError for a plain handler of ordered sessions whose time is limited: its message could only be redelivered beside it."""
    if settings.is_ordered and settings.handler_timeout is not None and not is_coroutine:
        what = 'ServiceBusEndpoint(sessions="ordered", handler_timeout=...) cannot stop a plain handler'
        raise ValueError(
            f"{what}, and its message is redelivered beside it; write a coroutine, or time-outs for its calls"
        )


def check_sessions(value: object, *, batch: bool) -> None:
    """Raise ValueError unless sessions are served in one of the three ways, and a batch does not ask for order."""
    if value == "ordered" and batch:
        raise ValueError('ServiceBusEndpoint(sessions="ordered", batch=True) cannot keep the order; write batch=False')
    if value is not True and value is not False and value != "ordered":
        raise ValueError(f'ServiceBusEndpoint(sessions) is {value!r}; write True, False or "ordered"')
