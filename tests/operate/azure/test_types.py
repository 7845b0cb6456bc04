"""What lies in a Service Bus error queue goes back with its types: by retry, and by export or purge and import."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus._pyamqp import _decode, _encode
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageProperties

from operate.azure.conftest import Bus
from operate.failing import fault_headers
from recoverable_operate.errors import mark_types
from recoverable_operate.errors._azure import client
from recoverable_operate.errors._azure.amqp_types import decimal_from, decimal_text
from recoverable_operate.errors._azure.messages import record_of
from recoverable_operate.errors._azure.typed_values import plain_value, typed_value

DONE, PARTLY, REFUSED = 0, 1, 2


def typed(name: str, value: Any) -> Any:
    """Return a value as the SDK sends it with its AMQP type."""
    return {"TYPE": name, "VALUE": value}


def described(name: str, value: Any) -> Any:
    """Return a value with a descriptor, as .NET writes what AMQP has no type for."""
    return typed("DESCRIBED", (typed("SYMBOL", f"com.microsoft:{name}".encode()), value))


DOTNET = bytes([0x0C, 30 << 1, 0, 0, *(4294967296).to_bytes(12, "big")])
"""42949672.96 as .NET writes it."""

KEPT: dict[str, Any] = {
    "ubyte": typed("UBYTE", 200), "byte": typed("BYTE", -7), "ushort": typed("USHORT", 60_000), "short": typed("SHORT", -2),
    "uint": typed("UINT", 7), "int": typed("INT", -7), "ulong": typed("ULONG", 2**63), "long": typed("LONG", 1),
    "float": typed("FLOAT", 0.5), "double": typed("DOUBLE", 0.1), "true": True, "text": "é", "symbol": typed("SYMBOL", b"s"),
    "binary": typed("BINARY", b"\x00\xff"), "uuid": UUID(int=7), "time": typed("TIMESTAMP", 1_767_312_245_600), "null": None,
    "decimal": typed("DECIMAL128", Decimal("1.50")), "of .NET": typed("DECIMAL128", decimal_from(DOTNET)),
    "TimeSpan": described("timespan", typed("LONG", 600_000_000)), "Uri": described("uri", "https://a.test/"),
    "DateTimeOffset": described("datetime-offset", typed("LONG", 638_000_000_000_000_000)),
}  # fmt: skip


def send_kept(bus: Bus, *, count: int = 1) -> None:
    """Send failed messages with a property of each type that is kept, annotations, a footer and an encoding."""
    headers = {**fault_headers("bills", **{"Recoverable.FailedQueue": bus.address("bills")}), **KEPT}
    with bus.client.get_queue_sender("orders-error") as sender:
        for start in range(0, count, 50):
            sender.send_messages(
                [
                    AmqpAnnotatedMessage(
                        data_body=b"{}",
                        application_properties=headers,
                        annotations={"x-mine": typed("UINT", 7), "x-opt-partition-key": "p"},
                        footer={"hash": typed("BINARY", b"\x01")},
                        properties=AmqpMessageProperties(message_id=str(number), content_encoding="gzip"),
                    )
                    for number in range(start, min(start + 50, count))
                ]
            )


def lying(bus: Bus, queue: str) -> list[Any]:
    """Return what the messages of a queue are on the wire, but for what a redrive changes."""
    with bus.receiver(queue) as receiver:
        records = [record_of(each) for each in receiver.peek_messages(2_000)]
    return [
        {
            "properties": {name: value for name, value in each["properties"].items() if name in KEPT},
            **{name: each[name] for name in ("annotations", "footer", "contentEncoding", "body")},
        }
        for each in records
    ]


def retried(bus: Bus, _folder: Path) -> int:
    """Send all back."""
    return bus.run("retry", "--yes", "--allow", "bills", "--rate", "0").status


def exported(bus: Bus, folder: Path) -> int:
    """Export all, and send them back by the file."""
    file = str(folder / "failed.jsonl")
    bus.run("export", "--file", file)
    return bus.run("import", "--file", file, "--yes", "--allow", "bills", "--rate", "0").status


def purged(bus: Bus, folder: Path) -> int:
    """Delete all, and send them back by the file that is left of them."""
    file = str(folder / "failed.jsonl")
    bus.run("purge", "--file", file, "--confirm", "orders-error")
    return bus.run("import", "--file", file, "--yes", "--allow", "bills", "--rate", "0").status


@pytest.mark.parametrize("way", [retried, exported, purged])
def test_each_type_comes_back_as_it_was(bus: Bus, tmp_path: Path, way: Callable[[Bus, Path], int]) -> None:
    bus.run("list")  # from now on the SDK of this process marks types
    send_kept(bus)
    before = lying(bus, "orders-error")

    status = way(bus, tmp_path)

    assert (status, lying(bus, "bills"), bus.seen()) == (DONE, before, [])
    assert before[0]["properties"]["of .NET"] == {"type": "DECIMAL128", "value": DOTNET.hex()}
    assert before[0]["annotations"] == {"x-mine": {"type": "UINT", "value": 7}}


@pytest.mark.slow
@pytest.mark.parametrize("way", [retried, exported, purged])
def test_a_thousand_come_back_as_they_were(bus: Bus, tmp_path: Path, way: Callable[[Bus, Path], int]) -> None:
    bus.run("list")
    send_kept(bus, count=1_000)
    before = lying(bus, "orders-error")

    status = way(bus, tmp_path)

    assert (status, len(before), lying(bus, "bills") == before, bus.seen()) == (DONE, 1_000, True, [])


@pytest.mark.parametrize(
    ("raw", "text"),
    [(DOTNET, "42949672.96"), (bytes([0x8C]) + DOTNET[1:], "-42949672.96"), (bytes.fromhex("303c" + "00" * 13 + "96"), "1.50")],
    ids=["of .NET", "negative", "of IEEE"],
)  # fmt: skip
def test_a_decimal_is_shown_as_its_sender_meant_it(raw: bytes, text: str) -> None:
    assert decimal_text(decimal_from(raw)) == text


def test_an_sdk_without_a_table_of_decoders_goes_on_without_marks_and_the_plan_says_so(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus.send_failed()

    with monkeypatch.context() as without:
        without.delattr(_decode, "_DECODE_BY_CONSTRUCTOR")
        marks = mark_types()
    monkeypatch.setattr(client, "mark_types", lambda: marks)

    assert (marks, "the width that the SDK chooses" in bus.run("retry", "--to", "bills").err) == (False, True)


@pytest.mark.parametrize("value", [7, 0.5, True, None, UUID(int=7), datetime(2026, 1, 2, tzinfo=UTC), "text"])
def test_without_marks_kinds_stay(value: Any) -> None:
    assert plain_value(typed_value(value)) == value


@pytest.mark.parametrize("identity", [7, UUID(int=7), b"\xff\x00"], ids=["number", "uuid", "bytes"])
def test_an_id_that_is_no_text_is_read_as_one(bus: Bus, identity: Any) -> None:
    bus.send_failed(headers={"NServiceBus.FailedQ": "x"})
    with bus.client.get_queue_sender("orders-error") as sender:
        ids = AmqpMessageProperties(message_id=identity, correlation_id=identity)
        sender.send_messages(AmqpAnnotatedMessage(data_body=b"odd", properties=ids))

    listed, retried = bus.run("list", "--json"), bus.run("retry", "--yes", "--to", "bills")

    assert (listed.status, len(listed.out.splitlines()), retried.status, sorted(bus.bodies("bills"))) == (
        DONE, 2, DONE, ["odd", '{"id": 1}']
    )  # fmt: skip


def test_a_message_without_a_body_goes_back_as_an_empty_one(bus: Bus) -> None:
    with bus.client.get_queue_sender("orders-error") as sender:
        sender.send_messages(ServiceBusMessage(None))

    ran = bus.run("retry", "--yes", "--to", "bills")

    assert (ran.status, bus.bodies("bills"), bus.seen()) == (DONE, [""], [])


def test_what_no_copy_can_have_is_named_and_left_before_anything_is_sent(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes(monkeypatch)
    bus.send_failed("odd", headers={"letter": typed("RAW", b"\x73\0\0\0A")})
    bus.send_failed("good", headers=fault_headers("bills"))
    with bus.client.get_queue_sender("orders-error") as sender:
        sender.send_messages(AmqpAnnotatedMessage(value_body="a value"))

    planned, ran = bus.run("retry", "--to", "bills"), bus.run("retry", "--yes", "--to", "bills")

    left = [
        "leave 1: message 1 cannot be copied: 'letter' of its properties is an AMQP char",
        "leave 1: message 3 cannot be copied: its body is an AMQP value",
    ]
    assert ([line for line in planned.out.splitlines() if line.startswith("leave")], ran.status) == (left, PARTLY)
    assert (bus.bodies("bills"), len(bus.seen())) == (["good"], 2)


def write_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the SDK write the bytes of a value of the type RAW as they are."""
    monkeypatch.setitem(_encode._ENCODE_MAP, "RAW", lambda output, value, **_: output.extend(value))


