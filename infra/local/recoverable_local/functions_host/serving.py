"""Puts the parts together for an app: its worker, a client for each connection, a listener for each function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from recoverable.azure.settings import connection
from recoverable_local.functions_host.app.folder import App
from recoverable_local.functions_host.app.triggers import NotServed, Trigger, trigger_of
from recoverable_local.functions_host.ending import end
from recoverable_local.functions_host.extension.client import client_for
from recoverable_local.functions_host.extension.invocations import Invocations
from recoverable_local.functions_host.extension.listeners import Listener
from recoverable_local.functions_host.journal import FunctionLog, Journal, Trouble
from recoverable_local.functions_host.settings import Settings
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.functions_host.worker.workers import Workers

_AGAIN = 5.0  # seconds, in which links are closed


@dataclass(frozen=True, slots=True)
class Served:
    """What of an app is run, and what is not."""

    triggers: tuple[Trigger, ...]
    not_served: tuple[NotServed, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an app is run: who hears what happens, and how."""

    app: App
    journal: Journal
    settings: Settings

    def worker(self) -> Worker:
        """A worker with the app, not yet started."""
        return Worker(
            self.app.folder,
            settings=self.app.settings,
            python_path=self.settings.python_path,
            on_line=lambda pid, line: self.journal(FunctionLog(pid, line)),
        )


def served(functions: Sequence[Function], app: App) -> Served:
    """Which functions are run."""
    found = [trigger_of(function, app.settings) for function in functions]
    triggers = [each for each in found if isinstance(each, Trigger)]
    return Served(tuple(triggers), tuple(each for each in found if isinstance(each, NotServed)))


@asynccontextmanager
async def serving(place: Place) -> AsyncIterator[Served]:
    """Run the app; at the end its worker is killed, and every link is closed.

    Raises:
        AppError: The app cannot be loaded.
        ValueError: A connection is not among the app settings.
    """
    workers = Workers(place.worker, timeout=place.app.options.function_timeout, journal=place.journal)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(workers.stop)
        run = served(await workers.start(), place.app)
        listeners = [await _listener(trigger, place, workers, closing) for trigger in run.triggers]
        tasks = [asyncio.create_task(_listening(listener, place.journal)) for listener in listeners]
        try:
            yield run
        finally:
            await end(tasks, again=_AGAIN)


async def _listening(listener: Listener, journal: Journal) -> None:
    try:
        await listener.listen()
    except Exception as error:  # noqa: BLE001  # what nobody foresaw must not end without a word
        journal(Trouble(f"reading {listener.trigger.path}", repr(error), "it is read no more"))


async def _listener(trigger: Trigger, place: Place, workers: Workers, closing: AsyncExitStack) -> Listener:
    client = client_for(connection(trigger.connection, place.app.settings))
    await closing.enter_async_context(client)
    complete = trigger.auto_complete
    invocations = Invocations(
        trigger,
        workers,
        place.journal,
        auto_complete=place.app.options.auto_complete_messages if complete is None else complete,
    )
    return Listener(trigger, client, place.app.options, invocations, place.journal)
