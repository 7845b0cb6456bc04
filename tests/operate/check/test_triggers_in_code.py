"""`recoverable check` reads triggers from `function_app.py` where they are written in plain words, and runs none of its code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from operate.check.bicep_files import GOOD, written
from operate.check.conftest import Check

TRIGGER = "@app.service_bus_queue_trigger(arg_name='message', {})\nasync def place_order(message): raise SystemExit\n"
RIGHT = "queue_name='orders', connection='ServiceBus', data_type=func.DataType.BINARY"

CODE: dict[str, tuple[str, list[str]]] = {
    "a trigger that is right": (TRIGGER.format(RIGHT), []),
    "a data type as a text": (TRIGGER.format("queue_name='Orders', data_type='binary'"), []),
    "a trigger that gives texts": (TRIGGER.format("queue_name='orders'"), ["binary-data"]),
    "a trigger that completes nothing": (TRIGGER.format(RIGHT + ", auto_complete_messages=False"), ["completion"]),
    "a trigger of batches": (TRIGGER.format(RIGHT + ", cardinality=func.Cardinality.MANY"), ["not said"]),
    "two functions on one queue": (TRIGGER.format(RIGHT) * 2, ["one-reader"]),
    "an endpoint": ("orders = ServiceBusEndpoint(place_order, queue='orders', connection='ServiceBus')", []),
    "an endpoint of batches": ("orders = ServiceBusEndpoint(place_order, queue='orders', batch=True)", ["not said"]),
    "an endpoint in a trigger of one's own": (
        "orders = ServiceBusEndpoint(place_order, queue='orders')\n" + TRIGGER.format("queue_name='orders'"),
        ["binary-data"],
    ),
    "an app setting for a name": (TRIGGER.format("queue_name='%THREADS%'"), ["not said"]),
    "another queue": (TRIGGER.format("queue_name='refunds'"), ["not said"]),
    "a name that is no literal": (TRIGGER.format("queue_name=QUEUE"), ["not said"]),
    "no Python": ("def", ["not said"]),
}


@pytest.mark.parametrize("form", CODE)
def test_a_trigger_is_read_as_it_is_written(check: Check, tmp_path: Path, form: str) -> None:
    code, rules = CODE[form]
    file = written(tmp_path, GOOD)
    (tmp_path / "function_app.py").write_text(code, encoding="utf-8")

    read = [json.loads(line) for line in check(file, "--json").out.splitlines()]

    assert list(dict.fromkeys(each["rule"] if "wrong" in each else "not said" for each in read)) == rules
