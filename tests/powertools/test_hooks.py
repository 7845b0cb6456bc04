"""The hooks that users override, and what `process` answers: as Powertools calls them, once for each attempt."""

from __future__ import annotations

import logging
import time
from inspect import signature
from typing import Any

import pytest
from aws_lambda_powertools.utilities.batch import BatchProcessor, ExceptionInfo, FailureResponse, SuccessResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import event, record
from builders import seconds
from powertools.entry_points import Context, powertools_function
from recoverable import HandlerTimeout, Immediate
from recoverable.extensions import Observe
from recoverable.powertools import RecoverableBatchProcessor

GOOD, BAD = record("good", message_id="native-1"), record("bad", message_id="native-2")


class RecordingProcessor(RecoverableBatchProcessor):
    """A user's processor that notes the calls of its hooks."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("recoverability", ladder("error"))
        super().__init__(client=RecordingClient().as_client(), **settings)
        self.calls: list[tuple[Any, ...]] = []

    def success_handler(self, record: Any, result: Any) -> SuccessResponse:
        self.calls.append(("success", record["messageId"], result))
        return super().success_handler(record, result)

    def failure_handler(self, record: Any, exception: ExceptionInfo) -> FailureResponse:
        self.calls.append(("failure", record.message_id, exception))
        return super().failure_handler(record, exception)


def place(record: SQSRecord) -> str:
    """Return a record handler: good orders pass."""
    if record.body != "good":
        raise ValueError("no")
    return "placed"


def test_a_success_hook_gets_the_raw_record_and_the_answer() -> None:
    processor = RecordingProcessor()

    powertools_function(place, processor)(event(GOOD), Context())

    successes: list[Any] = [*processor.success_messages]
    assert (processor.calls, successes) == ([("success", "native-1", "placed")], [GOOD])


def test_a_failure_hook_gets_the_handler_s_record_and_its_exception() -> None:
    processor = RecordingProcessor()

    powertools_function(place, processor)(event(BAD), Context())

    ((what, which, (kind, error, trace)),) = processor.calls
    assert (what, which, kind, str(error)) == ("failure", "native-2", ValueError, "no")
    assert (trace is error.__traceback__, processor.exceptions) == (True, [(kind, error, trace)])
    assert processor.fail_messages == [SQSRecord(BAD)]


def test_process_answers_what_the_hooks_answered() -> None:
    processor = RecordingProcessor()

    with processor(records=[GOOD, BAD], handler=place):
        answers = processor.process()

    assert answers == [("success", "placed", GOOD), ("fail", "<class 'ValueError'>:no", SQSRecord(BAD))]


def test_no_hook_is_called_for_a_message_of_which_no_attempt_was_made() -> None:
    processor = RecordingProcessor()

    powertools_function(place, processor)(event(GOOD, BAD), Context(0.0))

    assert processor.calls == []


def test_a_failure_hook_gets_the_time_out_of_a_handler_that_was_stopped() -> None:
    processor = RecordingProcessor(handler_timeout=seconds(0.05))

    powertools_function(lambda record: time.sleep(60), processor)(event(GOOD), Context())

    ((_, _, (kind, _, _)),) = processor.calls
    assert kind is HandlerTimeout


def test_a_success_hook_that_raises_makes_the_attempt_a_failed_one() -> None:
    class Strict(RecordingProcessor):
        def success_handler(self, record: Any, result: Any) -> SuccessResponse:
            raise RuntimeError("not what was wanted")

    processor = Strict(recoverability=ladder("error", immediate=1))

    answer = powertools_function(place, processor)(event(GOOD), Context())

    assert (answer, [what for what, *_ in processor.calls]) == (
        {"batchItemFailures": [{"itemIdentifier": "native-1"}]},
        ["failure"],
    )


def test_a_failure_hook_that_raises_is_logged_and_stands_in_no_message_s_way(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(RecordingProcessor):
        def failure_handler(self, record: Any, exception: ExceptionInfo) -> FailureResponse:
            raise RuntimeError("the hook is broken")

    answer = powertools_function(place, Broken())(event(BAD, GOOD), Context())

    assert answer == {"batchItemFailures": []}
    assert (
        "recoverable",
        logging.ERROR,
        "Calling failure_handler of Broken failed. Recovery goes on with the message's own failure. Check the traceback of this log entry.",
    ) in caplog.record_tuples


@pytest.mark.skipif("logger" not in signature(BatchProcessor).parameters, reason="this Powertools takes no logger")
def test_powertools_own_logger_warns_of_a_failed_attempt(caplog: pytest.LogCaptureFixture) -> None:
    processor = RecordingProcessor(logger=logging.getLogger("shop"))

    powertools_function(place, processor)(event(BAD), Context())

    assert ("shop", logging.WARNING, "Record processing exception; skipping this record") in caplog.record_tuples


def test_each_attempt_in_process_calls_the_hooks() -> None:
    settings = ladder("error").__replace__(immediate=Immediate(2, in_process=True))
    processor, answers = RecordingProcessor(recoverability=settings), iter([False, False, True])

    def third_time_lucky(record: SQSRecord) -> str:
        return place(record) if not next(answers) else "placed"

    powertools_function(third_time_lucky, processor)(event(BAD), Context())

    assert [call[0] for call in processor.calls] == ["failure", "failure", "success"]


def test_what_a_hook_raises_passes_the_redactor_too(caplog: pytest.LogCaptureFixture) -> None:
    class Careless(RecordingProcessor):
        def failure_handler(self, record: Any, exception: ExceptionInfo) -> FailureResponse:
            raise ValueError("wrong password hunter2")

    settings = ladder("error").replace(redact=lambda text: text.replace("hunter2", "***"))

    powertools_function(place, Careless(recoverability=settings))(event(BAD), Context())

    assert "wrong password ***" in caplog.text
    assert "hunter2" not in caplog.text


def test_callbacks_are_called_as_with_the_endpoint() -> None:
    told: list[tuple[str, str]] = []
    observe = Observe(
        on_error=lambda facts, message: told.append((facts.action, message.text)), cloudwatch_namespace=None
    )

    powertools_function(place, RecordingProcessor(recoverability=ladder("error"), extensions=(observe,)))(
        event(GOOD, BAD), Context()
    )

    assert told == [("move_to_error", "bad")]
