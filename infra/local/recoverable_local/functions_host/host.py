"""Start and stop the Functions host as one object, send to its queues, inspect them, and wait."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from recoverable._service_bus.app_settings import LOCK_DURATION, PREFIXES, connection, find_setting
from recoverable_local.decisions import facts_file
from recoverable_local.functions_host.app.entities import queues_of, topics_of
from recoverable_local.functions_host.app.folder import SCRIPT, App, AppError, read_app
from recoverable_local.functions_host.app.triggers import Trigger
from recoverable_local.functions_host.background import BackgroundServer
from recoverable_local.functions_host.extension.client import namespace_of
from recoverable_local.functions_host.journal import FunctionLog, Journal, Observer
from recoverable_local.functions_host.sending import Outbox
from recoverable_local.functions_host.serving import Served, ServingContext, served
from recoverable_local.functions_host.settings import Settings
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.service_bus import QueueView, ServiceBusNamespace
from recoverable_operate.errors import mark_types


class LocalFunctions:
    """Runs a Function App on Service Bus queues while its context is entered.

    When the context is left, a namespace that was started here ends with all its messages. On another namespace, messages in flight are
    delivered again when their locks expire.

    Args:
        folder: The app's folder, with `function_app.py` and `host.json`.
        settings: How to run it.
        observe: Called with each journal entry, in order, from one thread at a time. An exception that it raises is logged.

    Raises:
        AppError: The app's files are missing or invalid. Some parts are checked only when the context is entered.
    """

    app: App
    """The app, with the app settings that its functions get; complete once the context is entered."""

    served: Served
    """The functions that run, and those that do not; set when the context is entered."""

    namespace: ServiceBusNamespace | None
    """The namespace that was started here, if any; set when the context is entered."""

    queues: tuple[str, ...] = ()
    """The names of its queues."""

    def __init__(
        self, folder: str | Path, settings: Settings | None = None, *, observe: Observer | None = None
    ) -> None:
        mark_types()
        self.settings = settings or Settings()
        self.app = read_app(folder, given=self.settings.app_settings, environment=os.environ)
        self.namespace = None
        self._journal = Journal(FunctionLog, observe)
        self._cleanup = ExitStack()

    @classmethod
    def from_folder(cls, folder: str | Path, *, observe: Observer | None = None, **settings: Any) -> Self:
        """Create a host, with the fields of `Settings` as keyword arguments."""
        return cls(folder, Settings(**settings), observe=observe)

    def __enter__(self) -> Self:
        """Load the app and start to receive from its queues.

        Raises:
            AppError: The app cannot be loaded, or a connection is neither a connection string nor identity-based.
        """
        with ExitStack() as cleanup:
            self._start(cleanup)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the worker, end every thread and close every link."""
        self._cleanup.close()

    def _start(self, cleanup: ExitStack) -> None:
        triggers = served(_functions(self._with_lock(), self.settings), self.app).triggers
        connections = self._connections(triggers, cleanup)
        self.app = replace(self.app, settings={**self.app.settings, **connections})
        first = triggers[0].connection if triggers else ""
        self._outbox = cleanup.enter_context(Outbox(lambda: connection(first, self.app.settings)))
        facts = cleanup.enter_context(facts_file(self._journal))
        server = BackgroundServer(ServingContext(self.app, self._journal, facts, self.settings))
        cleanup.callback(server.stop)
        self.served = server.start()

    def _connections(self, triggers: tuple[Trigger, ...], cleanup: ExitStack) -> dict[str, str]:
        """Return the app settings of the connections that lead to the given namespace, or to one that is started here.

        With a given connection string, or with `all_local`, these are all connections of the app. Otherwise they are those that the app's
        own settings do not have.
        """
        names = {name for each in triggers for name in each.connections}
        if (given := self.settings.connection_string) is not None:
            return _leading_to(given, names)
        all_local = self.settings.all_local
        missing = {name for name in names if all_local or not _is_configured(name, self.app.settings)}
        if not missing:
            return {}
        self.namespace = cleanup.enter_context(self._new_namespace(triggers))
        lock = {LOCK_DURATION: self._with_lock().settings[LOCK_DURATION]}
        return {**lock, **_leading_to(self.namespace.connection_string, missing)}

    def _with_lock(self) -> App:
        """Return the app with the lock duration of the queues that are made here, which endpoints of batches need, unless its settings have one."""
        lock = f"PT{self.settings.lock_duration.total_seconds():g}S"
        return replace(self.app, settings={LOCK_DURATION: lock, **self.app.settings})

    def _new_namespace(self, triggers: tuple[Trigger, ...]) -> ServiceBusNamespace:
        """Create a namespace with all queues and topics that the triggers read."""
        own = next((each.error_queue for each in triggers if each.error_queue), None)
        said = self.settings.error_queue or own or find_setting("RECOVERABLE_ERROR_QUEUE", self.app.settings)
        named = said or "error"
        queues = queues_of(triggers, self.settings, error_queue=named)
        self.queues = tuple(queue.name for queue in queues)
        topics = topics_of(triggers, self.settings, error_queue=named)
        return ServiceBusNamespace(queues, topics, port=self.settings.port)

    @property
    def namespaces(self) -> Mapping[str, str]:
        """Return the host name of the namespace that each served function reads, by the function's name."""
        settings = self.app.settings
        return {each.function: namespace_of(connection(each.connection, settings)) for each in self.served.triggers}

    @property
    def function_log(self) -> tuple[FunctionLog, ...]:
        """Return the latest 10,000 lines that the app's processes wrote, oldest first."""
        return self._journal.lines

    def queue(self, name: str) -> QueueView:
        """Return a view of a queue of the namespace that was started here.

        Raises:
            KeyError: A name that no queue has.
        """
        if self.namespace is None:
            raise KeyError(f"The queue {name!r} is on a namespace that this host did not start; inspect it there.")
        return self.namespace.queue(name)

    def send(self, queue: str, *bodies: object, **fields: Any) -> None:
        """Send messages to the namespace of the app's first trigger. `Outbox.send` describes the arguments."""
        self._outbox.send(queue, *bodies, **fields)

    def run_until(self, condition: Callable[[], bool], *, deadline: timedelta) -> None:
        """Wait until a condition holds, while the functions run.

        Args:
            condition: Checked after each journal entry and at least every 200 ms.
            deadline: The longest wait.

        Raises:
            TimeoutError: The condition does not hold at the deadline. The message has the latest log lines.
        """
        self._journal.wait_until(condition, deadline=deadline)


def _functions(app: App, settings: Settings) -> tuple[Function, ...]:
    """Load the app once to list its functions. Its output is dropped: it will be written again when the app is served.

    Raises:
        AppError: The app cannot be loaded, or is without functions.
    """
    with Worker(app.folder, settings=app.settings, python_path=settings.python_path, on_line=lambda *_: None) as worker:
        if not worker.functions:
            raise AppError(
                f"There is no function in {app.folder / SCRIPT}, so Azure would run none; "
                "write app = func.FunctionApp() at its top level, and app.register_functions(endpoint.blueprint())"
            )
        return worker.functions


def _leading_to(connection_string: str, names: Iterable[str]) -> dict[str, str]:
    """Return the app settings of connections that lead to a namespace, also under the name that is looked up first."""
    return {key: connection_string for name in names for key in (name, PREFIXES[0].format(name))}


def _is_configured(name: str, settings: Mapping[str, str]) -> bool:
    try:
        connection(name, settings)
    except ValueError:
        return False
    return True
