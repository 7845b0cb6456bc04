"""The app's one worker process: asked, killed when a function takes too long, and replaced when it is dead.

What becomes of invocations is taken from azure-functions-host. A worker that dies fails all that run in it, and is replaced
(`RpcFunctionInvocationDispatcher.WorkerError`, `GrpcWorkerChannel.TryFailExecutions`). One that ends with status 0 is not missed
(`WorkerProcess.OnProcessExited`), and one that is killed for a time-out takes the others along without a word
(`RestartWorkerWithInvocationIdAsync`): what runs in these ends at its own time-out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

from recoverable_local.functions_host.app.folder import AppError
from recoverable_local.functions_host.journal import Journal, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Outcome
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.outcomes import Died, TimedOut

_POLL = 0.025  # seconds; `WorkerConstants.WorkerReadyCheckPollingIntervalMilliseconds`
_AGAIN = 0.05  # seconds
_PAUSE = 1.0  # seconds between attempts to start a worker that cannot be started


class Workers:
    """Runs functions in the worker process of the moment.

    Args:
        make: Makes a worker that is not yet started.
        timeout: After which a function's process is killed; never when None.
        journal: Told of each start.
    """

    def __init__(self, make: Callable[[], Worker], *, timeout: timedelta | None, journal: Journal) -> None:
        self._make, self._timeout, self._journal = make, timeout, journal
        self._silent = set[Worker]()
        self._current: asyncio.Future[Worker] | None = None

    async def start(self) -> tuple[Function, ...]:
        """Start the first process; gives the app's functions.

        Raises:
            AppError: The app cannot be loaded.
        """
        worker = await self._started()
        self._current = asyncio.get_running_loop().create_future()
        self._current.set_result(worker)
        return worker.functions

    async def stop(self) -> None:
        """Kill the process."""
        if self._current is not None:
            self._current.cancel()
            for worker in await asyncio.gather(self._current, return_exceptions=True):
                if isinstance(worker, Worker):
                    await asyncio.to_thread(worker.stop)

    async def invoke(self, name: str, data: object, metadata: Mapping[str, Any], *, id: str) -> Outcome:  # noqa: A002
        """Run a function to its end or its time-out, in which the wait for a worker counts.

        Args:
            name: The function's name.
            data: What its trigger gives.
            metadata: What its trigger tells.
            id: The invocation's.
        """
        worker: Worker | None = None
        seconds = None if self._timeout is None else self._timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                worker = await self._worker()
                return await self._outcome(worker, worker.submit(name, data, metadata, invocation_id=id))
        except TimeoutError:
            if worker is not None:
                await self._silence(worker)
            assert self._timeout is not None
            return TimedOut(self._timeout)

    async def _outcome(self, worker: Worker, running: Future[Outcome]) -> Outcome:
        outcome = await asyncio.wrap_future(running)
        if isinstance(outcome, Died):
            if worker in self._silent or outcome.exit_code == 0:
                await asyncio.Event().wait()  # until the time-out
            self._replace(worker)
        return outcome

    async def _worker(self) -> Worker:
        """The process of the moment, waited for as `WorkerFunctionInvoker.DelayUntilFunctionDispatcherInitializedOrShutdown` does."""
        assert self._current is not None, "start() comes first"
        while True:
            if self._current.done():
                worker = self._current.result()
                if worker.process.exit_code in (None, 0) and worker not in self._silent:
                    return worker
                self._replace(worker)
            await asyncio.sleep(_POLL)

    def _replace(self, dead: Worker) -> None:
        current = self._current
        if current is not None and current.done() and not current.cancelled() and current.result() is dead:
            self._current = asyncio.create_task(self._again(dead))

    async def _silence(self, worker: Worker) -> None:
        """Kill a worker; what else runs in it hears nothing."""
        self._silent.add(worker)
        await asyncio.to_thread(worker.stop)
        self._replace(worker)

    async def _again(self, dead: Worker) -> Worker:
        await asyncio.to_thread(dead.stop)
        while True:
            try:
                return await self._started()
            except AppError as error:
                self._journal(Trouble("the worker", str(error), "it is started again; messages wait"))
                await asyncio.sleep(_PAUSE)

    async def _started(self) -> Worker:
        worker = self._make()
        entering = asyncio.ensure_future(asyncio.to_thread(worker.__enter__))
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            while not entering.done():  # its thread cannot be cancelled, but what that starts can be killed
                await asyncio.to_thread(worker.stop)
                await asyncio.wait({entering}, timeout=_AGAIN)
            raise
        self._journal(Started(worker.process.pid, tuple(each.name for each in worker.functions)))
        return worker
