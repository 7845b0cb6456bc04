"""What the answers of SQS, SNS, DynamoDB and S3 mean: the tables that every reader of such answers is held to."""

from __future__ import annotations

from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from ssl import SSLEOFError
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from botocore import exceptions
from urllib3.exceptions import ClosedPoolError, ProtocolError

if TYPE_CHECKING:
    from recoverable._sqs.answers import Kind, ObjectProblem

FOR_GOOD = {"missing", "denied", "refused", "size"}


class Answer(NamedTuple):
    """One answer, and what it means in each of the places where SQS and SNS can give it.

    Args:
        code: the error's code.
        status: the HTTP status of a call that fails with it as a whole.
        whole_call: its meaning when a call fails with it.
        at_fault: its meaning for an entry of a batch whose SenderFault is true.
        text: the error's text.
    """

    code: str
    status: int
    whole_call: Kind
    at_fault: Kind
    text: str = "no"

    @property
    def name(self) -> str:
        """Return its name in a test."""
        return self.code if self.text == "no" else f"{self.code} ({self.whole_call})"

    @property
    def concerns_key(self) -> bool:
        """True if it is about the key of a queue or topic."""
        return self.code.lower().startswith("kms")

    @property
    def concerns_destination(self) -> bool:
        """True if it refuses whatever is sent to this queue or topic, and not one entry."""
        return self.whole_call in {"missing", "denied"} or (self.whole_call == "refused" and self.concerns_key)

    def as_error(self) -> exceptions.ClientError:
        """Return it as boto3 raises it for a whole call."""
        return error_of(self.code, self.status, "SendMessageBatch", self.text)

    def as_entry(self, *, at_fault: bool) -> dict[str, Any]:
        """Return it as the answer for the first entry of a batch."""
        return {"Id": "0", "Code": self.code, "Message": self.text, "SenderFault": at_fault}


def error_of(code: str, status: int, operation: str, text: str = "no") -> exceptions.ClientError:
    """Return an answer as boto3 raises it; one without a code has no error in it."""
    response: Any = {"ResponseMetadata": {"HTTPStatusCode": status}}
    return exceptions.ClientError(response | ({"Error": {"Code": code, "Message": text}} if code else {}), operation)


def known(meaning: Kind, status: int, *codes: str, text: str = "no") -> list[Answer]:
    """Return answers that mean the same for a whole call and for an entry."""
    return [Answer(code, status, meaning, meaning, text) for code in codes]


TOO_LARGE = "One or more parameters are invalid. Reason: Message must be shorter than 2048 bytes."

ANSWERS = [  # Amazon SQS and SNS API references, "Errors" of each batch operation and "Common errors"; botocore's models
    *known("missing", 400, "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"),
    *known("missing", 404, "InvalidAddress", "NotFound"),
    *known("denied", 403, "AccessDenied", "AuthorizationError"),
    *known("denied", 400, "AccessDeniedException", "KMS.AccessDeniedException", "KmsAccessDenied"),
    *known(
        "refused", 400, "InvalidMessageContents", "InvalidParameterValue", "MissingParameter", "ValidationException"
    ),
    *known("refused", 400, "AWS.SimpleQueueService.UnsupportedOperation", "KMS.DisabledException"),
    *known("refused", 400, "KmsDisabled", "KmsInvalidKeyUsage", "KmsInvalidState", "KmsNotFound"),
    *known("refused", 403, "InvalidSecurity", "KmsOptInRequired"),
    *known("refused", 400, "InvalidAttributeValue", text="The value of the attribute 'kms-disabled' is not valid."),
    *known("size", 400, "AWS.SimpleQueueService.BatchRequestTooLong", "BatchRequestTooLong"),
    *known("size", 400, "InvalidParameterValue", text=TOO_LARGE),  # has no code of its own
    *known("busy", 400, "KMS.ThrottlingException", "KmsThrottled", "Throttling", "ThrottlingException"),
    *known("busy", 400, "ProvisionedThroughputExceededException", "RequestLimitExceeded", "RequestTimeout"),
    *known("busy", 403, "OverLimit", "RequestThrottled"),
    *known("busy", 408, "RequestTimeoutException"),
    *known("busy", 429, "Throttled", "TooManyRequestsException"),
    *known("busy", 503, "ServiceUnavailable", "SlowDown"),
    # credentials that are expired or wrong are renewed or corrected; neither the message nor its queue is at fault
    *known("busy", 400, "ExpiredTokenException", "InvalidSignatureException", "RequestExpired"),
    *known("busy", 400, "UnrecognizedClientException"),
    *known("busy", 403, "ExpiredToken", "InvalidClientTokenId", "SignatureDoesNotMatch"),
    # a call may have been carried out before the server failed; an entry that an answer lists as failed was not
    Answer("InternalError", 500, "lost", "busy"),
    Answer("InternalFailure", 500, "lost", "busy"),
    Answer("RequestAbortedException", 400, "lost", "busy"),
    # of an entry with an unknown code, SenderFault says whose fault it is
    Answer("SomethingElse", 400, "unknown", "refused"),
    Answer("SomethingNew", 500, "lost", "refused"),
]

