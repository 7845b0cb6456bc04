"""Describe a function that reads an SQS queue, and what its role may do, as far as the rules look at it; each value may be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any, Literal

from recoverable._sqs.batches import MAX_SIZE
from recoverable_operate.rules._endpoint import CODE_NOT_READ, Endpoint
from recoverable_operate.rules._ladder import DEFAULT, Ladder
from recoverable_operate.rules._names import Dangling
from recoverable_operate.rules._rule import Unknown


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a policy.

    Args:
        allow: True for Allow, False for Deny.
        actions: patterns of actions.
        resources: patterns of ARNs, those that could be read.
        unclear: why it cannot be said when it holds, such as a condition; empty if it always does.
        unread: why a resource could not be read; empty if all were.
    """

    allow: bool
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    unclear: str = ""
    unread: str = ""

    def concerns(self, action: str, arn: str) -> bool | Unknown:
        """Return True if it is about this action on this resource; Unknown if that could not be read."""
        if not any(fnmatchcase(action.lower(), pattern.lower()) for pattern in self.actions):
            return False
        if any(covers(pattern, arn) for pattern in self.resources):
            return Unknown(self.unclear) if self.unclear else True
        return Unknown(self.unread) if self.unread else False


@dataclass(frozen=True, slots=True)
class Permissions:
    """The rights of a role.

    Args:
        role: as findings name it.
        statements: of all its policies.
        unread: policies that could not be read, each with the reason.
    """

    role: str
    statements: tuple[Statement, ...]
    unread: tuple[str, ...] = ()

    def allow(self, action: str, arn: str) -> bool | Unknown:
        """Return True if the role may do this; Unknown if that depends on something that could not be read."""
        about = [(each.allow, found) for each in self.statements if (found := each.concerns(action, arn)) is not False]
        if (False, True) in about:
            return False
        if (True, True) in about and all(allow for allow, _ in about):
            return True
        why = [*(found.why for _, found in about if isinstance(found, Unknown)), *self.unread]
        return Unknown(f"of {self.role}: {why[0]}") if why else False


def covers(pattern: str, arn: str) -> bool:
    """True if a pattern of ARNs covers one; partition, region and account are not compared, because a template does not know them."""
    if pattern == "*":
        return True
    ours, theirs = pattern.split(":", 5), arn.split(":", 5)
    if len(ours) < 6 or len(theirs) < 6:  # noqa: PLR2004  # "Amazon Resource Names", IAM
        return fnmatchcase(arn, pattern)
    return fnmatchcase(theirs[2], ours[2]) and fnmatchcase(theirs[5], ours[5])


MANAGED: Mapping[str, tuple[str, ...]] = {
    "AWSLambdaSQSQueueExecutionRole": ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
    "AWSLambdaBasicExecutionRole": (),
    "AWSLambdaVPCAccessExecutionRole": (),
    "AWSXRayDaemonWriteAccess": (),
    "AWSXrayWriteOnlyAccess": (),
    "CloudWatchLambdaInsightsExecutionRolePolicy": (),
    "AmazonSQSReadOnlyAccess": ("sqs:GetQueueAttributes",),
    "AmazonSQSFullAccess": ("sqs:*",),
    "PowerUserAccess": ("*",),
    "AdministratorAccess": ("*",),
}
"""The actions that AWS's own policies allow on all queues and keys ("AWS managed policy reference")."""


def managed_statements(arn: str) -> Iterator[Statement | str]:
    """Yield what a managed policy allows, by its ARN or name; a text if it is not known here."""
    name = arn.rpartition("/")[2]
    if name in MANAGED:
        yield Statement(True, MANAGED[name], ("*",))  # noqa: FBT003
    else:
        yield f"the managed policy {name} is not read here"


def read_statement(statement: Mapping[str, Any]) -> Statement:
    """Return a statement of a policy document."""
    unclear = next(
        (f"a statement has a {name}" for name in ("Condition", "NotAction", "NotResource") if name in statement), ""
    )
    return Statement(
        allow=statement.get("Effect") == "Allow",
        actions=texts(statement.get("Action", "*")),
        resources=texts(statement.get("Resource", "*")),
        unclear=unclear,
    )


def texts(value: Any) -> tuple[str, ...]:
    """Return one text or several as several."""
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


DEFAULT_VISIBILITY, DEFAULT_RETENTION = timedelta(seconds=30), timedelta(days=4)
"""The values of a queue that sets neither (SQS API reference, CreateQueue)."""

AWS_KEY = "alias/aws/sqs"
"""SQS's own key in KMS, which takes no permission."""

REPORT = "ReportBatchItemFailures"
"""The one value of a mapping's `FunctionResponseTypes`."""

NO_FUNCTION = Unknown("only the queue was looked at")


