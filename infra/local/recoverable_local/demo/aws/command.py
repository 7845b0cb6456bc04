"""Send a handful of orders to the example shop on a local SQS, and watch them climb the ladder.

The functions run as the template says, in AWS's own runtime client; delays and the visibility timeout are shortened by configuration,
time is real. So is the longest delay that is left to SQS: what must wait longer waits in a table, and a dispatcher sends it, each second
where the template has each minute. The exit status is 0 when each order ended where it must, and 1 when one was lost or ended elsewhere.
"""

from __future__ import annotations

import argparse
from datetime import timedelta

from rich.console import Console

from recoverable_local.console import print_error
from recoverable_local.demo.aws.entries import LONGEST_DELAY, dispatched, given_up, read
from recoverable_local.demo.orders import ORDERS
from recoverable_local.demo.picture import error_queue
from recoverable_local.demo.story import STORED, Story
from recoverable_local.demo.verdict import judge
from recoverable_local.demo.watcher import Watcher, shown
from recoverable_local.lambda_host import Entry, LocalAws
from recoverable_local.lambda_host.sam.document import TemplateError

LADDER = {"ImmediateRetries": "2", "DelayedRetries": "2", "TimeIncreaseSeconds": "2", "FunctionTimeout": "10"}
STORE = {"Timeouts": "true"}
VISIBILITY = timedelta(seconds=2)
INTERVAL = timedelta(seconds=1)
DEADLINE = timedelta(seconds=120)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--template", default="template.yaml", metavar="FILE", help="the example shop's template (default: %(default)s)"
    )
    parser.add_argument("--endpoint-url", metavar="URL", help="an SQS endpoint that runs already (default: start one)")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; 1 when an order did not end where it must, 2 when there is no shop to run."""
    watcher = Watcher(read)
    try:
        host = LocalAws.from_template(
            arguments.template,
            parameters=LADDER | STORE,
            environment={"LONGEST_DELAY_SECONDS": str(LONGEST_DELAY)},
            visibility_timeout=VISIBILITY,
            schedule_interval=INTERVAL,
            endpoint_url=arguments.endpoint_url,
            observe=watcher,
        )
    except TemplateError as error:
        return print_error("demo aws", f"{error} The example shop is in the project's repository.")
    return show(host, watcher, Console())


def show(host: LocalAws, watcher: Watcher[Entry], console: Console) -> int:
    """Send the orders, show what becomes of them, and judge."""
    console.print(
        "AWS: two immediate and two delayed retries, so at most 9 attempts an order. The deadly one takes forty seconds.\n"
        f"SQS is to delay nothing longer than {LONGEST_DELAY} s here: what waits longer is stored in a table."
    )
    with host:
        watcher.begin({host.send("orders", order.body): order for order in ORDERS})
        with shown(watcher, console):
            host.run_until(lambda: watcher.ended() and host.queue("orders").depth().total == 0, deadline=DEADLINE)
        found = [given_up(message) for message in host.queue("orders-error").messages()]
        sent = dispatched(host.function_log)
    console.print(error_queue("orders-error", found))
    return tell_stored(watcher.story, sent, console) or judge(watcher.story, found, console)


def tell_stored(story: Story, sent: int, console: Console) -> int:
    """Say how many orders waited in the table, and how many messages were sent from there; 1 when that is fewer, else 0."""
    waited = [name for name, trail in story.trails.items() if any(step.endswith(STORED) for step in trail.steps)]
    style = "bold red" if sent < len(waited) else "bold green"
    console.print(f"[{style}]{len(waited)} orders waited in the table, and the dispatcher sent {sent} from there.")
    return int(sent < len(waited))
