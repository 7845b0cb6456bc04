"""What `recoverable check` reads of an app's code, of which it runs nothing: which functions read a queue, and by which endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from operate.check.arm_templates import ALL_DONE, CODE, GOOD, OF_APP, changed, written
from operate.check.conftest import Check, not_checked, rules_found

IMPORTS = "import azure.functions as func\nfrom recoverable.azure import ServiceBusEndpoint\n"
TRIGGER = "@app.service_bus_queue_trigger(arg_name='message', {})\nasync def place_order(message): raise SystemExit\n"
ENDPOINT = "orders = ServiceBusEndpoint(place_order, queue={}, connection='ServiceBus')\n"
RIGHT = "queue_name='orders', connection='ServiceBus', data_type=func.DataType.BINARY"

FOUND: dict[str, tuple[str, list[str]]] = {
    "a trigger that is right": (ENDPOINT.format("'orders'") + TRIGGER.format(RIGHT), []),
    "a data type as a text": (ENDPOINT.format("'orders'") + TRIGGER.format("queue_name='Orders', data_type='binary'"), []),
    "a trigger that gives texts": (ENDPOINT.format("'orders'") + TRIGGER.format("queue_name='orders'"), ["binary-data"]),
    "names of the module's own": ("QUEUE = 'ord' + 'ers'\n" + ENDPOINT.format("QUEUE") + TRIGGER.format("queue_name=QUEUE, data_type='text'"), ["binary-data"]),
    "two functions on one queue": (ENDPOINT.format("'orders'") + TRIGGER.format(RIGHT) * 2, ["one-reader"]),
    "an endpoint alone": (ENDPOINT.format("'orders'"), []),
    "an app setting for a name": (ENDPOINT.format("'%QUEUE%'"), []),
    "an environment variable for a name": ("import os\n" + ENDPOINT.format("os.environ['QUEUE']"), []),
}  # fmt: skip
NOT_SAID = {
    "a name that is computed": ENDPOINT.format("queue_of_today()"),
    "no Python": "def",
    "an endpoint that a function makes": "orders = make(ServiceBusEndpoint)\n",
    "a name that is bound twice": "QUEUE = 'orders'\nQUEUE = 'refunds'\n" + ENDPOINT.format("QUEUE"),
}
LEFT_ALONE = {
    "another queue": ENDPOINT.format("'refunds'"),
    "a plain trigger beside the endpoint of another queue": ENDPOINT.format("'refunds'") + TRIGGER.format(RIGHT),
}
SETTING = changed({f"{OF_APP}.QUEUE": "orders"})


@pytest.mark.parametrize("form", FOUND)
def test_a_trigger_is_read_as_it_is_written(check: Check, tmp_path: Path, form: str) -> None:
    code, rules = FOUND[form]

    assert rules_found(check(written(tmp_path, SETTING, code=IMPORTS + code), "--json")) == rules


@pytest.mark.parametrize("form", NOT_SAID)
def test_a_queue_whose_reader_the_code_does_not_say_in_plain_words_is_not_checked(
    check: Check, tmp_path: Path, form: str
) -> None:
    ran = check(written(tmp_path, GOOD, code=IMPORTS + NOT_SAID[form]), "--json")

    assert (ran.status, rules_found(ran), "binary-data" in not_checked(ran)) == (0, [], True)


@pytest.mark.parametrize("form", LEFT_ALONE)
def test_a_queue_that_no_endpoint_reads_is_left_alone(check: Check, tmp_path: Path, form: str) -> None:
    ran = check(written(tmp_path, GOOD, code=IMPORTS + LEFT_ALONE[form]))

    assert "left alone, because no code there uses this package: orders.\n" in ran.out


def test_code_in_other_files_is_read(check: Check, tmp_path: Path) -> None:
    file = written(tmp_path, GOOD, code="from shop.queues import orders\napp.register_functions(orders.blueprint())\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "queues.py").write_text(CODE.partition("app.")[0], encoding="utf-8")

    assert check(file) == (0, ALL_DONE, "")
