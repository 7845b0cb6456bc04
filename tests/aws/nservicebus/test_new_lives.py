"""What comes back from an error queue starts anew, whoever sent it: the console, ServiceControl, or this package's own redrive."""

from __future__ import annotations

import json
from typing import Any

from aws.harness import ladder
from aws.nservicebus.dotnet import HEADERS, Sent, imported, retried
from aws.nservicebus.retries import as_record
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Message
from recoverable.aws import SqsEndpoint


class Life:
    """An endpoint with two attempts, whose handler fails, and which remembers what it was given."""

    def __init__(self) -> None:
        self.client = RecordingClient(lambda: True)
        self.seen: list[Message] = []
        settings = ladder("error", immediate=0, delayed=1)
        self._endpoint = SqsEndpoint(self._fail, settings, client=self.client.as_client())

    def _fail(self, message: Message) -> None:
        self.seen.append(message)
        raise ValueError("no")

    def until_error(self, one: dict[str, Any]) -> Sent:
        """Run a message to the end of its ladder, and return its error copy."""
        for _ in range(2):
            self._endpoint(event(one), None)
            sent = Sent(self.client.sent[-1]["MessageBody"], self.client.sent[-1]["MessageAttributes"])
            one = as_record(sent)
        return sent


def headers_of(sent: Sent) -> dict[str, str]:
    """Return the headers of a copy."""
    headers: dict[str, str] = json.loads(sent.attributes[HEADERS]["StringValue"])
    return headers


def test_a_message_moved_back_by_the_console_has_all_its_attempts_again_and_counts_no_earlier_one() -> None:
    life = Life()
    first = life.until_error(record("{}"))

    second = life.until_error(as_record(first))

    assert [(message.attempt, message.round) for message in life.seen] == [(1, 0), (1, 1)] * 2
    assert [headers_of(each)["Recoverable.Attempts"] for each in (first, second)] == ["2", "2"]
    assert headers_of(second)["Recoverable.Redrives"] == "1"
    assert headers_of(life.until_error(as_record(second)))["Recoverable.Redrives"] == "2"


def test_its_handler_sees_nothing_of_the_earlier_failure_and_the_same_message() -> None:
    life = Life()
    first = life.until_error(record("{}"))

    life.until_error(as_record(first))

    back, later = life.seen[2:]
    left = {
        "NServiceBus.MessageId": "native-1", "NServiceBus.ContentType": "application/json",
        "Recoverable.Origin": "native-1", "Recoverable.Redrives": "1",
    }  # fmt: skip
    assert {name: text for name, text in back.headers.items() if name != "NServiceBus.TimeSent"} == left
    assert not any(name.startswith(("NServiceBus.ExceptionInfo", "NServiceBus.FailedQ")) for name in later.headers)
    assert later.headers["Recoverable.Attempts"] == "1"


def test_a_retry_of_servicecontrol_is_a_new_life_of_the_same_failed_message() -> None:
    life = Life()
    first = imported(life.until_error(record("{}")))

    for wraps in (True, False):
        again = life.until_error(as_record(retried(first, wraps=wraps)))

        found = imported(again)
        assert (found.unique_id, found.read.headers["Recoverable.Attempts"]) == (first.unique_id, "2")
        assert found.read.headers["Recoverable.Redrives"] == "1"


def waiting(copy: Sent) -> dict[str, Any]:
    """Return the record of an error copy that was refused, and waits in its own queue to be sent on."""
    headers = json.dumps({**headers_of(copy), "Recoverable.RefusedSends": "1"})
    return as_record(Sent(copy.body, {HEADERS: {"DataType": "String", "StringValue": headers}}))


def test_a_copy_on_its_way_that_sqs_dead_lettered_starts_anew_when_somebody_moves_it_back() -> None:
    life = Life()
    one = waiting(life.until_error(record("{}")))
    one["attributes"]["DeadLetterQueueSourceArn"] = "arn:aws:sqs:eu-west-1:123456789012:orders"

    second = headers_of(life.until_error(one))

    assert [(message.attempt, message.round) for message in life.seen] == [(1, 0), (1, 1)] * 2
    assert ("Recoverable.RefusedSends" in second, second["Recoverable.Attempts"]) == (False, "2")


def test_a_copy_on_its_way_to_the_error_queue_stays_in_the_life_that_it_had() -> None:
    life = Life()
    life.until_error(waiting(life.until_error(record("{}"))))

    sent_on = headers_of(Sent("", life.client.sent[2]["MessageAttributes"]))
    assert len(life.seen) == 2 + 1
    assert (sent_on["NServiceBus.FailedQ"], sent_on["Recoverable.Attempts"]) == ("orders", "2")
