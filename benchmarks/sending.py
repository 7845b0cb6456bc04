"""Count the calls by which ten messages that send ten each send them, and time them, beside handlers that send by boto3.

`sending.py` prints the table; `sending.py URL WAY 60` handles so many such batches, and prints the milliseconds of one.
"""

from __future__ import annotations

import json
import os
import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from measuring import HERE, printed
from stub_sqs import stub_sqs
from subjects import Context, event

MESSAGES, EACH = 10, 10
WAYS = {
    "ours": "message.send",
    "batched": "a list of all, sent in tens at the end, written by hand",
    "each": "client.send_message at once, in the handler",
}


def handling(way: str) -> Callable[[], object]:
    """Return a function that handles one batch."""
    import boto3

    from recoverable import Message
    from recoverable.aws import SqsEndpoint

    client: Any = boto3.client("sqs", region_name="eu-central-1")
    url, waiting = f"{sys.argv[1]}/123456789012/invoices", list[str]()

    def place(message: Message) -> None:
        for number in range(EACH):
            if way == "ours":
                message.send("invoices", {"order": message.id, "line": number})
            elif way == "batched":
                waiting.append(json.dumps({"order": message.id, "line": number}))
            else:
                client.send_message(QueueUrl=url, MessageBody=json.dumps({"order": message.id, "line": number}))

    endpoint, orders = SqsEndpoint(place), event(MESSAGES)

    def handle() -> None:
        assert endpoint(orders, Context()) == {"batchItemFailures": []}
        for start in range(0, len(waiting), 10):
            ten = waiting[start : start + 10]
            entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(ten)]
            client.send_message_batch(QueueUrl=url, Entries=entries)
        waiting.clear()

    return handle


def milliseconds(way: str, repeated: int) -> float:
    """Return the milliseconds of one batch: the best of so many, after a first one."""
    os.environ |= {"AWS_ENDPOINT_URL_SQS": sys.argv[1], "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
    handle = handling(way)
    handle()
    return min(timeit.repeat(handle, number=1, repeat=repeated)) * 1e3


class Counted(NamedTuple):
    """What one batch costs.

    Args:
        calls: to SQS.
        milliseconds: from the event to the response.
    """

    calls: float
    milliseconds: float


def counted(way: str, *, repeated: int = 60) -> Counted:
    """Measure one way, in a process of its own."""
    with stub_sqs() as (url, calls):
        time = printed([str(HERE / "sending.py"), url, way, str(repeated)])
    return Counted(sum(calls.values()) / (repeated + 1), time)


def table() -> Table:
    """Measure all ways, and return the table."""
    made = Table("way", "calls", "ms", title="ten messages that send ten each to one queue", title_justify="left")
    for way, what in WAYS.items():
        cost = counted(way)
        made.add_row(what, f"{cost.calls:g}", f"{cost.milliseconds:.1f}")
    return made


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(milliseconds(sys.argv[2], int(sys.argv[3])))  # noqa: T201  # read by table
    else:
        Console().print(table())
