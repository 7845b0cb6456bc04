"""Mistakes that are told where they are made, with what to write instead, and not at the first failure or outage."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import azure.functions as func
import boto3
import pytest
from botocore.config import Config

from aws.records import ARN, record
from recoverable import Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable.timeouts import Dispatcher, Timeouts
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from recoverable_local.timeouts import SqliteStore

ONCE = 'boto3.client("sqs", config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))'


def place_order(message: Message) -> None:
    """Do nothing."""


def client(service: str = "sqs", **config: Any) -> Any:
    """Return a real client; nothing is called."""
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "eu-central-1"}
    return boto3.client(service, config=Config(**config), **keys)  # type: ignore[call-overload]  # the service's name


def azure(handler: Callable[[Message], Any] = place_order, **more: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint on Service Bus."""
    return ServiceBusEndpoint(handler, queue="orders", connection="ServiceBus", **more)


def deciding(policy: Any) -> Recoverability:
    return Recoverability(policy=policy)


class Policies:
    """Policies that are methods."""

    def of_one(self, _context: object) -> Any: ...

    def of_two(self, _recoverability: object, _context: object) -> Any: ...


POLICY = "write a function (recoverability, error_context) -> action"
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a table's name for timeouts": (
        lambda: Timeouts("waiting"),  # type: ignore[arg-type]
        "Timeouts(store) is 'waiting'; write a store, such as DynamoDbStore('waiting')",
    ),
    "a table's name for the dispatcher": (
        lambda: Dispatcher("waiting"),  # type: ignore[arg-type]
        "Dispatcher(store) is 'waiting'; write a store, such as DynamoDbStore('waiting')",
    ),
    "the class of a store": (
        lambda: Dispatcher(SqliteStore),  # type: ignore[arg-type]
        f"Dispatcher(store) is {SqliteStore!r}; write a store, such as DynamoDbStore('timeouts')",
    ),
    "a name for the client": (
        lambda: SqsEndpoint(place_order, client="sqs"),  # type: ignore[arg-type]
        f"SqsEndpoint(client) is 'sqs'; write {ONCE}, or leave it out",
    ),
    "a policy of one argument": (
        lambda: deciding(lambda context: context),
        f"Recoverability(policy) is <lambda>, which takes (context); {POLICY}",
    ),
    "a policy of three": (
        lambda: deciding(lambda recoverability, context, now: (recoverability, context, now)),
        f"Recoverability(policy) is <lambda>, which takes (recoverability, context, now); {POLICY}",
    ),
    "a method of one": (
        lambda: deciding(Policies().of_one),
        f"Recoverability(policy) is of_one, which takes (_context); {POLICY}",
    ),
    "an endpoint in place of its blueprint": (
        lambda: func.FunctionApp().register_functions(azure()),  # type: ignore[arg-type]
        "place_order is an endpoint, and an app registers blueprints; write app.register_functions(place_order.blueprint())",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_it_says_what_to_write_instead(mistake: str) -> None:
    make, text = REFUSED[mistake]

    with pytest.raises(TypeError) as refused:
        make()
    assert str(refused.value) == text


def test_the_client_of_another_service_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^SqsEndpoint\(client\) is <botocore.client.DynamoDB object at .*>; write "):
        SqsEndpoint(place_order, client=client("dynamodb"))


@pytest.mark.parametrize(
    "policy",
    [
        lambda recoverability, context: (recoverability, context),
        lambda recoverability, context, _extra=None: (recoverability, context),
        lambda *both: both,
        Policies().of_two,
        partial(lambda _extra, recoverability, context: (recoverability, context), 1),
    ],
)
def test_a_policy_that_can_be_called_with_both_is_taken(policy: Any) -> None:
    assert deciding(policy).policy is policy


def warned(caplog: pytest.LogCaptureFixture, given: Any) -> list[str]:
    """Return what is logged when an endpoint gets a client."""
    caplog.set_level(logging.INFO, "recoverable")
    SqsEndpoint(place_order, client=given)
    return caplog.messages


@pytest.mark.parametrize("config", [{}, {"retries": {"mode": "standard"}}, {"retries": {"max_attempts": 2}}], ids=str)
def test_a_client_that_repeats_calls_is_warned_of(config: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    assert warned(caplog, client(**config)) == [
        "The client of SqsEndpoint repeats calls that got no answer. A copy that SQS took without answering is then sent"
        f" twice, and its message is handled twice. Write client={ONCE}, or leave it out."
    ]


@pytest.mark.parametrize("retries", [{"total_max_attempts": 1, "mode": "standard"}, {"max_attempts": 0}], ids=str)
def test_a_client_that_tries_once_is_not_warned_of(retries: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert warned(caplog, client(retries=retries)) == []


SERVES = "and this function serves SQS only; let them be sent to a queue, and let the function read the queue"
EVENTS: dict[str, tuple[list[Any], str]] = {
    "SNS": ([{"EventSource": "aws:sns", "Sns": {"Message": "{}"}}], f"these records come from aws:sns, {SERVES}"),
    "S3": ([{"eventSource": "aws:s3", "s3": {}}], f"these records come from aws:s3, {SERVES}"),
    "DynamoDB": (
        [{"eventSource": "aws:dynamodb", "eventSourceARN": ARN}],
        f"these records come from aws:dynamodb, {SERVES}",
    ),
    "S3 beside SQS": ([record(), {"eventSource": "aws:s3"}], f"these records come from aws:s3, {SERVES}"),
    "a source that is none": (
        [{"eventSource": "<script>"}],
        "its records name no queue, or several, in eventSourceARN; wanted is one and the same",
    ),
    "no record at all": ([7], "its records name no queue, or several, in eventSourceARN; wanted is one and the same"),
    "a number for a body": (
        [{**record(), "body": 7}],
        "record 0 lacks a messageId, receiptHandle or body that is text",
    ),
}


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_of_another_service_is_named(event: str) -> None:
    records, text = EVENTS[event]

    with pytest.raises(ValueError, match="no SQS event") as refused:
        SqsEndpoint(place_order)({"Records": records})
    assert str(refused.value) == f"no SQS event: {text}"


def test_a_lambda_needs_a_name_for_its_function() -> None:
    with pytest.raises(ValueError, match=r"^the function would be called '<lambda>'; pass ServiceBusEndpoint\(name="):
        azure(lambda _message: None).blueprint()


def test_a_lambda_with_a_name_is_a_function() -> None:
    app = func.FunctionApp()
    app.register_functions(azure(lambda _message: None, name="place_order").blueprint())

    assert [each.get_function_name() for each in app.get_functions()] == ["place_order"]


@pytest.mark.parametrize(
    ("settings", "warnings"),
    [
        (
            {"FUNCTIONS_WORKER_RUNTIME": "python"},
            [
                "No retry can be delayed and no message moved to the error queue: the connection 'ServiceBus' is not among the"
                " app settings; add ServiceBus with a connection string, or ServiceBus__fullyQualifiedNamespace with a namespace"
                " such as shop.servicebus.windows.net."
            ],
        ),
        ({"FUNCTIONS_WORKER_RUNTIME": "python", "ServiceBus__fullyQualifiedNamespace": "shop.example.net"}, []),
        ({}, []),
    ],
    ids=["missing", "there", "a test"],
)
def test_on_functions_an_app_without_the_connection_is_warned(
    settings: dict[str, str], warnings: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("FUNCTIONS_WORKER_RUNTIME", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    azure().blueprint()

    assert caplog.messages == warnings


def test_an_app_setting_that_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match=r"^%QUEUE% in '%QUEUE%' is no app setting; add QUEUE to the app settings"):
        ServiceBusEndpoint(place_order, queue="%QUEUE%", connection="ServiceBus")


@pytest.mark.parametrize("world", [SqsWorld, ServiceBusWorld])
def test_a_world_lists_the_queues_that_it_has(world: type[SqsWorld | ServiceBusWorld]) -> None:
    shop = world()
    for name in ("orders", "orders-error"):
        shop.create_queue(name)

    with pytest.raises(LookupError, match=r"^there is no queue 'order', but orders, orders-error; make it with"):
        shop.queue("order")
