"""Each reader of the answers of AWS understands them as the table says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from recoverable.timeouts._stores.dynamodb.calls import Calls
from recoverable.timeouts._stores.dynamodb.errors import ConditionFailed
from recoverable.timeouts._stores.s3.store import problem_with_object

from answers.aws_answers import ANSWERS, DYNAMODB, FOR_GOOD, NO_ANSWERS, NOT_AT_FAULT, S3, Answer, Meaning, error_of
from answers.cases import cases
from builders import NOW, delivery
from recoverable._rate_limit.state import CLOSED, Snapshot
from recoverable._sqs.answers import call_failure, describe_error, entry_failure, failures_in
from recoverable._sqs.objects import problem
from recoverable._sqs.queues import queue_from_arn
from recoverable.aws import DynamoDbCircuit
from recoverable.aws._circuit_store import ABSENT
from recoverable.aws._outgoing.dispatch import Item, send_once
from recoverable.aws._outgoing.entries import Letter
from recoverable.aws._outgoing.fitting import is_at_fault
from recoverable.aws._pause import PauseStore
from recoverable.timeouts import StoreUnavailable
from recoverable.timeouts._client import Outcome, Sender
from recoverable_operate.aws.answers import describe
from recoverable_operate.migration.targets import SqsTarget
from waiting.rows import timeout

QUEUE_URL, QUEUE_ARN = "https://sqs.eu-west-1.amazonaws.com/1/orders", "arn:aws:sqs:eu-west-1:1:orders"

CODES = [(each.name, each) for each in ANSWERS]
RAISED = [(type(error).__name__, (meaning, error)) for meaning, error in NO_ANSWERS]

CREDENTIALS = (
    "ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "InvalidSignatureException", "RequestExpired",
    "SignatureDoesNotMatch", "UnrecognizedClientException",
)  # fmt: skip
TOO_LONG = ("AWS.SimpleQueueService.BatchRequestTooLong", "BatchRequestTooLong")
NOT_KNOWN_AS_BUSY = ("ProvisionedThroughputExceededException", "RequestTimeout", "RequestTimeoutException")
KEY_IS_OFF = (
    "KMS.DisabledException", "KmsDisabled", "KmsInvalidKeyUsage", "KmsInvalidState", "KmsNotFound", "KmsOptInRequired",
)  # fmt: skip

KINDS = {
    "missing": "refused",
    "denied": "refused",
    "refused": "refused",
    "size": "size",
    "transient": "busy",
    "unknown": "busy",
    "lost": "unknown",
}
"""The kinds of failure by which the endpoint settles, by the meaning of an answer."""


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


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "expired or wrong credentials are refused for good": CREDENTIALS,
            "a batch that is too long has another kind than a message that is": TOO_LONG,
            "the code is not known as one that asks to repeat": NOT_KNOWN_AS_BUSY,
            "an aborted request is refused for good": ["RequestAbortedException"],
            "an unknown code is refused for good": ["SomethingElse"],
        },
    ),
)
def test_the_endpoint_understands_a_call_that_failed(answer: Answer) -> None:
    error = answer.as_error()

    assert call_failure(error, describe_error(error)) == (KINDS[answer.whole_call], str(error))


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "expired or wrong credentials are refused for good": CREDENTIALS,
            "a batch that is too long has another kind than a message that is": TOO_LONG,
            "the code is not known as one that asks to repeat": NOT_KNOWN_AS_BUSY,
            "it asks to repeat by its status alone, which an entry does not have": ["TooManyRequestsException"],
            "an error of the server is refused for good": ["InternalError", "InternalFailure"],
            "an aborted request is refused for good": ["RequestAbortedException"],
        },
    ),
)
def test_the_endpoint_understands_an_entry_that_failed(answer: Answer) -> None:
    failure = failures_in({"Failed": [answer.as_entry(at_fault=True)]}, 1)[0]

    assert failure == (KINDS[answer.at_fault], f"{answer.code} {answer.text}")


@pytest.mark.parametrize("answer", cases(CODES, {}))
def test_the_endpoint_repeats_an_entry_for_which_the_sender_is_not_at_fault(answer: Answer) -> None:
    assert entry_failure(answer.as_entry(at_fault=False)).kind == KINDS[NOT_AT_FAULT]


@pytest.mark.xfail(strict=True, reason="an entry without a code and without SenderFault is refused for good")
def test_the_endpoint_repeats_an_entry_that_failed_without_a_reason() -> None:
    assert entry_failure({"Id": "0"}).kind == KINDS["unknown"]


@pytest.mark.parametrize(
    "raised",
    cases(
        RAISED,
        {
            "a call without credentials is not known as one that reached nobody": [
                "CredentialRetrievalError",
                "NoCredentialsError",
            ],
            "a call that boto3 does not make counts as one whose answer was lost": ["ParamValidationError"],
        },
    ),
)
def test_the_endpoint_understands_a_call_without_an_answer(raised: tuple[Meaning, Exception]) -> None:
    meaning, error = raised

    assert call_failure(error, "why").kind == KINDS[meaning]


@pytest.mark.parametrize("answer", cases(CODES, {}))
def test_no_answer_counts_as_a_handler_that_sends_more_than_there_is_time_for(answer: Answer) -> None:
    error = answer.as_error()
    invocation: Any = SimpleNamespace(started=1, clock=lambda: NOW)

    assert not is_at_fault(delivery(), call_failure(error, describe_error(error)), invocation)


def calls_for_two(answer: Answer) -> int:
    """Return how many calls two entries take that are refused together: what concerns one of them is sent one by one."""
    return 3 if answer.whole_call in FOR_GOOD and not answer.concerns_destination else 1


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "its text does not contain the words for a destination": ["InvalidAddress", "QueueDoesNotExist"],
            "its text contains the words for a destination": ["InvalidAttributeValue (refused)"],
            "it is refused for good, so each entry is sent again": (
                *CREDENTIALS, *NOT_KNOWN_AS_BUSY, "RequestAbortedException", "SomethingElse",
            ),
        },
    ),
)  # fmt: skip
def test_outgoing_messages_are_not_sent_one_by_one_to_a_destination_that_refuses_all(answer: Answer) -> None:
    queue = queue_from_arn(QUEUE_ARN)
    items = [Item(delivery(id=name), Letter(queue, {}, 1, None, None, name)) for name in ("one", "two")]
    error, calls = answer.as_error(), []

    def call(operation: object, to: object, entries: list[object]) -> Any:
        calls.append(len(entries))
        return dict.fromkeys(range(len(entries)), call_failure(error, describe_error(error))), True

    broker: Any = SimpleNamespace(call=call)
    send_once(items, broker)

    assert len(calls) == calls_for_two(answer)


UNKNOWN_TO_TIMEOUTS = {
    "the code is not among those that say nothing about the message": [
        "KMS.ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "RequestTimeout", "Throttled",
    ],
    "an unknown code is refused for good": ["SomethingElse"],
}  # fmt: skip


@pytest.mark.parametrize("answer", cases(CODES, UNKNOWN_TO_TIMEOUTS))
def test_timeouts_understand_a_call_that_failed(answer: Answer) -> None:
    why = str(answer.as_error())

    outcome = sender_to(Client(answer.as_error())).send(QUEUE_URL, [{}])

    assert outcome == (Outcome(refused={0: why}) if answer.whole_call in FOR_GOOD else Outcome(failed=why))


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "the code is not among those that say nothing about the message": [
                "InternalError", "InternalFailure", "KMS.ThrottlingException", "ProvisionedThroughputExceededException",
                "RequestLimitExceeded", "RequestTimeout", "ServiceUnavailable", "SlowDown", "Throttled",
            ],
        },
    ),
)  # fmt: skip
def test_timeouts_understand_an_entry_that_failed(answer: Answer) -> None:
    why = f"{answer.code} {answer.text}"

    outcome = sender_to(Client({"Failed": [answer.as_entry(at_fault=True)]})).send(QUEUE_URL, [{}])

    assert outcome == (Outcome([], {0: why}) if answer.at_fault in FOR_GOOD else Outcome([], {}, why))


@pytest.mark.parametrize("answer", cases(CODES, {}))
def test_timeouts_keep_an_entry_for_which_the_sender_is_not_at_fault(answer: Answer) -> None:
    outcome = sender_to(Client({"Failed": [answer.as_entry(at_fault=False)]})).send(QUEUE_URL, [{}])

    assert outcome == Outcome([], {}, f"{answer.code} {answer.text}")


@pytest.mark.parametrize("raised", cases(RAISED, {}))
def test_timeouts_understand_a_call_without_an_answer(raised: tuple[Meaning, Exception]) -> None:
    meaning, error = raised
    why = describe_error(error)

    outcome = sender_to(Client(error)).send(QUEUE_URL, [{}])

    assert outcome == (Outcome(refused={0: why}) if meaning in FOR_GOOD else Outcome(failed=why))


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "a key that refuses all is not known as such": KEY_IS_OFF,
            "the code of SNS is not known": ["AuthorizationError", "NotFound"],
            **UNKNOWN_TO_TIMEOUTS,
        },
    ),
)  # fmt: skip
def test_timeouts_are_not_sent_one_by_one_to_a_queue_that_refuses_all(answer: Answer) -> None:
    client = Client(answer.as_error())

    sender_to(client).send(QUEUE_URL, [{}, {}])

    assert client.calls == calls_for_two(answer)


@pytest.mark.parametrize("answer", cases(CODES, UNKNOWN_TO_TIMEOUTS))
def test_a_migration_releases_what_is_refused_and_holds_what_sqs_may_have(answer: Answer) -> None:
    made = timeout(NOW, to=QUEUE_URL)

    sent = SqsTarget(sender_to(Client(answer.as_error()))).send([made], NOW)

    refused = answer.whole_call in FOR_GOOD
    assert (set(sent.refused), set(sent.unconfirmed)) == (({made.id}, set()) if refused else (set(), {made.id}))


def missing_by(text: str) -> str:
    """Return what a command's line says is missing: a permission of KMS or of SQS, the queue, or nothing."""
    said = {"kms:": "kms", "sqs:": "sqs", "there is no queue": "queue"}
    return next((what for part, what in said.items() if part in text), "")


