"""The soak on AWS: ministack's SQS, and functions in AWS's own runtime client, whose processes are killed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recoverable._ladder.faults import EXCEPTION_TYPE
from recoverable_local.lambda_host import Ended, Entry, Invoked, LocalAws, LocalQueue, QueuedMessage
from servers.ministack import running_cloud
from servers.moto import REGION, client_at
from soak.deeds import DAWDLE
from soak.ledger import SETTING
from soak.pranks import kill_child
from soak.tally import SetAside
from soak.unreliable_proxy import UnreliableProxy

_BATCH = 10  # entries; SQS API


class Busy:
    """The processes that work on an invocation, as the journal names them."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}

    def __call__(self, entry: Entry) -> None:
        """Take note of an entry."""
        match entry:
            case Invoked():
                self._pids[entry.request_id] = entry.pid
            case Ended():
                self._pids.pop(entry.request_id, None)
            case _:
                pass

    def kill(self, draw: random.Random) -> bool:
        """Kill one of them."""
        pids = sorted(self._pids.copy().values())
        return bool(pids) and kill_child(draw.choice(pids))


class Aws:
    """The local host on a queue."""

    def __init__(self, host: LocalAws, broker: str, busy: Busy, proxy: UnreliableProxy) -> None:
        self._orders, self._errors = host.queue("soak"), host.queue("soak-error")
        self._client: Any = client_at(broker)
        self.pranks = {"killed hosts": busy.kill, **proxy.pranks()}

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages."""
        for start in range(0, len(bodies), _BATCH):
            entries = [
                {"Id": str(place), "MessageBody": body} for place, body in enumerate(bodies[start : start + _BATCH])
            ]
            answer = self._client.send_message_batch(QueueUrl=self._orders.url, Entries=entries)
            assert len(answer["Successful"]) == len(entries), answer

    def remaining(self) -> int:
        """Return how many messages the queue holds."""
        return self._orders.depth().total

    def set_aside(self) -> list[SetAside]:
        """Return what lies in the error queue."""
        return [_set_aside(message) for message in _all(self._errors)]


def _all(queue: LocalQueue) -> list[QueuedMessage]:
    messages = queue.messages()
    assert len(messages) == queue.depth().total, "the error queue was not seen whole"
    return messages


def _set_aside(message: QueuedMessage) -> SetAside:
    return SetAside(message.json()["number"], message.headers.get(EXCEPTION_TYPE, "the redrive policy"))


@contextmanager
def begin(ledger: Path) -> Iterator[Aws]:
    """Start broker, proxy and host; everything but the sending of the messages goes through the proxy."""
    busy = Busy()
    with running_cloud(ledger.with_name("ministack.log")) as cloud, UnreliableProxy(cloud.url) as proxy:
        host = LocalAws.from_template(
            Path(__file__).with_name("template.yaml"),
            observe=busy,
            endpoint_url=proxy.url,
            region=REGION,
            concurrency=4,
            environment={SETTING: str(ledger)},
        )
        with host:
            orders = host.queue("soak")
            orders.sqs.set_attributes(orders.url, {"VisibilityTimeout": str(DAWDLE - 1)})
            yield Aws(host, cloud.url, busy, proxy)
