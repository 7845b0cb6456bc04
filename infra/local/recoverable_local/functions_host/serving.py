"""Start and stop the parts of an app: its worker, a client per connection of a function, a listener per function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from recoverable._service_bus.app_settings import connection
from recoverable_local.decisions import FactsFile
from recoverable_local.functions_host.app.folder import App
from recoverable_local.functions_host.app.triggers import NotServed, Trigger, trigger_of
from recoverable_local.functions_host.ending import cancel_and_wait
from recoverable_local.functions_host.extension.client import check_namespace, client_for
from recoverable_local.functions_host.extension.invocations import Invocations
from recoverable_local.functions_host.extension.listeners import Listener
from recoverable_local.functions_host.extension.outputs import Outputs
from recoverable_local.functions_host.journal import FunctionLog, Journal, Trouble
from recoverable_local.functions_host.settings import Settings
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.functions_host.worker.worker_process import MUTED
from recoverable_local.functions_host.worker.workers import Workers
from recoverable_local.printing import RETRY_LOGGERS
from recoverable_local.reaching import Unreachable

_REPEAT_CANCEL = 5.0  # seconds after which listeners are cancelled again; closing their links takes time


@dataclass(frozen=True, slots=True)
class Served:
    """The triggers of the functions that run, and the functions that do not, with the reasons."""

    triggers: tuple[Trigger, ...]
    not_served: tuple[NotServed, ...]


@dataclass(frozen=True, slots=True)
class ServingContext:
    """The app, the journal, its endpoints' facts and the settings that it is served with."""

    app: App
    journal: Journal
    facts: FactsFile
    settings: Settings

    def worker(self) -> Worker:
        """Create a worker for the app, not yet started."""
        muted = {} if self.settings.retry_log else {MUTED: " ".join(RETRY_LOGGERS)}
        return Worker(
            self.app.folder,
            settings={**self.app.settings, **self.facts.variables, **muted},
            python_path=self.settings.python_path,
            on_line=lambda pid, line: self.journal(FunctionLog(pid, line)),
        )


def served(functions: Sequence[Function], app: App) -> Served:
    """Sort an app's functions into those that run and those that do not."""
    found = [trigger_of(function, app.settings) for function in functions]
    triggers = [each for each in found if isinstance(each, Trigger)]
    return Served(tuple(triggers), tuple(each for each in found if isinstance(each, NotServed)))


@asynccontextmanager
async def serving(context: ServingContext) -> AsyncIterator[Served]:
    """Run the app. At the end kill its worker and close every link.

    Raises:
        AppError: The app cannot be loaded.
        ValueError: A connection is not among the app settings.
    """
    workers = Workers(context.worker, timeout=context.app.options.function_timeout, journal=context.journal)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(workers.stop)
        run = served(await workers.start(), context.app)
        await _check_connections(run, context)
        listeners = [await _listener(trigger, context, workers, closing) for trigger in run.triggers]
        tasks = [asyncio.create_task(_listening(listener, context.journal)) for listener in listeners]
        try:
            yield run
        finally:
            await cancel_and_wait(tasks, repeat_after=_REPEAT_CANCEL)


async def _listening(listener: Listener, journal: Journal) -> None:
    try:
        await listener.listen()
    except Exception as error:  # noqa: BLE001  # an unexpected error must be recorded
        journal(Trouble(f"receiving from {listener.trigger.path}", repr(error), "the host stops receiving from it"))


async def _check_connections(run: Served, context: ServingContext) -> None:
    """Record the namespaces that cannot be reached; the SDK goes on trying."""
    for name in dict.fromkeys(name for trigger in run.triggers for name in trigger.connections):
        try:
            await asyncio.to_thread(check_namespace, name, connection(name, context.app.settings))
        except Unreachable as error:
            context.journal(Trouble("connecting to Service Bus", str(error), "it is tried again"))


async def _listener(trigger: Trigger, context: ServingContext, workers: Workers, closing: AsyncExitStack) -> Listener:
    clients = {name: client_for(connection(name, context.app.settings)) for name in trigger.connections}
    for client in clients.values():
        await closing.enter_async_context(client)
    complete = trigger.auto_complete
    invocations = Invocations(
        trigger,
        workers,
        context.journal,
        context.facts,
        auto_complete=context.app.options.auto_complete_messages if complete is None else complete,
        outputs=Outputs({each.name: each for each in trigger.outputs}, clients),
    )
    return Listener(trigger, clients[trigger.connection], context.app.options, invocations, context.journal)
