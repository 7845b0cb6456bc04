"""Serve an app in an event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from concurrent.futures import Future

from recoverable_local.functions_host.serving import Served, ServingContext, serving


class BackgroundServer:
    """Serves an app on a thread, between `start` and `stop`.

    Args:
        context: The app, its journal and its settings.
    """

    def __init__(self, context: ServingContext) -> None:
        self._context = context
        self._ready: Future[Served] = Future()
        self._loop, self._stopping = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="functions-host", daemon=True)

    def start(self) -> Served:
        """Load the app, start to receive, and return the functions that run and those that do not.

        Raises:
            AppError: The app cannot be loaded.
            ValueError: A connection is not among the app settings.
        """
        self._thread.start()
        return self._ready.result()

    def stop(self) -> None:
        """Stop receiving, kill the worker, and close the links."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())
            collect_leaks()

    async def _serve(self) -> None:
        try:
            async with serving(self._context) as run:
                self._ready.set_result(run)
                await self._stopping.wait()
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)


def collect_leaks() -> None:
    """Collect connections that azure-servicebus dropped without closing them, while their event loop still exists to close them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