@dataclass(frozen=True, slots=True)
class Redrive:
    """A redrive policy: after `max_receive_count` receives SQS moves a message to the queue with the ARN `target`."""

    target: str
    max_receive_count: int

    @property
    def target_name(self) -> str:
        """Return the name of that queue."""
        return self.target.rpartition(":")[2]


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue.

    Args:
        name: its name.
        arn: its ARN; in a template, region and account may be placeholders.
        fifo: True if it keeps the order within a message group.
        visibility_timeout: how long a received message stays hidden.
        retention: how long it keeps a message.
        redrive: where messages go that were received too often; None for nowhere.
        key: the id, ARN or alias of the KMS key that encrypts it; None for a key that takes no permission.
        largest: the largest message that it takes, in bytes.
        sources: the ARNs of the queues whose dead letters it takes; None for all queues of the account.
    """

    name: str
    arn: str
    fifo: bool | Unknown
    visibility_timeout: timedelta | Unknown
    retention: timedelta | Unknown
    redrive: Redrive | Unknown | None
    key: str | Unknown | None = None
    largest: int | Unknown = MAX_SIZE
    sources: tuple[str, ...] | Unknown | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function.

    Args:
        name: as findings name it.
        timeout: how long an invocation may take.
        recursive_loop: True if Lambda allows it to send to the queue that it reads.
        reserved_concurrency: the most invocations at a time; None for no limit of its own.
        variables: its environment variables.
        permissions: what its role may do.
        missing_handler: the file that its handler is to be in and that is not there; None where it is.
        in_vpc: True if it runs in a VPC.
        runtime: such as `python3.13`; None for an image.
        undefined_handler: the file that does not define its handler, and the handler's name; None where it does.
    """

    name: str
    timeout: timedelta | Unknown
    recursive_loop: bool | Unknown
    reserved_concurrency: int | Unknown | None
    variables: Mapping[str, str | Unknown] | Unknown
    permissions: Permissions | Unknown
    missing_handler: str | Unknown | None = CODE_NOT_READ
    in_vpc: bool | Unknown = False
    runtime: str | Unknown | None = None
    undefined_handler: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class EventSource:
    """An event source mapping: it reads a queue for a function.

    Args:
        name: as findings name it.
        partial_responses: True if it has `ReportBatchItemFailures`.
        batch_size: the most records of one invocation.
        window: how long a batch collects records.
        max_concurrency: the most invocations at a time; None for no limit of its own.
        filters: True if it has `FilterCriteria`, by which Lambda passes on some messages and deletes the others.
        is_subscription: True if SAM makes it of `SqsSubscription`.
        enabled: True unless it is switched off.
    """

    name: str
    partial_responses: bool | Unknown
    batch_size: int | Unknown
    window: timedelta | Unknown
    max_concurrency: int | Unknown | None
    filters: bool | Unknown = False
    is_subscription: bool = False
    enabled: bool | Unknown = True


@dataclass(frozen=True, slots=True)
class Alarm:
    """A CloudWatch alarm on a metric of the error queue.

    Args:
        name: as findings name it.
        metric: the metric's name, such as `ApproximateNumberOfMessagesVisible`.
    """

    name: str
    metric: str


@dataclass(frozen=True, slots=True)
class OnSqs:
    """A function that reads an SQS queue: what one look describes.

    Args:
        queue: the queue that it reads.
        error_queue: where its messages go that are given up, else where its dead letters go; None for nowhere.
        function: the function.
        source: the event source mapping between the two.
        alarms: those that watch the error queue.
        ladder: the retries that the function makes.
        code: what its code says of its endpoint.
        queue_name: the name of the queue that it reads.
        error_name: the name of the queue to which it moves what is given up.
        made: the names of the queues that the template makes, or says of others; None where there is no template.
        dangling: the references of the template to what it does not have.
        endpoints: True if it makes an endpoint for SQS in its VPC.
        stamped: where the functions that are known send each message of their queues with a reason, by the queues' names; None for others.
        may_stamp: why it is not known whether a function whose code is not read stamps dead letters; False where its queue gets none.
        unread: why it is not known whether the function uses this package; empty where it does.
        readers: the other functions that read its queue.
        others: what invokes it in place of a queue, such as `SNS (Shop.Topic)`; None where a queue does.
    """

    queue: Queue | Unknown
    error_queue: Queue | Unknown | None
    function: Function | Unknown = NO_FUNCTION
    source: EventSource | Unknown = NO_FUNCTION
    alarms: tuple[Alarm, ...] | Unknown = NO_FUNCTION
    ladder: Ladder | Unknown = DEFAULT
    code: Endpoint | Unknown = CODE_NOT_READ
    queue_name: str | Unknown = NO_FUNCTION
    error_name: str | Unknown = NO_FUNCTION
    made: frozenset[str] | None = None
    dangling: tuple[Dangling, ...] | Unknown = ()
    endpoints: bool = False
    stamped: Mapping[str, str | Unknown | None] = field(default_factory=dict)
    may_stamp: Unknown | Literal[False] = False
    unread: str = ""
    readers: tuple[str, ...] = ()
    others: tuple[str, ...] | Unknown | None = None

    @property
    def stamps(self) -> bool | Unknown:
        """True if the function is no endpoint, and stamps dead letters."""
        return self.may_stamp if isinstance(self.code, Unknown) else self.code.stamps

    @property
    def subject(self) -> str:
        """Return the function's name, else the queue's."""
        return next((each.name for each in (self.function, self.queue) if not isinstance(each, Unknown)), "a queue")
