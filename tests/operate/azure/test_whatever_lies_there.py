"""Whatever lies in an error queue on Service Bus, every verb ends, names what it left, and a second run finds the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties

from operate.azure.conftest import Bus
from operate.azure.test_types import KEPT, STRANGE, typed, write_bytes
from operate.failing import fault_headers

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3


def failed(**headers: Any) -> ServiceBusMessage:
    """Return a message that failed at bills, with other headers too."""
    properties: dict[Any, Any] = {**fault_headers("bills"), **headers}
    return ServiceBusMessage("failed", application_properties=properties)


def odd_value(random: Random) -> AmqpAnnotatedMessage:
    """Return a message with a value that azure-servicebus cannot read or write, in one of three sections."""
    section = random.choice(("application_properties", "annotations", "footer"))
    values: Any = {section: {"p": typed("RAW", random.choice([raw for raw, _ in STRANGE.values()]))}}
    return AmqpAnnotatedMessage(data_body=b"odd", **values)


def odd_id(random: Random) -> AmqpAnnotatedMessage:
    """Return a message whose ids are no texts."""
    name: Any = random.choice((7, UUID(int=random.getrandbits(128)), b"\xff", {"TYPE": "ULONG", "VALUE": 2**63}))
    ids = AmqpMessageProperties(message_id=name, correlation_id=name)
    return AmqpAnnotatedMessage(data_body=b"id", properties=ids, application_properties=fault_headers("bills"))


KINDS: list[Callable[[Random], Any]] = [
    lambda _: failed(),
    lambda _: failed(**KEPT),
    lambda _: failed(**{"NServiceBus.FailedQ": "elsewhere"}),
    lambda _: failed(**{"NServiceBus.FailedQ": "orders-error"}),
    lambda _: failed(**{"NServiceBus.TimeOfFailure": "yesterday"}),
    lambda _: failed(**{"Recoverable.FailedQueue": "sb://evil.test/bills"}),
    lambda _: failed(**{"Recoverable.Redrives": "-7", "NServiceBus.MessageId": "\x1b[2J"}),
    lambda _: ServiceBusMessage("no word"),
    lambda _: ServiceBusMessage(None),
    lambda _: ServiceBusMessage("later", scheduled_enqueue_time_utc=datetime.now(UTC) + timedelta(hours=1)),
    lambda random: AmqpAnnotatedMessage(value_body=random.choice(("text", 7, [1, [2]], {"a": 1}))),
    lambda _: AmqpAnnotatedMessage(sequence_body=[[1, 2], ["a"]]),
    odd_value,
    odd_id,
]


def said_to_stay(out: str) -> int:
    """Return how many messages a plan says that it leaves."""
    return sum(map(int, re.findall(r"^leave (\d+): ", out, re.MULTILINE)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_verb_ends_names_what_it_left_and_finds_the_same_again(
    bus: Bus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int
) -> None:
    write_bytes(monkeypatch)
    random, count = Random(seed), 40
    with bus.client.get_queue_sender("orders-error") as sender:
        for _ in range(count):
            sender.send_messages(random.choice(KINDS)(random))
    file, purged = (str(tmp_path / name) for name in ("exported.jsonl", "purged.jsonl"))

    looks = [bus.run(verb, "--json").status for verb in ("list", "groups", "show")]
    exported = bus.run("export", "--file", file)
    first = bus.run("retry", "--allow", "bills", "--yes")
    after_first = len(bus.seen())
    second = bus.run("retry", "--allow", "bills", "--yes")
    imported = bus.run("import", "--allow", "bills", "--file", file, "--yes")
    deleted = bus.run("purge", "--confirm", "orders-error", "--file", purged)
    after_purge = len(bus.seen())

    assert (looks, exported.status, first.status) == ([DONE] * 3, PARTLY, PARTLY)
    assert (said_to_stay(first.out), len(bus.bodies("bills"))) == (after_first, count - after_first)
    assert (second.status, said_to_stay(second.out), imported.status) == (REFUSED, after_first, PARTLY)
    assert (deleted.status, said_to_stay(deleted.out)) == (PARTLY, after_purge)
