"""Each caller asks the one owner what an answer of AWS means: a claim for each of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from answers.aws_answers import ANSWERS, DYNAMODB, S3, Answer, error_of
from builders import NOW, delivery
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import CLOSED, Snapshot
from recoverable._sqs.answers import call_failure
from recoverable._sqs.sender import Sender, Sent
from recoverable.aws._send import is_at_fault
from recoverable.circuits import DynamoDbCircuit
from recoverable.circuits._dynamodb import ABSENT
from recoverable.circuits._pause import PauseStore
from recoverable.extensions._s3_bodies import describe_problem
from recoverable.timeouts._dynamodb_table import Table, problem_with_object
from recoverable_operate._check.aws_client import asked
from recoverable_operate._migration.moving import SqsTarget
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.answers import describe
from recoverable_operate.rules import Unknown
from waiting.rows import timeout

QUEUE_URL, QUEUE_ARN = "https://sqs.eu-west-1.amazonaws.com/1/orders", "arn:aws:sqs:eu-west-1:1:orders"

BY_KIND = {each.whole_call: each for each in ANSWERS}
each_answer = pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
each_kind = pytest.mark.parametrize("answer", BY_KIND.values(), ids=BY_KIND)


class Client:
    """An SQS client that answers each send alike, and counts the calls.

    Args:
        answer: what it answers, or raises.
    """

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self._answer, self.calls = answer, 0
        self.meta = SimpleNamespace(endpoint_url="https://sqs.eu-west-1.amazonaws.com")

    def send_message_batch(self, **_: object) -> dict[str, Any]:
        self.calls += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def sender_to(client: Client) -> Sender:
    """Return a sender that has this client."""
    given: Any = client
    return Sender(given)


@each_kind
def test_no_answer_counts_as_a_handler_that_sends_more_than_there_is_time_for(answer: Answer) -> None:
    invocation: Any = SimpleNamespace(started=1, clock=lambda: NOW)

    assert not is_at_fault(delivery(), call_failure(answer.as_error()), invocation)


@each_kind
def test_a_sender_refuses_or_keeps_by_the_kind_of_a_failed_call(answer: Answer) -> None:
    failure = call_failure(answer.as_error())

    outcome = sender_to(Client(answer.as_error())).send(QUEUE_URL, [{}])

    refused = Sent([], {0: failure.reason})
    assert outcome == (refused if failure.is_for_good else Sent([], {}, failure.reason, busy=failure.kind == "busy"))


def test_a_sender_says_of_each_entry_what_became_of_it() -> None:
    client = Client(
        {
            "Successful": [{"Id": "0"}],
            "Failed": [
                {"Id": "1", "Code": "InvalidMessageContents", "Message": "no", "SenderFault": True},
                {"Id": "2", "Code": "Throttled", "Message": "no", "SenderFault": True},
            ],
        }
    )

    outcome = sender_to(client).send(QUEUE_URL, [{}, {}, {}])

    assert outcome == Sent([0], {1: "InvalidMessageContents no"}, "Throttled no", busy=True)


def test_a_sender_asks_a_queue_once_that_refuses_all() -> None:
    client = Client(error_of("KMS.DisabledException", 400, "SendMessageBatch"))

    sender_to(client).send(QUEUE_URL, [{}, {}])

    assert client.calls == 1


@each_kind
def test_a_migration_releases_what_is_refused_and_holds_what_sqs_may_have(answer: Answer) -> None:
    made = timeout(NOW, to=QUEUE_URL)

    sent = SqsTarget(sender_to(Client(answer.as_error()))).send([made], NOW)

    refused = call_failure(answer.as_error()).is_for_good
    assert (set(sent.refused), set(sent.unconfirmed)) == (({made.id}, set()) if refused else (set(), {made.id}))


def missing_by(text: str) -> str:
    """Return what a command's line says is missing: a permission of KMS or of SQS, the queue, or nothing."""
    said = {"kms:": "kms", "sqs:": "sqs", "there is no queue": "queue"}
    return next((what for part, what in said.items() if part in text), "")


