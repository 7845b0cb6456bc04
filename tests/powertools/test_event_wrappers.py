"""Powertools' decorators around a function that calls an endpoint: what `event_source` wraps is taken, and what is no event is refused with what is wanted."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import SQSEvent, event_source
from aws_lambda_powertools.utilities.parser.models import SqsModel

from aws.harness import Context, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Message


def fail(message: Message) -> None:
    raise ValueError("no")


def test_an_endpoint_behind_event_source_moves_what_fails() -> None:
    client = RecordingClient()
    endpoint: Any = sqs_endpoint(fail, ladder("error"), client=client.as_client())

    @event_source(data_class=SQSEvent)
    def handler(event: SQSEvent, context: Any) -> Any:
        return endpoint(event, context)

    call: Any = handler
    assert call(event(record("hello")), Context()) == {"batchItemFailures": []}
    assert [entry["MessageBody"] for entry in client.sent] == ["hello"]


def test_a_model_instead_of_the_event_as_event_parser_gives_it_is_refused_and_settles_nothing() -> None:
    parsed: Any = SqsModel.model_construct(Records=[])

    with pytest.raises(ValueError, match="no SQS event: a SqsModel; wanted is what an event source mapping sends"):
        sqs_endpoint(fail, ladder("error"))(parsed, Context())