def nested(depth: int) -> bytes:
    """Return a list in a list, and so on, as AMQP writes them."""
    inner = b"\x40"
    for _ in range(depth):
        inner = b"\xd0" + (len(inner) + 4).to_bytes(4, "big") + (1).to_bytes(4, "big") + inner
    return inner


KEY_OF_A_MAP = b"\xc1\x06\x02\xc1\x01\x00\xa1\x00"

STRANGE = {
    "a char": (b"\x73\0\0\0A", "is an AMQP char"),
    "a decimal of 64 bits": (b"\x84" + bytes(8), "is an AMQP decimal64"),
    "a char in a list": (b"\xc0\x06\x01\x73\0\0\0A", "is an AMQP char"),
    "an array": (b"\xe0\x06\x01\x73\0\0\0A", "is an AMQP array"),
    "lists in lists": (nested(70), "cannot be decoded"),
    "a map with a map for a key": (KEY_OF_A_MAP, "cannot be decoded"),
    "a UUID with a descriptor": (b"\x00\xa3\x01a\x98" + bytes(16), "cannot be decoded"),
    "two descriptors": (b"\x00\xa3\x01a\x00\xa3\x01b\xa1\x01x", "cannot be decoded"),
}
"""Values that azure-servicebus cannot read or write, and what is said about them."""


