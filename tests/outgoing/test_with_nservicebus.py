"""What handlers send to NServiceBus's endpoints is what those read, and replies find who asked: held to commands that the real transport sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aws.nservicebus.dotnet import Read, Sent, read
from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message
from builders import message
from outgoing.worlds import ladder
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

RECORDED = json.loads((Path(__file__).parents[1] / "aws/nservicebus/sqs-wire.json").read_text())
COMMANDS = [pytest.param(Sent(**RECORDED[shape][2]), id=shape) for shape in ("wrapped", "do_not_wrap")]
"""The third one, which asks for a reply, in both shapes."""

CHOSEN_BY_THE_SENDER = {"NServiceBus.MessageId", "NServiceBus.TimeSent", "X-Ep"}
NOT_NEEDED = {
    "NServiceBus.OpenTelemetry.StartNewTrace", "NServiceBus.OriginatingMachine", "$.diagnostics.originating.hostid", "NServiceBus.Version",
}  # fmt: skip
"""Headers that NServiceBus writes and no reader of its own asks for."""


def handled(command: Sent, handler: Any) -> SqsWorld:
    """Return a world in which the handler of the queue "py" has had a command; it has the queues and topics that tests send to."""
    world = SqsWorld(create_missing=False)
    for name in ("error", "py", "net", "netraw", "shipping"):
        world.create_queue(name)
    world.create_subscription("Shop-OrderPlaced", "billing", forward_to="billing")
    world.serve("py", SqsEndpoint(handler, ladder()))
    queue = world.client.get_queue_url(QueueName="py")["QueueUrl"]
    attributes: Any = command.attributes
    world.client.send_message(QueueUrl=queue, MessageBody=command.body, MessageAttributes=attributes)
    world.run()
    return world


def read_by_dotnet(world: SqsWorld, queue: str) -> Read:
    """Return the one message of a queue as NServiceBus reads it."""
    url = world.client.get_queue_url(QueueName=queue)["QueueUrl"]
    (found,) = world.client.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
    return read(Sent(found["Body"], found["MessageAttributes"]))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reply_goes_to_who_sent_the_command_and_continues_its_conversation(command: Sent) -> None:
    theirs = read(command).headers
    world = handled(command, lambda message: message.reply({"OrderId": 3}, message_type="Shop.OrderAccepted"))

    reply = read_by_dotnet(world, str(theirs["NServiceBus.ReplyToAddress"]))

    assert (reply.body, world.queue("error")) == (b'{"OrderId": 3}', [])
    assert {name: text for name, text in reply.headers.items() if name not in CHOSEN_BY_THE_SENDER} == {
        "NServiceBus.EnclosedMessageTypes": "Shop.OrderAccepted",
        "NServiceBus.ContentType": "application/json",
        "NServiceBus.MessageIntent": "Reply",
        "NServiceBus.OriginatingEndpoint": "py",
        "NServiceBus.ReplyToAddress": "py",
        "NServiceBus.ConversationId": theirs["NServiceBus.ConversationId"],
        "NServiceBus.CorrelationId": theirs["NServiceBus.CorrelationId"],
        "NServiceBus.RelatedTo": theirs["NServiceBus.MessageId"],
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_headers_that_those_of_nservicebus_have(command: Sent) -> None:
    world = handled(command, lambda message: message.send("net", message.json(), message_type="Shop.PlaceOrder"))

    theirs, ours = read(command), read_by_dotnet(world, "net")

    assert json.loads(ours.body) == json.loads(theirs.body)
    assert theirs.headers.keys() - ours.headers.keys() == NOT_NEEDED | {"X-Ep"}
    assert ours.headers["NServiceBus.MessageIntent"] == theirs.headers["NServiceBus.MessageIntent"]
    assert ours.headers["NServiceBus.ContentType"] == theirs.headers["NServiceBus.ContentType"]
    theirs_type = str(theirs.headers["NServiceBus.EnclosedMessageTypes"])
    assert ours.headers["NServiceBus.EnclosedMessageTypes"] == theirs_type.partition(",")[0]


def test_on_service_bus_a_reply_has_the_same_headers_as_properties() -> None:
    theirs = read(Sent(**RECORDED["do_not_wrap"][2])).headers
    client = RecordingClient()
    replying = endpoint(lambda message: message.reply({"OrderId": 3}, message_type="Shop.OrderAccepted"), client=client)

    assert ended(replying, trigger_message(b"{}", properties=dict(theirs))) is None

    [(queue, sent)] = client.sent
    reply = properties(sent)
    assert (queue, sent.correlation_id) == ("netraw", theirs["NServiceBus.CorrelationId"])
    assert {name: reply[name] for name in reply.keys() - CHOSEN_BY_THE_SENDER} == {
        "NServiceBus.EnclosedMessageTypes": "Shop.OrderAccepted",
        "NServiceBus.ContentType": "application/json",
        "NServiceBus.MessageIntent": "Reply",
        "NServiceBus.OriginatingEndpoint": "orders",
        "NServiceBus.ReplyToAddress": "orders",
        "NServiceBus.ConversationId": theirs["NServiceBus.ConversationId"],
        "NServiceBus.CorrelationId": theirs["NServiceBus.CorrelationId"],
        "NServiceBus.RelatedTo": theirs["NServiceBus.MessageId"],
    }


def test_a_reply_names_the_saga_that_waits_for_it() -> None:
    saga = {"NServiceBus.OriginatingSagaId": "7", "NServiceBus.OriginatingSagaType": "Shop.Shipping, Shop"}
    work = message(headers={"NServiceBus.ReplyToAddress": "net", **saga})

    work.reply("{}")
    work.send("net", "{}")

    reply, command = (each.headers for each in work.outgoing)
    assert (reply["NServiceBus.SagaId"], reply["NServiceBus.SagaType"]) == ("7", "Shop.Shipping, Shop")
    assert "NServiceBus.SagaId" not in command


@pytest.mark.parametrize(
    "address",
    ["", "net@other-machine", "arn:aws:sqs:eu-west-1:210987654321:net", "https://sqs.eu-west-1.amazonaws.com/2/net", "sb://other/net"],
)  # fmt: skip
def test_a_reply_goes_to_no_address_elsewhere(address: str) -> None:
    work = message(headers={"NServiceBus.ReplyToAddress": address})

    with pytest.raises(ValueError, match=r"write Message\.send\(queue"):
        work.reply("{}")
    assert work.outgoing == ()


def test_a_message_without_an_address_cannot_be_replied_to() -> None:
    with pytest.raises(ValueError, match=r"has no NServiceBus\.ReplyToAddress"):
        message().reply("{}")


def test_the_handler_may_write_types_and_content_type_itself() -> None:
    theirs = {"NServiceBus.ContentType": "text/xml", "NServiceBus.EnclosedMessageTypes": "A;B"}
    work = message()
    work.send("net", "<A/>", message_type="A", headers=theirs)

    assert {name: work.outgoing[0].headers[name] for name in theirs} == theirs


@pytest.mark.parametrize(("given", "kind"), [(" ", ValueError), (dict, TypeError)])
def test_a_type_that_is_no_name_is_refused(given: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"send\(message_type\).*Shop\.PlaceOrder"):
        message().send("net", "{}", message_type=given)
