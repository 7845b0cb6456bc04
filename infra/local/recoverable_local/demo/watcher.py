"""Keeps the story while the host's threads tell it, and shows it in the terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.picture import ladder
from recoverable_local.demo.story import Happening, beginning, told

Entry = TypeVar("Entry")
Read = Callable[[Entry, Mapping[str, Order]], Happening | None]


class Watcher(Generic[Entry]):
    """Hears a host's journal.

    Args:
        read: What an entry tells, given the orders by the ids of their messages; None for what is no part of the story.
    """

    def __init__(self, read: Read[Entry]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._early: list[Entry] = []
        self._ids: Mapping[str, Order] | None = None
        self.story = beginning(ORDERS)

    def __call__(self, entry: Entry) -> None:
        """Hear one entry; those before the ids are known wait."""
        with self._lock:
            if self._ids is None:
                self._early.append(entry)
            else:
                self._tell(entry, self._ids)

    def begin(self, ids: Mapping[str, Order]) -> None:
        """Take the ids, and catch up."""
        with self._lock:
            self._ids = ids
            for entry in self._early:
                self._tell(entry, ids)

    def ended(self, orders: Sequence[Order] = ORDERS) -> bool:
        """Whether each of these is placed or given up."""
        return all(self.story.trails[order].ended for order in orders)

    def _tell(self, entry: Entry, ids: Mapping[str, Order]) -> None:
        if (happening := self._read(entry, ids)) is not None:
            self.story = told(self.story, happening)


@contextmanager
def shown(watcher: Watcher[Entry], console: Console) -> Iterator[None]:
    """Show the ladder meanwhile; what does not come in time is said, and is then for the verdict."""
    with Live(console=console, get_renderable=lambda: ladder(watcher.story), refresh_per_second=8):
        try:
            yield
        except TimeoutError as error:
            console.print(Text(str(error), style="red"))
    if not console.is_terminal:
        console.line()  # after what is no picture that moves, rich leaves the line open
