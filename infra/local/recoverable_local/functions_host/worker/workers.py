"""Keep one worker process for the app: run functions in it, kill it at a time-out, and replace it when it has ended.

The outcomes of invocations are those of azure-functions-host. When a worker dies, all invocations in it fail, and it is replaced
(`RpcFunctionInvocationDispatcher.WorkerError`, `GrpcWorkerChannel.TryFailExecutions`). When it ends with status 0, the host does not fail
them (`WorkerProcess.OnProcessExited`). When it is killed because one invocation timed out, the host does not fail the others in it
(`RestartWorkerWithInvocationIdAsync`). In these two cases each invocation ends at its own time-out.
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
_REPEAT_STOP = 0.05  # seconds after which a worker whose start was cancelled is stopped again
_PAUSE = 1.0  # seconds between attempts to start a worker that cannot be started


class Workers:
    """Runs functions in the current worker process.

    Args:
        make: Creates a worker that is not yet started.
        timeout: The process is killed when a function runs longer; None is no limit.
        journal: Records each start.
    """

    def __init__(self, make: Callable[[], Worker], *, timeout: timedelta | None, journal: Journal) -> None:
        self._make, self._timeout, self._journal = make, timeout, journal
        self._timed_out = set[Worker]()
        self._current: asyncio.Future[Worker] | None = None

    async def start(self) -> tuple[Function, ...]:
        """Start the first process, and return the app's functions.

        Raises:
            AppError: The app cannot be loaded.
        """
        worker = await self._start_worker()
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
        """Run a function to its end or its time-out. The wait for a worker counts towards the time-out.

        Args:
            name: The function's name.
            data: The trigger's data.
            metadata: The trigger's metadata.
            id: The invocation's id.
        """
        worker: Worker | None = None
        seconds = None if self._timeout is None else self._timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                worker = await self._worker()
                return await self._outcome(worker, worker.submit(name, data, metadata, invocation_id=id))
        except TimeoutError:
            if worker is not None:
                await self._kill_timed_out(worker)
            assert self._timeout is not None
            return TimedOut(self._timeout)

    async def _outcome(self, worker: Worker, running: Future[Outcome]) -> Outcome:
        outcome = await asyncio.wrap_future(running)
        if isinstance(outcome, Died):
            if worker in self._timed_out or outcome.exit_code == 0:
                await asyncio.Event().wait()  # until the time-out
            self._replace(worker)
        return outcome

    async def _worker(self) -> Worker:
        """Wait for a running worker, as `WorkerFunctionInvoker.DelayUntilFunctionDispatcherInitializedOrShutdown` does."""
        assert self._current is not None, "start() comes first"
        while True:
            if self._current.done():
                worker = self._current.result()
                if worker.process.exit_code in (None, 0) and worker not in self._timed_out:
                    return worker
                self._replace(worker)
            await asyncio.sleep(_POLL)

    def _replace(self, dead: Worker) -> None:
        current = self._current
        if current is not None and current.done() and not current.cancelled() and current.result() is dead:
            self._current = asyncio.create_task(self._restart(dead))

    async def _kill_timed_out(self, worker: Worker) -> None:
        """Kill a worker. The other invocations in it are not failed; they end at their own time-outs."""
        self._timed_out.add(worker)
        await asyncio.to_thread(worker.stop)
        self._replace(worker)

    async def _restart(self, dead: Worker) -> Worker:
        await asyncio.to_thread(dead.stop)
        while True:
            try:
                return await self._start_worker()
            except AppError as error:
                self._journal(Trouble("starting the worker", str(error), "it is started again; messages wait"))
                await asyncio.sleep(_PAUSE)

    async def _start_worker(self) -> Worker:
        worker = self._make()
        entering = asyncio.ensure_future(asyncio.to_thread(worker.__enter__))
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            while not entering.done():  # the thread cannot be cancelled, but the process that it starts can be killed
                await asyncio.to_thread(worker.stop)
                await asyncio.wait({entering}, timeout=_REPEAT_STOP)
            raise
        self._journal(Started(worker.process.pid, tuple(each.name for each in worker.functions)))
        return worker
