"""Places by name: which file counts, what of it needs trust, and what is refused."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from operate.places import Machine, machine, place
from recoverable._service_bus.host_json import HostOptions, Proxy
from recoverable_operate._cli import main
from recoverable_operate._commands.arguments import add_looking
from recoverable_operate._commands.places import Place, place_of
from recoverable_operate.errors import OperateError

__all__ = ["machine"]

ORDERS, BILLS = (f"arn:aws:sqs:eu-west-1:123456789012:{name}-error" for name in ("orders", "bills"))
ON_AZURE = "sb://shop.servicebus.windows.net/orders-error"


def found(*words: str) -> Place:
    """Return the place of a command line."""
    parser = argparse.ArgumentParser()
    add_looking(parser)
    return place_of(parser.parse_args(words))


def test_a_place_says_how_many_deliveries_its_queue_has_and_allows_queues_by_name(machine: Machine) -> None:
    machine.own.write_text(place("prod", queue=ON_AZURE, max_delivery_count=40, allow=["orders"]))

    prod = found("prod")

    assert (prod.max_delivery_count, prod.allow) == (40, ("orders",))


def test_a_place_says_how_its_queue_is_reached(machine: Machine) -> None:
    values: dict[str, Any] = {
        "poll": 5,
        "page_size": 20,
        "app_insights": "/subscriptions/1",
        "connection": "BUS",
        "production": True,
    }
    machine.project.write_text(place("prod", queue=ON_AZURE, **values))

    assert found("prod") == Place(queue=ON_AZURE, name="prod", file=machine.project, **values)


def test_a_connection_that_a_place_names_must_be_set(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.own.write_text(place("prod", queue=ON_AZURE, connection="BUSS"))

    with pytest.raises(OperateError, match="the environment variable BUSS is not set; put a connection string"):
        _ = found("prod").connection_string

    monkeypatch.setenv("BUSS", "Endpoint=sb://shop")
    assert found("prod").connection_string == "Endpoint=sb://shop"


WEBSOCKETS = HostOptions(transport_type="amqpWebSockets")
BY_PROXY = WEBSOCKETS.replace(web_proxy=Proxy("proxy.test", 8080))


@pytest.mark.parametrize(
    ("values", "words", "transport"),
    [
        ({}, [], HostOptions()),
        ({}, ["--websockets"], WEBSOCKETS),
        ({}, ["--proxy", "proxy.test:8080"], BY_PROXY),
        ({"websockets": True}, [], WEBSOCKETS),
        ({"proxy": "http://proxy.test:8080"}, [], BY_PROXY),
    ],
)
def test_service_bus_is_reached_as_a_place_or_the_command_line_says(
    machine: Machine, values: dict[str, Any], words: list[str], transport: HostOptions
) -> None:
    machine.own.write_text(place("prod", queue=ON_AZURE, **values))

    assert found("prod", *words).transport == transport


def test_without_a_word_service_bus_is_reached_as_the_host_json_here_says(machine: Machine) -> None:
    machine.own.write_text(place("prod", queue=ON_AZURE))
    Path("host.json").write_text('{"extensions": {"serviceBus": {"transportType": "amqpWebSockets"}}}')

    assert found("prod").transport == WEBSOCKETS


def test_a_queue_needs_no_file(machine: Machine) -> None:
    assert found("--queue", "orders-error") == Place(queue="orders-error")


def test_the_users_file_beats_the_projects_which_has_the_rest(machine: Machine) -> None:
    machine.own.write_text(place("prod", queue=ORDERS))
    machine.project.write_text(place("prod", queue=BILLS) + place("test", queue=BILLS))

    assert (found("prod").queue, found("test").queue) == (ORDERS, BILLS)


def test_the_command_line_beats_a_file(machine: Machine) -> None:
    machine.own.write_text(place("prod", queue=ORDERS, poll=5, endpoint="https://vpce.test", allow=[BILLS]))

    ours = found("prod", "--poll", "1", "--endpoint-url", "https://other.test", "--region", "eu-central-1")

    assert ours == Place(
        queue=ORDERS, name="prod", file=machine.own, poll=1, endpoint="https://other.test", region="eu-central-1", allow=(BILLS,)
    )  # fmt: skip


@pytest.mark.parametrize("words", [[], ["prod", "--queue", ORDERS]], ids=["none", "two"])
def test_there_is_no_default_and_no_second_place(machine: Machine, words: list[str]) -> None:
    machine.own.write_text(place("prod", queue=ORDERS))

    with pytest.raises(OperateError, match=r"name either a place of a recoverable\.toml, or a queue by --queue"):
        found(*words)


@pytest.mark.parametrize("name", ["pro", "prod-", "PROD", ORDERS, "orders-error"])
def test_a_name_is_matched_whole(machine: Machine, name: str) -> None:
    machine.own.write_text(place("prod", queue=ORDERS))

    with pytest.raises(OperateError, match=r"there is no place '.*': known are prod; a queue is named by --queue"):
        found(name)


SENSITIVE: dict[str, Any] = {
    "allow": [BILLS],
    "endpoint": "https://elsewhere.test",
    "profile": "admin",
    "role": "arn:aws:iam::123456789012:role/admin",
}


def test_what_could_send_messages_or_credentials_elsewhere_counts_in_the_users_own_file(machine: Machine) -> None:
    machine.own.write_text(place("prod", queue=ORDERS, **SENSITIVE))

    assert found("prod") == Place(queue=ORDERS, name="prod", file=machine.own, **{**SENSITIVE, "allow": (BILLS,)})


def test_in_a_projects_file_it_counts_only_once_that_is_trusted(machine: Machine) -> None:
    machine.project.write_text(place("prod", queue=ORDERS, **SENSITIVE))

    before, status = found("prod"), main(["places", "trust", "--yes"])

    assert before == Place(queue=ORDERS, name="prod", file=machine.project, ignored=tuple(SENSITIVE))
    assert (status, found("prod").allow, found("prod").ignored) == (0, (BILLS,), ())


def test_trust_ends_when_the_file_changes(machine: Machine) -> None:
    machine.project.write_text(place("prod", queue=ORDERS, profile="mine"))
    main(["places", "trust", "--yes"])

    machine.project.write_text(place("prod", queue=ORDERS, profile="admin"))

    assert (found("prod").profile, found("prod").ignored) == (None, ("profile",))


def test_trust_in_one_file_is_none_in_a_copy_of_it(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.project.write_text(place("prod", queue=ORDERS, profile="mine"))
    main(["places", "trust", "--yes"])
    copy = machine.project.parent.parent / "clone"
    copy.mkdir()
    (copy / machine.project.name).write_text(machine.project.read_text())

    monkeypatch.chdir(copy)

    assert found("prod").ignored == ("profile",)


def test_what_is_trusted_is_shown_and_off_a_terminal_needs_yes(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.project.write_text(place("prod", queue=ORDERS, profile="admin\\u001b[2J"))

    status = main(["places", "trust"])

    shown = capsys.readouterr()
    assert (status, shown.out.splitlines()) == (2, [str(machine.project), f"  prod: {ORDERS}, profile admin\\x1b[2J"])
    assert shown.err == "It is not trusted yet. To do it: recoverable places trust --yes\n"
    assert found("prod").ignored == ("profile",)


def test_a_token_is_shown_to_no_host_that_only_a_project_names(machine: Machine) -> None:
    machine.project.write_text(place("prod", queue="sb://evil.test/orders-error"))

    with pytest.raises(OperateError, match=r"evil\.test is no host of Azure, and would be shown credentials"):
        found("prod")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"queue": "orders-error"}, "queue is 'orders-error'; write an ARN of an SQS queue, or sb://NAMESPACE/QUEUE"),
        ({"queue": "https://sqs.test/1/orders"}, "write an ARN of an SQS queue"),
        ({"queue": ORDERS, "allow": "orders"}, "allow is 'orders'; write a list of names or addresses of queues"),
        ({"queue": ORDERS, "poll": 21}, "poll is '21'; write 1 to 20 seconds"),
        ({"queue": ORDERS, "poll": True}, "poll is 'True'; write 1 to 20 seconds"),
        ({"queue": ORDERS, "page_size": 0}, "page_size is '0'; write 1 or more"),
        ({"queue": ORDERS, "endpoint": "elsewhere"}, "endpoint is 'elsewhere'; write https://HOST"),
        ({"queue": ORDERS, "production": "yes"}, "production is 'yes'; write true or false"),
        ({"queue": ON_AZURE, "websockets": "yes"}, "websockets is 'yes'; write true or false"),
        ({"queue": ON_AZURE, "proxy": "http://"}, "proxy is 'http://'; write its address, such as http://proxy.shop.example:8080"),
        ({"queue": ORDERS, "colour": "red"}, "colour is no key of a place; it has queue, connection, websockets, proxy, allow"),
        ({"poll": 2}, "has no queue"),
        ({"queue": ON_AZURE, "connection": "Endpoint=sb://a;SharedAccessKey=hunter2"}, "connection is a connection string, which is not shown here"),
    ],
)  # fmt: skip
def test_what_is_none_is_named_with_what_to_write(machine: Machine, values: dict[str, object], text: str) -> None:
    machine.own.write_text(place("prod", **values))

    with pytest.raises(OperateError, match="place prod") as caught:
        found("prod")

    assert text in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("content", ["[places", 'places = "prod"', "[prod]", "\xff"])
def test_a_file_that_cannot_be_read_is_named(machine: Machine, content: str) -> None:
    machine.own.write_bytes(content.encode("latin-1"))

    with pytest.raises(OperateError, match=str(machine.own)):
        found("prod")