@pytest.mark.parametrize(
    "answer",
    cases(
        CODES,
        {
            "a permission of SQS is named where one of the key is missing": ["KMS.AccessDeniedException", "KmsAccessDenied"],
            "a permission is named where the key is disabled or missing": KEY_IS_OFF,
            "a permission is named where the key is busy": ["KMS.ThrottlingException", "KmsThrottled"],
            "the code is not known": ["AuthorizationError", "InvalidAddress", "NotFound"],
        },
    ),
)  # fmt: skip
def test_a_command_names_the_queue_or_the_permission_that_is_missing(answer: Answer) -> None:
    named = {"denied": "kms" if answer.concerns_key else "sqs", "missing": "queue"}

    assert missing_by(describe(answer.as_error(), "orders")) == named.get(answer.whole_call, "")


STORED = [(code or "no code", (meaning, error_of(code, status, "PutItem"))) for meaning, status, code in DYNAMODB]
WITHOUT_CODE = {"an answer without a code raises KeyError": ["no code"]}


def refusing(error: Exception) -> Any:
    """Return a DynamoDB client that answers each write with an error."""

    def refuse(**_: object) -> None:
        raise error

    return SimpleNamespace(put_item=refuse, delete_item=refuse)


@pytest.mark.parametrize("stored", cases(STORED, WITHOUT_CODE))
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


