"""The event loop in which an app is served, in a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from concurrent.futures import Future

from recoverable_local.functions_host.serving import Place, Served, serving


class Running:
    """Serves an app between `start` and `stop`.

    Args:
        place: The app, and where it is run.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._ready: Future[Served] = Future()
        self._loop, self._stopping = asyncio.new_event_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="functions-host", daemon=True)

    def start(self) -> Served:
        """Load the app and start to read; gives what is run.

        Raises:
            AppError: The app cannot be loaded.
            ValueError: A connection is not among the app settings.
        """
        self._thread.start()
        return self._ready.result()

    def stop(self) -> None:
        """Read no more, kill the worker, close the links."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())
            collect_leaks()

    async def _serve(self) -> None:
        try:
            async with serving(self._place) as run:
                self._ready.set_result(run)
                await self._stopping.wait()
        except BaseException as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)


def collect_leaks() -> None:
    """Close what azure-servicebus has left of dropped connections to the garbage collector, while their loop can still do so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
