"""Say what an answer of SQS, SNS, DynamoDB or S3 means, and what may be done after it. Pure: an answer may be anything, and botocore's errors are known by their names."""

from __future__ import annotations

from recoverable._errors import StoreUnavailable
from recoverable._frozen import Frozen

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeAlias

    Kind: TypeAlias = Literal["missing", "denied", "refused", "size", "busy", "unknown", "lost"]
    ObjectProblem: TypeAlias = Literal["gone", "no bucket", "denied", "archived", "other"]

CODES: Mapping[Kind, str] = {
    "missing": "invalidaddress nonexistentqueue nosuchbucket nosuchentity nosuchkey notfound queuedoesnotexist resourcenotfound",
    "denied": "403 accessdenied authorizationerror kmsaccessdenied notauthorized unauthorizedoperation",
    "refused": "invalidaction invalidattributevalue invalidmessagecontents invalidobjectstate invalidparameter invalidparametervalue"
    " invalidrequest invalidsecurity kmsdisabled kmsinvalidkeyusage kmsinvalidstate kmsnotfound kmsoptinrequired missingparameter"
    " notimplemented parametervalueinvalid receipthandleisinvalid unknownoperation unsupportedoperation validation validationerror",
    "size": "batchrequesttoolong",
    "busy": "kmsthrottled kmsthrottling overlimit provisionedthroughputexceeded requestlimitexceeded requestthrottled requesttimeout"
    " serviceunavailable slowdown throttled throttling toomanyrequests transactionconflict"
    # expired or wrong credentials are renewed or corrected, as are clocks: no message is at fault
    " expiredtoken invalidaccesskeyid invalidclienttokenid invalidsignature invalidtoken requestexpired requesttimetooskewed"
    " signaturedoesnotmatch tokenrefreshrequired unrecognizedclient",
    "lost": "internalerror internalfailure internalservererror requestaborted",
}
"""Codes, as `normalized` returns them, by their kinds ("Errors" and "Common errors" in the API references of Amazon
SQS, SNS, DynamoDB, S3 and IAM). "403" is botocore's code for an answer without a text."""

KINDS: Mapping[str, Kind] = {code: kind for kind, codes in CODES.items() for code in codes.split()}

RAISED: Mapping[str, Kind] = {
    **dict.fromkeys(("ConnectTimeoutError", "EndpointConnectionError", "ProxyConnectionError", "SSLError"), "busy"),
    **dict.fromkeys(("CredentialRetrievalError", "NoCredentialsError", "PartialCredentialsError"), "busy"),
    **dict.fromkeys(("ParamValidationError", "UnicodeEncodeError"), "refused"),
}
"""Kinds of the errors with which a call ends before anything was sent; after all others it may have been."""

CONDITION_FAILED = "ConditionalCheckFailedException"
"""DynamoDB's code for a write whose condition does not hold."""

CLIENT_ERROR, SERVER_ERROR, BUSY = 400, 500, {429, 503}


class Failure(Frozen):
    """The failure of an entry, or of a whole call.

    Args:
        kind: what the answer means. Refused for good: the destination is "missing", access to it or to its key is
            "denied", the message is too large ("size"), or it is "refused" for another reason. To be repeated: "busy"
            was certainly not done, and neither the message nor its destination is at fault; "unknown" is an
            unknown code. "lost" says nothing: the call may have been carried out.
        code: the code that AWS gave; "" where it gave none.
        reason: why, for the log.
    """

    kind: Kind
    code: str
    reason: str

    @property
    def is_for_good(self) -> bool:
        """True if repeating the call does not help."""
        return self.kind in {"missing", "denied", "refused", "size"}

    @property
    def may_repeat(self) -> bool:
        """True if the call may be repeated at once: it was not done, or its code is unknown."""
        return self.kind in {"busy", "unknown"}

    @property
    def may_be_done(self) -> bool:
        """True if nothing says that the call was not carried out."""
        return self.kind in {"lost", "unknown"}

    @property
    def concerns_key(self) -> bool:
        """True if it is about the key of a queue, a topic or a bucket."""
        return self.code.upper().startswith("KMS")

    @property
    def concerns_destination(self) -> bool:
        """True if all that is sent to this queue or topic is refused, and not one entry alone."""
        return self.kind in {"missing", "denied"} or (self.kind == "refused" and self.concerns_key)