@pytest.mark.parametrize("stored", cases(STORED, WITHOUT_CODE))
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


@pytest.mark.parametrize("stored", cases(STORED, {}))
def test_a_store_of_timeouts_is_unavailable_unless_a_condition_did_not_hold(stored: tuple[str, Exception]) -> None:
    meaning, error = stored

    with pytest.raises(ConditionFailed if meaning == "condition" else StoreUnavailable):
        Calls(lambda: refusing(error), "timeouts").call("put_item")


OBJECTS = [(code, (meaning, error_of(code, status, "GetObject"))) for meaning, status, code in S3]


def problem_in(text: str | None) -> str:
    """Return what a text says of an object: access is denied, it or its bucket is gone, or nothing of these."""
    said = {"denies access": "denied", "gone": "gone", "no such bucket": "gone"}
    return next((what for part, what in said.items() if part in (text or "")), "")


@pytest.mark.parametrize(
    "found",
    cases(
        OBJECTS,
        {
            "the code of other services for wrong credentials is not known": [
                "InvalidClientTokenId",
                "UnrecognizedClientException",
            ]
        },
    ),
)
def test_a_stored_message_has_a_problem_only_where_asking_again_does_not_help(found: tuple[str, Exception]) -> None:
    meaning, error = found

    assert (problem_with_object(error) is not None) == (meaning != "transient")


@pytest.mark.parametrize("found", cases(OBJECTS, {"the code of an answer without a text is not known": ["403"]}))
def test_the_problem_of_a_stored_message_says_whether_it_is_gone_or_denied(found: tuple[str, Exception]) -> None:
    meaning, error = found

    assert problem_in(problem_with_object(error)) == (meaning if meaning in {"gone", "denied"} else "")


@pytest.mark.parametrize("found", cases(OBJECTS, {}))
def test_the_problem_of_a_large_body_says_whether_it_is_gone_or_denied(found: tuple[str, Exception]) -> None:
    meaning, error = found

    assert problem_in(problem(error, "bodies", "key")) == (meaning if meaning in {"gone", "denied"} else "")
