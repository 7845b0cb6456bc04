"""An error copy says what ServicePulse needs to show a message: what its body is, its type, and for how long the last attempt ran."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders import Boom, message, recoverability, seconds
from nservicebus.worlds import HEADERS, Serve, World, send, service_bus_world, sqs_world
from recoverable import Immediate, Message
from recoverable._ladder.copy_headers import content_type_of
from recoverable.aws import SqsEndpoint
from recoverable.headers import read_date, write_date
from recoverable_local.testing import SqsWorld

TYPE, TYPES = "NServiceBus.ContentType", "NServiceBus.EnclosedMessageTypes"
START, FAILURE = (f"NServiceBus.ExceptionInfo.Data.Handler {which} time" for which in ("start", "failure"))

on_both_clouds = pytest.mark.parametrize("serve", [sqs_world, service_bus_world], ids=["SQS", "Service Bus"])


def fails(_message: Message) -> None:
    """Fail, as a handler."""
    raise Boom("it broke")


@on_both_clouds
@pytest.mark.parametrize(
    ("body", "headers", "shown"),
    [
        ('{"order": 1}', {}, "application/json"),
        ("<order/>", {}, "text/plain"),
        ("grüße 🙂", {}, "text/plain"),
        ("[" * 100_000, {}, "text/plain"),
        ("<order/>", {TYPE: "text/xml"}, "text/xml"),
        ("<order/>", {TYPE: ""}, ""),
    ],
    ids=["JSON", "text", "wide text", "endless brackets", "said", "said to be nothing"],
)
def test_it_says_what_the_body_is_unless_its_sender_did(
    serve: Serve, body: str, headers: dict[str, str], shown: str
) -> None:
    world = serve(fails, recoverability(0, 0))
    send(world, {"NServiceBus.MessageId": "7", **headers}, body)
    world.run()

    [failed] = world.queue("orders-error")
    assert (failed.headers[TYPE], TYPES in failed.headers) == (shown, False)


def test_the_type_that_service_bus_has_of_it_wins() -> None:
    world = service_bus_world(fails, recoverability(0, 0))
    world.send("orders", b"\xff\xfe", content_type="image/png")
    world.send("orders", b"\xff\xfe")
    world.run()

    assert [failed.headers.get(TYPE) for failed in world.queue("orders-error")] == ["image/png", None]


def fetched() -> str:
    """Stand for a body that is elsewhere; nobody may fetch it to say what it is."""
    raise AssertionError


@pytest.mark.parametrize("body", [b"\xff", b"", "", fetched], ids=["bytes", "no bytes", "no text", "elsewhere"])
def test_of_what_is_no_text_it_says_nothing(body: Any) -> None:
    assert content_type_of(message(body)) is None


@pytest.mark.parametrize(("said", "shown"), [({}, "Shop.PlaceOrder"), ({TYPES: "Shop.Order"}, "Shop.Order")])
def test_the_type_of_a_native_message_is_that_of_its_attribute_unless_its_sender_said_another(
    said: dict[str, str], shown: str
) -> None:
    world = sqs_world(fails, recoverability(0, 0))
    world.send("orders", "{}", attributes={"MessageTypeFullName": "Shop.PlaceOrder", HEADERS: json.dumps(said)})
    world.run()

    [failed] = world.queue("orders-error")
    assert (failed.headers[TYPES], failed.attributes) == (shown, {"MessageTypeFullName": "Shop.PlaceOrder"})


class Slow:
    """A handler that works for a while and then fails, each attempt for longer."""

    world: World

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, _message: Message) -> None:
        self.runs += 1
        self.world.spend(2.5 * self.runs)
        raise Boom("it broke")


@on_both_clouds
@pytest.mark.parametrize("in_process", [False, True])
def test_it_says_when_the_handler_of_the_last_attempt_began_and_failed(serve: Serve, *, in_process: bool) -> None:
    handler = Slow()
    settings = recoverability(0, 0).replace(immediate=Immediate(1, in_process=in_process))
    handler.world = world = serve(handler, settings)
    send(world, {})
    world.run()

    [failed] = world.queue("orders-error")
    ended = read_date(failed.headers, FAILURE)
    assert ended is not None
    assert failed.headers[START] == write_date(ended - seconds(5))
    assert failed.headers[FAILURE] == failed.headers["NServiceBus.TimeOfFailure"]


def test_it_does_not_say_so_of_a_handler_that_did_not_run_or_ran_beside_others() -> None:
    async def fails_too(_message: Message) -> None:
        raise Boom("it broke")

    world = SqsWorld()
    world.serve("orders", SqsEndpoint(fails_too, recoverability(0, 0), concurrency=2))
    world.send("orders", "ran beside others")
    world.send("orders", "no handler", attributes={HEADERS: '{"NServiceBus.ControlMessage": "True"}'})
    world.run()

    assert [{START, FAILURE} & failed.headers.keys() for failed in world.queue("orders-error")] == [set(), set()]
