"""What NServiceBus's SQS transport writes is read, and the acknowledgement of a retry is written as it writes one: held to its recorded messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aws.harness import ladder
from aws.nservicebus.dotnet import HEADERS, ID, Sent, read
from aws.nservicebus.retries import SOURCE, as_record
from aws.recording_client import RecordingClient
from aws.records import delivered, event, record
from aws.shapes import wrapped
from builders import platform, recoverability
from recoverable import Message
from recoverable.aws import SqsEndpoint

RECORDED = json.loads(Path(__file__).with_name("sqs-wire.json").read_text())
UNIQUE, SUCCESSFUL = "ServiceControl.Retry.UniqueMessageId", "ServiceControl.Retry.Successful"
VARIES = {SUCCESSFUL: "<time>", "NServiceBus.TimeSent": "<time>", ID: "<id>"}


def sent(recorded: dict[str, Any]) -> Sent:
    """Return a recorded message."""
    return Sent(recorded["body"], recorded["attributes"])


@pytest.mark.parametrize("recorded", [*RECORDED["wrapped"], *RECORDED["do_not_wrap"], *RECORDED["error"]])
def test_a_message_of_the_real_transport_is_read_as_it_reads_it(recorded: dict[str, Any]) -> None:
    theirs = read(sent(recorded))

    ours = delivered(as_record(sent(recorded)), SOURCE, recoverability(), platform()).message

    assert (ours.body, ours.id, {**ours.headers, ID: ours.id}) == (theirs.body, theirs.headers[ID], theirs.headers)


def acknowledged(retry: dict[str, Any]) -> tuple[list[Sent], list[str]]:
    """Handle a retry of ServiceControl; return what was sent and the handles of what was deleted."""
    client, handled = RecordingClient(), list[Message]()
    response = SqsEndpoint(handled.append, ladder("error"), client=client.as_client())(event(retry), None)
    assert (len(handled), response) == (1, {"batchItemFailures": []})
    return [Sent(each["MessageBody"], each["MessageAttributes"]) for each in client.sent], client.deleted


def without_times(headers: dict[str, Any]) -> dict[str, Any]:
    """Return headers with a word in place of what differs each time; the version of NServiceBus is its own."""
    return {name: VARIES.get(name, text) for name, text in headers.items() if name != "NServiceBus.Version"}


@pytest.mark.parametrize("wraps", [True, False], ids=["in a wrapper", "as it is"])
def test_the_acknowledgement_of_a_retry_is_the_recorded_one_in_its_shape(*, wraps: bool) -> None:
    theirs = sent(RECORDED["acknowledgement"][0 if wraps else 1])
    unique_id = read(theirs).headers[UNIQUE]
    headers = {ID: "7", UNIQUE: unique_id, "ServiceControl.Retry.AcknowledgementQueue": "error"}
    retry = record(wrapped(headers, "e30=")) if wraps else record("{}", headers=headers)

    [ours], deleted = acknowledged(retry)

    assert without_times(dict(read(ours).headers)) == without_times(dict(read(theirs).headers))
    assert (read(ours).body, HEADERS in ours.attributes) == (b"", HEADERS in theirs.attributes)
    assert json.loads(ours.body).keys() == json.loads(theirs.body).keys() if wraps else ours.body == theirs.body
    assert deleted == [retry["receiptHandle"]]


def test_fifteen_retries_of_one_batch_are_acknowledged_in_two_calls() -> None:
    client = RecordingClient()
    unique_id = read(sent(RECORDED["acknowledgement"][0])).headers[UNIQUE]
    headers = {UNIQUE: unique_id, "ServiceControl.Retry.AcknowledgementQueue": "error"}
    retries = [record("{}", message_id=f"native-{n}", headers={ID: str(n), **headers}) for n in range(15)]

    SqsEndpoint(lambda _message: None, ladder("error"), client=client.as_client())(event(*retries), None)

    assert (len(client.sent), len(client.deleted)) == (15, 15)
