"""Collect the events from the host's threads, and show the progress in the terminal."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from recoverable.extensions._metrics import metrics_of
from recoverable_local.decisions import Decided
from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.progress import Event, add_event, no_progress
from recoverable_local.demo.tables import progress_table

Entry = TypeVar("Entry")
ToEvent = Callable[[Entry, Mapping[str, Order]], Event | None]


class Watcher(Generic[Entry]):
    """Observer of a host's journal that keeps the progress of the orders, and counts by the names of the metrics.

    Args:
        to_event: Converts an entry into an event, given the orders by the ids of their messages; None if it is about no order.
    """

    def __init__(self, to_event: ToEvent[Entry]) -> None:
        self._to_event = to_event
        self._lock = threading.Lock()
        self._early: list[Entry] = []
        self._ids: Mapping[str, Order] | None = None
        self.progress, self.counts = no_progress(ORDERS), Counter[str]()

    def __call__(self, entry: Entry) -> None:
        """Take one entry. Keep it for later if the message ids are not set yet."""
        with self._lock:
            if self._ids is None:
                self._early.append(entry)
            else:
                self._process(entry, self._ids)

    def set_ids(self, ids: Mapping[str, Order]) -> None:
        """Set the orders by the ids of their messages, and process the entries that were kept."""
        with self._lock:
            self._ids = ids
            for entry in self._early:
                self._process(entry, ids)

    def ended(self, orders: Sequence[Order] = ORDERS) -> bool:
        """True if each of these orders is placed or in the error queue."""
        return all(self.progress.orders[order].ended for order in orders)

    def _process(self, entry: Entry, ids: Mapping[str, Order]) -> None:
        if (event := self._to_event(entry, ids)) is not None:
            self.progress = add_event(self.progress, event)
        if isinstance(entry, Decided) and entry.done is not None:
            self.counts.update(metric.name for metric in metrics_of(entry.facts, done=entry.done))


@contextmanager
def show_progress(watcher: Watcher[Entry], console: Console) -> Iterator[None]:
    """Show the progress while the block runs. Print a TimeoutError of the block; the check of the result follows."""
    with Live(console=console, get_renderable=lambda: progress_table(watcher.progress), refresh_per_second=8):
        try:
            yield
        except TimeoutError as error:
            console.print(Text(str(error), style="red"))
    if not console.is_terminal:
        console.line()  # without a terminal rich does not end the last line
