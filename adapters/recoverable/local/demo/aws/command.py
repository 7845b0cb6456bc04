"""Send a handful of orders to the example shop on a local SQS, and watch them climb the ladder.

The functions run as the template says, in AWS's own runtime client; delays and the visibility timeout are shortened by configuration,
time is real. The exit status is 0 when each order ended where it must, and 1 when one was lost or ended elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from datetime import timedelta

from rich.console import Console

from recoverable.local.aws import Entry, LocalAws
from recoverable.local.aws.sam.document import TemplateError
from recoverable.local.demo.aws.entries import given_up, read
from recoverable.local.demo.orders import ORDERS
from recoverable.local.demo.picture import error_queue
from recoverable.local.demo.verdict import judge
from recoverable.local.demo.watcher import Watcher, shown

LADDER = {"ImmediateRetries": "2", "DelayedRetries": "2", "TimeIncreaseSeconds": "1", "FunctionTimeout": "10"}
VISIBILITY = timedelta(seconds=2)
DEADLINE = timedelta(seconds=120)


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
    watcher = Watcher(read)
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


def show(host: LocalAws, watcher: Watcher[Entry], console: Console) -> int:
    """Send the orders, show what becomes of them, and judge."""
    console.print(
        "AWS: two immediate and two delayed retries, so at most 9 attempts an order. The deadly one takes half a minute."
    )
    with host:
        watcher.begin({host.send("orders", order.body): order for order in ORDERS})
        with shown(watcher, console):
            host.run_until(
                lambda: watcher.ended() and host.queue("orders").depth().total == 0, deadline=DEADLINE
            )
        found = [given_up(message) for message in host.queue("orders-error").messages()]
    console.print(error_queue("orders-error", found))
    return judge(watcher.story, found, console)
