"""Send a handful of orders to the example shop on a local SQS, and watch them climb the ladder.

The functions run as the template says, in AWS's own runtime client; delays and the visibility timeout are shortened by configuration,
time is real. The exit status is 0 when each order ended where it must, and 1 when one was lost or ended elsewhere.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console
from rich.live import Live

from recoverable.local.aws import Entry, LocalAws, QueuedMessage
from recoverable.local.aws.sam.document import TemplateError
from recoverable.local.demo.orders import ORDERS, Order
from recoverable.local.demo.picture import error_queue, exception_type, ladder
from recoverable.local.demo.story import Story, beginning, told

LADDER = {"ImmediateRetries": "2", "DelayedRetries": "2", "TimeIncreaseSeconds": "1", "FunctionTimeout": "10"}
VISIBILITY = timedelta(seconds=2)
DEADLINE = timedelta(seconds=120)


class Watcher:
    """Keeps the story while the host's threads tell it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._early: list[Entry] = []
        self.story: Story | None = None

    def __call__(self, entry: Entry) -> None:
        """Hear one entry; those before the ids are known wait."""
        with self._lock:
            if self.story is None:
                self._early.append(entry)
            else:
                self.story = told(self.story, entry)

    def begin(self, ids: dict[str, Order]) -> None:
        """Take the ids, and catch up."""
        with self._lock:
            self.story = beginning(ids)
            for entry in self._early:
                self.story = told(self.story, entry)

    @property
    def ended(self) -> bool:
        """Whether every order is placed or given up."""
        return self.story is not None and self.story.ended


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--template",
        default="template.yaml",
        metavar="FILE",
        help="the example shop's template (default: %(default)s)",
    )
    parser.add_argument(
        "--endpoint-url", metavar="URL", help="an SQS endpoint that runs already (default: start one)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; 1 when an order did not end where it must, 2 when there is no shop to run."""
    watcher = Watcher()
    try:
        host = LocalAws.from_template(
            arguments.template,
            parameters=LADDER,
            visibility_timeout=VISIBILITY,
            endpoint_url=arguments.endpoint_url,
            observe=watcher,
        )
    except TemplateError as error:
        sys.stderr.write(f"recoverable demo aws: {error} The example shop is in the project's repository.\n")
        return 2
    return show(host, watcher, Console())


def show(host: LocalAws, watcher: Watcher, console: Console) -> int:
    """Send the orders, show what becomes of them, and judge."""
    console.print(
        "Two immediate and two delayed retries, so at most 9 attempts an order. The deadly one takes half a minute."
    )
    with host:
        watcher.begin({host.send("orders", order.body): order for order in ORDERS})
        watch(host, watcher, console)
        found = host.queue("orders-error").messages()
    console.print(error_queue("orders-error", found))
    return judge(watcher, found, console)


def watch(host: LocalAws, watcher: Watcher, console: Console) -> None:
    """Show the ladder until each order is at its end, or the deadline comes."""
    with Live(
        console=console, get_renderable=lambda: ladder(watcher.story or beginning({})), refresh_per_second=8
    ):
        try:
            host.run_until(
                lambda: watcher.ended and host.queue("orders").depth().total == 0, deadline=DEADLINE
            )
        except TimeoutError as error:
            console.print(f"[red]{error}[/red]")


def judge(watcher: Watcher, found: Sequence[QueuedMessage], console: Console) -> int:
    """Compare where the orders are with where they must be."""
    lies = {message.body: exception_type(message) for message in found}
    trails = watcher.story.trails if watcher.story else {}
    wrong = [
        order
        for order in ORDERS
        if not (trails[order].placed if order.ends is None else lies.get(order.body) == order.ends)
    ]
    for order in wrong:
        console.print(
            f"[bold red]{order.name}: must be {order.ends or 'placed'}, but is {lies.get(order.body, 'not in the error queue')}"
        )
    if not wrong:
        console.print(
            f"[bold green]{len(ORDERS)} orders sent, {len(ORDERS) - len(lies)} placed, {len(lies)} in the error queue, none lost."
        )
    return 1 if wrong else 0
