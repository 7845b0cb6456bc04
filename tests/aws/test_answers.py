"""What SQS answers, garbage too: nothing counts as done that the answer does not say, and no answer fails the invocation."""

from __future__ import annotations

from typing import Any

import pytest

from aws.harness import Context, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Message
from recoverable._sqs.answers import Failure
from recoverable._sqs.batches import NOT_NAMED, batch_failures

GARBAGE: list[Any] = [
    None,
    [],
    "text",
    {"Successful": [{}]},
    {"Successful": [None]},
    {"Successful": None, "Failed": None},
    {"Successful": "00", "Failed": 7},
    {"Successful": [{"Id": 0}, {"Id": ["0"]}], "Failed": [None, {}]},
    {"Successful": [{"Id": "17"}]},
    {"Successful": [{"Id": "0"}], "Failed": [{"Id": "0", "Code": "InternalError", "SenderFault": False}]},
]


class Garbage(RecordingClient):
    """Answers each send with the same."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    def send_message_batch(self, **_call: Any) -> Any:
        return self._answer


@pytest.mark.parametrize("answer", GARBAGE, ids=repr)
def test_an_answer_that_says_nothing_of_an_entry_confirms_nothing(answer: object) -> None:
    assert batch_failures(answer, 1) == {0: NOT_NAMED}


@pytest.mark.parametrize("answer", GARBAGE, ids=repr)
def test_an_answer_that_is_garbage_leaves_the_message_on_its_queue(answer: object) -> None:
    def fail(message: Message) -> None:
        raise ValueError("no")

    client = Garbage(answer)

    result = sqs_endpoint(fail, ladder("error"), client=client.as_client())(event(record()), Context())

    assert result == {"batchItemFailures": [{"itemIdentifier": "native-1"}]}


@pytest.mark.parametrize(
    ("entry", "failure"),
    [
        ({"Code": "InternalError", "Message": "x", "SenderFault": False}, Failure("busy", "InternalError", "InternalError x")),
        ({"Code": "RequestThrottled", "SenderFault": True}, Failure("busy", "RequestThrottled", "RequestThrottled")),
        ({"Code": "InvalidParameterValue", "Message": "bad", "SenderFault": True}, Failure("refused", "InvalidParameterValue", "InvalidParameterValue bad")),
        (
            {"Code": "InvalidParameterValue", "Message": "Message must be shorter than 2048 bytes.", "SenderFault": True},
            Failure("size", "InvalidParameterValue", "InvalidParameterValue Message must be shorter than 2048 bytes."),
        ),
        ({}, Failure("unknown", "", "its answer does not say why")),
    ],
)  # fmt: skip
def test_an_entry_that_failed_says_whether_it_may_be_taken_later(entry: dict[str, object], failure: Failure) -> None:
    assert batch_failures({"Failed": [{"Id": "0", **entry}]}, 1) == {0: failure}
