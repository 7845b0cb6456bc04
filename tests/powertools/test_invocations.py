"""A processor made once and used for many invocations: what one of them left is nothing to the next."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import event, record
from powertools.entry_points import Context, powertools_function
from recoverable import Message
from recoverable.powertools import RecoverableBatchProcessor


@pytest.fixture
def processor() -> RecoverableBatchProcessor:
    return RecoverableBatchProcessor(ladder("error", immediate=1), client=RecordingClient().as_client())


def place(record: SQSRecord) -> str:
    if record.body == "bad":
        raise ValueError("no")
    return "placed"


def test_the_failures_of_an_invocation_are_not_the_next_one_s(processor: RecoverableBatchProcessor) -> None:
    handler = powertools_function(place, processor)

    answers = [handler(event(record(body)), Context()) for body in ("bad", "good", "bad")]

    reported = {"batchItemFailures": [{"itemIdentifier": "native-1"}]}
    assert answers == [reported, {"batchItemFailures": []}, reported]
    assert (len(processor.exceptions), processor.success_messages) == (1, [])


def test_the_context_of_an_earlier_invocation_does_not_limit_one_without_context(
    processor: RecoverableBatchProcessor,
) -> None:
    out_of_time = powertools_function(place, processor)(event(record("good")), Context(0.0))

    assert powertools_function(place, processor)(event(record("good")), None) == {"batchItemFailures": []}
    assert (out_of_time, len(processor.success_messages)) == (
        {"batchItemFailures": [{"itemIdentifier": "native-1"}]},
        1,
    )


def test_a_handler_that_asks_for_the_context_gets_that_of_its_own_invocation(
    processor: RecoverableBatchProcessor,
) -> None:
    seen: list[Any] = []

    def watch(record: SQSRecord, lambda_context: Any = "not given") -> None:
        seen.append(lambda_context)

    handler, contexts = powertools_function(watch, processor), [Context(), None, Context()]
    for context in contexts:
        handler(event(record()), context)

    assert seen == [contexts[0], "not given", contexts[2]]


def test_the_message_has_the_context_that_powertools_was_given(processor: RecoverableBatchProcessor) -> None:
    seen: list[Any] = []

    def watch(record: SQSRecord, message: Message) -> None:
        seen.append(message.context)

    handler, contexts = powertools_function(watch, processor), [Context(), None]
    for context in contexts:
        handler(event(record()), context)

    assert seen == contexts


def test_after_an_invocation_that_broke_the_response_has_the_whole_batch_come_back(
    processor: RecoverableBatchProcessor,
) -> None:
    """An empty identifier fails the whole batch (Lambda Developer Guide, "Handling errors for an SQS event source")."""
    powertools_function(place, processor)(event(record("good")), Context())
    broken: dict[str, Any] = {"Records": [{"messageId": "native-1"}]}

    with pytest.raises(ValueError, match="no SQS event"):
        powertools_function(place, processor)(broken, Context())

    assert processor.response() == {"batchItemFailures": [{"itemIdentifier": ""}]}
