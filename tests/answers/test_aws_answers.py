"""The one owner of what an answer of AWS means says what the table says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from answers.aws_answers import ANSWERS, FOR_GOOD, NO_ANSWERS, RESETS, S3, Answer, error_of
from recoverable._sqs.answers import (
    Failure,
    call_failure,
    code_of,
    describe_error,
    object_problem,
    status_of,
    was_reset,
)
from recoverable._sqs.batches import Result, batch_failures, send_singly

if TYPE_CHECKING:
    from recoverable._sqs.answers import Kind, ObjectProblem

each_answer = pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)


@each_answer
def test_a_call_that_failed(answer: Answer) -> None:
    error = answer.as_error()

    assert call_failure(error) == Failure(answer.whole_call, answer.code, str(error))


@each_answer
def test_an_entry_that_failed(answer: Answer) -> None:
    failures = batch_failures({"Failed": [answer.as_entry(at_fault=True)]}, 1)

    assert failures == {0: Failure(answer.at_fault, answer.code, f"{answer.code} {answer.text}")}


@each_answer
def test_an_entry_for_which_the_sender_is_not_at_fault_was_not_done(answer: Answer) -> None:
    assert batch_failures({"Failed": [answer.as_entry(at_fault=False)]}, 1)[0].kind == "busy"


def test_an_entry_that_failed_without_a_reason() -> None:
    failure = Failure("unknown", "", "its answer does not say why")

    assert batch_failures({"Failed": [{"Id": "0"}]}, 1) == {0: failure}


@pytest.mark.parametrize(("kind", "error"), NO_ANSWERS, ids=lambda each: type(each).__name__)
def test_a_call_without_an_answer(kind: Kind, error: Exception) -> None:
    assert call_failure(error) == Failure(kind, "", describe_error(error))


@pytest.mark.parametrize(("reset", "error"), RESETS)
def test_a_connection_that_ended_under_a_call(reset: bool, error: Exception) -> None:  # noqa: FBT001  # a parameter
    assert was_reset(error) is reset


@each_answer
def test_what_is_refused_for_good_is_not_repeated_and_what_may_have_been_done_neither(answer: Answer) -> None:
    failure, kind = call_failure(answer.as_error()), answer.whole_call

    assert (failure.is_for_good, failure.may_repeat) == (kind in FOR_GOOD, kind in {"busy", "unknown"})


@each_answer
def test_only_what_is_refused_for_one_entry_is_sent_one_by_one(answer: Answer) -> None:
    failure, calls = call_failure(answer.as_error()), []

    def send(entries: object) -> Result:
        calls.append(entries)
        return Result({0: failure}, as_a_whole=True)

    failures = send_singly(Result({0: failure, 1: failure}, as_a_whole=True), send, [{"n": 0}, {"n": 1}])

    alone = answer.whole_call in FOR_GOOD and not answer.concerns_destination
    assert (failures, calls) == ({0: failure, 1: failure}, [[{"n": 0}], [{"n": 1}]] if alone else [])


@pytest.mark.parametrize(("problem", "status", "code"), S3)
def test_an_object_that_s3_does_not_give(problem: ObjectProblem | None, status: int, code: str) -> None:
    assert object_problem(error_of(code, status, "GetObject")) == problem


def test_an_answer_without_a_code_has_none() -> None:
    error = error_of("", 400, "PutItem")

    assert (code_of(error), status_of(error), call_failure(error).kind) == ("", 400, "unknown")


def test_what_is_no_answer_has_neither_code_nor_status() -> None:
    assert (code_of(ValueError("no")), status_of(None)) == ("", 0)