@each_answer
def test_a_command_names_the_queue_or_the_permission_that_is_missing(answer: Answer) -> None:
    named = {"denied": "kms" if answer.concerns_key else "sqs", "missing": "queue"}

    assert missing_by(describe(answer.as_error(), "orders")) == named.get(answer.whole_call, "")


@pytest.mark.parametrize("kind", ["missing", "denied", "refused", "unknown"])
def test_a_check_does_not_know_what_it_may_not_ask(kind: Any) -> None:
    assert isinstance(asked("sqs", "orders", lambda: refuse(BY_KIND[kind].as_error())), Unknown)


@pytest.mark.parametrize("kind", ["busy", "lost"])
def test_a_check_fails_where_the_next_answer_may_be_another(kind: Any) -> None:
    with pytest.raises(OperateError):
        asked("sqs", "orders", lambda: refuse(BY_KIND[kind].as_error()))


def refuse(error: Exception) -> None:
    """Raise the error."""
    raise error


each_answer_of_dynamodb = pytest.mark.parametrize(
    "stored",
    [(meaning, error_of(code, status, "PutItem")) for meaning, status, code in DYNAMODB],
    ids=[code or "no code" for _, _, code in DYNAMODB],
)


def refusing(error: Exception) -> Any:
    """Return a DynamoDB client that answers each write with an error."""
    return SimpleNamespace(put_item=lambda **_: refuse(error), delete_item=lambda **_: refuse(error))


@each_answer_of_dynamodb
def test_a_circuit_is_unavailable_unless_a_condition_did_not_hold(stored: tuple[str, Exception]) -> None:
    meaning, error = stored
    store = DynamoDbCircuit("circuits", "orders", client=refusing(error))

    def change() -> object:
        return store.compare_and_set(Snapshot(CLOSED, ABSENT), CLOSED)

    if meaning == "condition":
        assert change() is None
    else:
        with pytest.raises(StoreUnavailable):
            change()


@each_answer_of_dynamodb
def test_a_mark_is_not_removed_now_unless_a_condition_did_not_hold(stored: tuple[str, Exception]) -> None:
    meaning, error = stored
    store = PauseStore(
        DynamoDbCircuit("circuits", "orders"), queue_arn=QUEUE_ARN, function="orders", dynamodb=refusing(error)
    )

    if meaning == "condition":
        store.remove_mark("")
    else:
        with pytest.raises(StoreUnavailable):
            store.remove_mark("")


@each_answer_of_dynamodb
def test_a_store_of_timeouts_is_unavailable_unless_a_condition_did_not_hold(stored: tuple[str, Exception]) -> None:
    meaning, error = stored
    table = Table(lambda: refusing(error), "timeouts", sleep=lambda _: None)

    if meaning == "condition":
        assert table.put({}) is None
    else:
        with pytest.raises(StoreUnavailable):
            table.put({})


def test_what_keeps_s3_from_giving_an_object_is_said_of_timeouts_and_of_large_bodies() -> None:
    errors = {problem: error_of(code, status, "GetObject") for problem, status, code in S3}

    assert {problem: problem_with_object(error) for problem, error in errors.items()} == {
        "archived": "its message is in an archive of S3",
        "denied": "S3 denies access to its message, or it is gone and the right s3:ListBucket is missing",
        "gone": "its message is gone from S3",
        "no bucket": "the bucket of its message is gone",
        "other": "S3 does not give its message (SomethingElse)",
        None: None,
    }
    said = {problem: describe_problem(error, "bodies", "key") for problem, error in errors.items()}
    assert {problem: text.partition("cannot be fetched: ")[2][:23] for problem, text in said.items()} == {
        "archived": "the object is in an arc",
        "denied": "S3 denies access. Allow",
        "gone": "the object is gone: a l",
        "no bucket": "there is no such bucket",
        "other": "An error occurred (Some",
        None: "An error occurred (Slow",
    }