NO_ANSWERS: list[tuple[Kind, Exception]] = [  # botocore's own errors
    ("busy", exceptions.ConnectTimeoutError(endpoint_url="")),
    ("busy", exceptions.EndpointConnectionError(endpoint_url="")),
    ("busy", exceptions.ProxyConnectionError(proxy_url="")),
    ("busy", exceptions.CredentialRetrievalError(provider="", error_msg="")),
    ("busy", exceptions.NoCredentialsError()),
    ("refused", exceptions.ParamValidationError(report="")),
    ("lost", exceptions.ConnectionClosedError(endpoint_url="")),
    ("lost", exceptions.ReadTimeoutError(endpoint_url="")),
    ("lost", exceptions.ResponseStreamingError(error="")),
    ("lost", TimeoutError()),
]


def closed(*cause: object) -> exceptions.ConnectionClosedError:
    """Return botocore's error for a connection that ended under a call, with urllib3's as its cause."""
    return exceptions.ConnectionClosedError(endpoint_url="", error=ProtocolError(*cause))


RESETS: list[tuple[bool, Exception]] = [
    (True, closed("Connection aborted.", ConnectionResetError(104, "Connection reset by peer"))),
    (True, closed("Connection aborted.", RemoteDisconnected("Remote end closed connection without response"))),
    (True, closed("Connection aborted.", BrokenPipeError(32, "Broken pipe"))),
    (True, exceptions.SSLError(endpoint_url="", error=SSLEOFError(8, "EOF occurred in violation of protocol"))),
    (False, closed("Connection broken: ConnectionResetError(104, '')", ConnectionResetError(104, ""))),
    (False, closed("Connection broken: IncompleteRead(1 bytes read)", IncompleteRead(b"{"))),
    (False, closed("Connection aborted.", BadStatusLine("nonsense"))),
    (False, closed()),
    (False, exceptions.ConnectionClosedError(endpoint_url="")),
    (False, exceptions.ReadTimeoutError(endpoint_url="")),
    (False, exceptions.HTTPClientError(error=ClosedPoolError(None, "closed"))),  # type: ignore[arg-type]  # of no pool
    (False, error_of("InternalError", 500, "SendMessage")),
    (False, TimeoutError()),
]
"""Whether a connection ended under a call before anything of an answer came."""

StoreMeaning: TypeAlias = Literal["condition", "unavailable"]
"""What an answer of DynamoDB means: the "condition" of a write does not hold, or the store is "unavailable"."""

DYNAMODB: list[tuple[StoreMeaning, int, str]] = [  # Amazon DynamoDB Developer Guide, "Error handling"
    ("condition", 400, "ConditionalCheckFailedException"),
    ("unavailable", 400, "AccessDeniedException"),
    ("unavailable", 400, "ExpiredTokenException"),
    ("unavailable", 400, "ProvisionedThroughputExceededException"),
    ("unavailable", 400, "RequestLimitExceeded"),
    ("unavailable", 400, "ResourceNotFoundException"),
    ("unavailable", 400, "SomethingElse"),
    ("unavailable", 400, "ThrottlingException"),
    ("unavailable", 400, "TransactionConflictException"),
    ("unavailable", 400, "UnrecognizedClientException"),
    ("unavailable", 400, "ValidationException"),
    ("unavailable", 500, "InternalServerError"),
    ("unavailable", 503, "ServiceUnavailable"),
    ("unavailable", 400, ""),  # no code at all
]

S3: list[tuple[ObjectProblem | None, int, str]] = [  # Amazon S3 API reference, "Error responses"
    ("no bucket", 404, "NoSuchBucket"),
    ("gone", 404, "NoSuchKey"),
    ("denied", 403, "403"),  # botocore's code for an answer without a text
    ("denied", 403, "AccessDenied"),
    ("other", 400, "InvalidRequest"),
    ("other", 400, "KMS.DisabledException"),
    ("other", 400, "SomethingElse"),  # its timeout is kept and tried again, and holds up no other
    ("archived", 403, "InvalidObjectState"),
    (None, 400, "ExpiredToken"),
    (None, 400, "ExpiredTokenException"),
    (None, 400, "InvalidToken"),
    (None, 400, "KMS.ThrottlingException"),
    (None, 400, "RequestExpired"),
    (None, 400, "RequestTimeout"),
    (None, 400, "TokenRefreshRequired"),
    (None, 400, "UnrecognizedClientException"),
    (None, 403, "InvalidAccessKeyId"),
    (None, 403, "InvalidClientTokenId"),
    (None, 403, "RequestTimeTooSkewed"),
    (None, 403, "SignatureDoesNotMatch"),
    (None, 429, "TooManyRequests"),
    (None, 500, "InternalError"),
    (None, 503, "SlowDown"),
]
"""Why S3 does not give an object for good, by its answer; None where the next call may succeed."""