def send_strange(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Send a message with each strange value, a good one behind each. Return why each of the former cannot be copied."""
    write_bytes(monkeypatch)
    reasons = list[str]()
    with bus.client.get_queue_sender("orders-error") as sender:
        for section, named in (("application_properties", "properties"), ("annotations",) * 2, ("footer",) * 2):
            for name, (raw, why) in STRANGE.items():
                value: Any = {section: {"p": typed("RAW", raw)}}
                sender.send_messages(AmqpAnnotatedMessage(data_body=name.encode(), **value))
                sender.send_messages(ServiceBusMessage("good"))
                reasons.append(f"message {2 * len(reasons) + 1} cannot be copied: 'p' of its {named} {why}")
    return reasons


def test_what_cannot_be_decoded_is_named_and_left_by_each_verb_and_all_others_go_on(
    bus: Bus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reasons = send_strange(bus, monkeypatch)
    count, file = len(reasons), str(tmp_path / "exported.jsonl")

    looks = [bus.run(verb, "--json").status for verb in ("list", "groups", "show")]
    exported = bus.run("export", "--file", file)
    imported = bus.run("import", "--file", file, "--to", "bills", "--yes")
    bus.send("good", queue="orders-error")
    purged = bus.run("purge", "--confirm", "orders-error", "--file", str(tmp_path / "purged.jsonl"))
    bus.send("good", queue="orders-error")
    retried, again = [bus.run("retry", "--to", "bills", "--yes") for _ in range(2)]

    changing = (exported, imported, purged, retried, again)
    unsaid = [each for ran in changing for each in reasons[:20] if each not in ran.out + ran.err]
    assert (looks, [ran.status for ran in changing], unsaid) == ([DONE] * 3, [PARTLY] * 4 + [REFUSED], [])
    with bus.receiver() as receiver:
        assert (len(bus.bodies("bills")), len(receiver.peek_messages(200))) == (count + 1, count)