def call_failure(error: Exception) -> Failure:
    """Return the failure of a whole call, by what the client raised."""
    code, status, reason = code_of(error), status_of(error), describe_error(error)
    if not is_answer(error):
        return Failure(RAISED.get(type(error).__name__, "lost"), "", reason)
    by_status: Kind = "busy" if status in BUSY else "lost" if status >= SERVER_ERROR else "unknown"
    return Failure(kind_of(code, reason) or by_status, code, reason)


def entry_failure(entry: Mapping[str, Any]) -> Failure:
    """Return the failure that one entry of an answer is about. An entry that an answer lists as failed was not done."""
    code, text = str(entry.get("Code") or ""), str(entry.get("Message") or "")
    reason = f"{code} {text}".strip() or "its answer does not say why"
    if entry.get("SenderFault") is False:
        return Failure("busy", code, reason)
    kind = kind_of(code, text) or ("refused" if entry.get("SenderFault") is True else "unknown")
    return Failure("busy" if kind == "lost" else kind, code, reason)


def kind_of(code: str, text: str) -> Kind | None:
    """Return what a code means; None for an unknown code."""
    return "size" if "must be shorter than" in text else KINDS.get(normalized(code))  # which has no code of its own


def normalized(code: str) -> str:
    """Return a code without what differs between protocols and services: "KMS.DisabledException" and "KmsDisabled" are the same."""
    return code.rpartition("SimpleQueueService.")[2].replace(".", "").removesuffix("Exception").lower()


def is_answer(error: BaseException | None) -> bool:
    """True if AWS answered with the error; a connection error of botocore has a `response` too, but no dict."""
    return isinstance(getattr(error, "response", None), dict)


def code_of(error: BaseException | None) -> str:
    """Return the code of an error with which AWS answered; "" where there is none."""
    response: Any = getattr(error, "response", None) if is_answer(error) else {}
    return str((response.get("Error") or {}).get("Code") or "")


def status_of(error: BaseException | None) -> int:
    """Return the HTTP status of an error with which AWS answered; 0 where there is none."""
    response: Any = getattr(error, "response", None) if is_answer(error) else {}
    status = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
    return status if isinstance(status, int) else 0


def keeps_connection(answer: Any) -> bool:
    """False if an answer says that its connection ends with it."""
    headers = (answer.get("ResponseMetadata") or {}).get("HTTPHeaders") or {}
    return str(headers.get("connection")).lower() != "close"


def was_reset(error: BaseException) -> bool:
    """True if the connection ended under a call before anything of an answer came; the call may have been carried out."""
    cause = getattr(error, "kwargs", {}).get("error")
    reason, *inner = cause.args if isinstance(cause, Exception) and cause.args else ("",)
    is_reset = reason == "Connection aborted." and any(isinstance(each, ConnectionError) for each in inner)  # urllib3's
    return is_reset or type(error).__name__ == "SSLError"  # of a write to a connection that had ended


def describe_error(error: BaseException) -> str:
    """Return a text about an error for the log.

    It is the text of AWS's answer. Of any other error it is the type alone, because its text may quote what was to be
    sent.
    """
    if isinstance(error, TimeoutError):
        return "no answer in the time that is kept for it; SQS may still do it"
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'"
    return str(error) if is_answer(error) else type(error).__name__


def unavailable(error: Exception, service: str) -> StoreUnavailable:
    """Return the error of a call to DynamoDB, S3 or Lambda as a store raises it."""
    text = describe_error(error)
    return StoreUnavailable(text if isinstance(error, ModuleNotFoundError) else f"{service}: {text}")


OBJECT_PROBLEMS: Mapping[str, ObjectProblem] = {
    "InvalidObjectState": "archived",
    "NoSuchBucket": "no bucket",
    "NoSuchKey": "gone",
}
"""Problems by S3's codes (Amazon S3 API reference, GetObject)."""


def object_problem(error: Exception) -> ObjectProblem | None:
    """Return why an object cannot be read for good; None for an error that another call may not have.

    Any answer of the class 4xx is about the object, its key or its bucket, but for throttling and credentials.
    """
    failure = call_failure(error)
    if failure.code in OBJECT_PROBLEMS:
        return OBJECT_PROBLEMS[failure.code]
    if failure.kind == "denied":
        return "denied"
    concerns_object = failure.kind not in {"busy", "lost"} and CLIENT_ERROR <= status_of(error) < SERVER_ERROR
    return "other" if concerns_object else None
