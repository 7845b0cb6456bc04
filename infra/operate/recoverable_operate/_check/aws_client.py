"""Read what is deployed on AWS: functions, event source mappings, queues, alarms, and what a role may do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Literal, TypeVar

from recoverable._sqs.answers import call_failure, is_answer
from recoverable._sqs.batches import MAX_SIZE
from recoverable._sqs.clients import config
from recoverable._sqs.queues import queue_from_arn
from recoverable_operate.errors import OperateError
from recoverable_operate.errors._aws.answers import describe
from recoverable_operate.errors._aws.session_client import CALL_TIMEOUT, Access, Clients, find_queue, session_for
from recoverable_operate.errors._queue import one_line
from recoverable_operate.rules import (
    Alarm,
    EventSource,
    Function,
    OnSqs,
    Permissions,
    Queue,
    Redrive,
    Statement,
    Unknown,
    ladder_of,
)
from recoverable_operate.rules._endpoint import error_name
from recoverable_operate.rules._on_sqs import (
    AWS_KEY,
    DEFAULT_RETENTION,
    DEFAULT_VISIBILITY,
    MANAGED,
    REPORT,
    managed_statements,
    read_statement,
)
from recoverable_operate.rules._sqs_queue_rules import AGE, SENT, VISIBLE

T = TypeVar("T")

ATTEMPTS = 3
"""How often a call is tried, as the SDK's standard mode has it: reading harms nothing."""

NOT_READ = Unknown("the code of a deployed function is not read")

MOST_TEXT = 300
"""Characters of an answer's own text."""


class Aws:
    """The clients of a check.

    Args:
        access: how AWS is reached.
    """

    def __init__(self, access: Access) -> None:
        self.access, self.session, self.sqs = access, session_for(access), Clients(access)

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a client of a service."""
        return answered(
            service,
            "",
            lambda: self.session.client(
                service,  # type: ignore[call-overload]  # the stubs list each service by itself
                region_name=region or self.access.region,
                endpoint_url=self.access.endpoint_url,
                config=config(CALL_TIMEOUT, ATTEMPTS),
            ),
        )


def answered(service: str, of: str, call: Callable[[], T]) -> T:
    """Return what a call answers.

    Args:
        service: whose call it is, as permissions name it.
        of: what it asks about.
        call: makes it.

    Raises:
        OperateError: it failed.
    """
    with one_line(lambda error: text_of(error, service, of)):
        return call()


def asked(service: str, of: str, call: Callable[[], T]) -> T | Unknown:
    """Return what calls answer; Unknown if one of them may not be made, or the service does not have it.

    Raises:
        OperateError: there was no answer, or one that may be another the next time.
    """
    try:
        return call()
    except OperateError as error:
        return Unknown(str(error))
    except Exception as error:
        if not is_answer(error) or call_failure(error).kind in {"busy", "lost"}:
            raise OperateError(text_of(error, service, of)) from error
        return Unknown(text_of(error, service, of))


def text_of(error: Exception, service: str, of: str) -> str:
    """Return what is missing, in one line."""
    return " ".join(describe(error, of or service, service, thing="").split())[:MOST_TEXT]


def permissions_of(aws: Aws, arn: str) -> Permissions | Unknown:
    """Return what a role may do."""
    role = arn.rpartition("/")[2]
    return asked("iam", f"the role {role}", lambda: read_role(aws.client("iam"), role))


def read_role(iam: Any, role: str) -> Permissions:
    """Return what the policies of a role say, inline ones and attached ones."""
    found: list[Statement | str] = []
    for page in iam.get_paginator("list_role_policies").paginate(RoleName=role):
        for name in page["PolicyNames"]:
            found += statements(iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"])
    for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=role):
        for policy in page["AttachedPolicies"]:
            found += attached(iam, policy["PolicyArn"])
    texts = tuple(each for each in found if isinstance(each, str))
    return Permissions(role, tuple(each for each in found if isinstance(each, Statement)), texts)


def attached(iam: Any, arn: str) -> Iterator[Statement | str]:
    """Yield the statements of a managed policy."""
    if arn.rpartition("/")[2] in MANAGED:
        yield from managed_statements(arn)
        return
    version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    yield from statements(iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"])


def statements(document: Any) -> Iterator[Statement]:
    """Yield the statements of a policy document."""
    said = document["Statement"]
    yield from map(read_statement, said if isinstance(said, list) else [said])


def describe_queue(aws: Aws, name: str) -> tuple[OnSqs, ...]:
    """Return a description of a queue; of an error queue, one for each queue whose dead letters it gets.

    Raises:
        OperateError: it cannot be read.
    """
    queue = queue_at(aws, name)
    sources = [queue_at(aws, source) for source in sources_of(aws, name)]
    return tuple(describe_source(aws, each) for each in sources or [queue])


def describe_source(aws: Aws, queue: Queue) -> OnSqs:
    """Return the description of a queue that is no error queue."""
    errors = error_queue_of(aws, queue)
    return OnSqs(queue, errors, alarms=alarms_on(aws, errors))


def sources_of(aws: Aws, name: str) -> Iterator[str]:
    """Yield the URLs of the queues whose dead letters a queue gets; none where that may not be asked."""
    client, url = find_queue(aws.sqs, name, aws.access.region)
    pages = client.get_paginator("list_dead_letter_source_queues").paginate(QueueUrl=url)
    found = asked("sqs", name, lambda: [each for page in pages for each in page["queueUrls"]])
    yield from [] if isinstance(found, Unknown) else found


def queue_at(aws: Aws, name: str) -> Queue:
    """Return a queue by its ARN, URL or name.

    Raises:
        OperateError: it cannot be read.
    """
    client, url = find_queue(aws.sqs, name, aws.access.region)
    read = answered("sqs", name, lambda: client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]))
    return queue_of(read.get("Attributes", {}), aws)


def queue_of(attributes: Mapping[Any, str], aws: Aws) -> Queue:
    """Return the queue of its attributes."""
    arn = attributes["QueueArn"]
    return Queue(
        name=arn.rpartition(":")[2],
        arn=arn,
        fifo=attributes.get("FifoQueue", "false") == "true",
        visibility_timeout=time(attributes.get("VisibilityTimeout"), DEFAULT_VISIBILITY),
        retention=time(attributes.get("MessageRetentionPeriod"), DEFAULT_RETENTION),
        redrive=redrive_of(attributes.get("RedrivePolicy")),
        key=key_of(attributes.get("KmsMasterKeyId"), arn, aws),
        largest=int(attributes.get("MaximumMessageSize", MAX_SIZE)),
        sources=sources_in(attributes.get("RedriveAllowPolicy")),
    )


def time(seconds: str | None, default: timedelta) -> timedelta:
    """Return a time that SQS says in seconds."""
    return default if seconds is None else timedelta(seconds=int(seconds))


def redrive_of(policy: str | None) -> Redrive | None:
    """Return a redrive policy."""
    read = json.loads(policy) if policy else None
    return Redrive(read["deadLetterTargetArn"], int(read["maxReceiveCount"])) if read else None


def sources_in(policy: str | None) -> tuple[str, ...] | None:
    """Return the ARNs of the queues that a redrive allow policy lists; None for all queues."""
    said = json.loads(policy) if policy else {}
    permission = said.get("redrivePermission", "allowAll")
    return None if permission == "allowAll" else tuple(said.get("sourceQueueArns", ()))


def key_of(key: str | None, arn: str, aws: Aws) -> str | Unknown | None:
    """Return the ARN of the KMS key of a queue; None if it takes no permission, as those that AWS manages."""
    if not key or key == AWS_KEY:
        return None
    kms = aws.client("kms", queue_from_arn(arn).region)
    found = asked("kms", f"the key {key}", lambda: kms.describe_key(KeyId=key)["KeyMetadata"])
    if isinstance(found, Unknown):
        return found
    return None if found.get("KeyManager") == "AWS" else str(found["Arn"])


def error_queue_of(aws: Aws, queue: Queue, name: str | None = None) -> Queue | Unknown | None:
    """Return the error queue of a queue: the one that is named, else the one that gets its dead letters."""
    target = named(name, queue) if name else queue.redrive.target if isinstance(queue.redrive, Redrive) else None
    if target is None:
        return None
    return asked("sqs", target, lambda: queue_at(aws, target))


def named(name: str, queue: Queue) -> str:
    """Return the address of an error queue: a name is one of the region and account of the queue."""
    return name if ":" in name else queue.arn.rpartition(":")[0] + ":" + name


def alarms_on(aws: Aws, queue: Queue | Unknown | None) -> tuple[Alarm, ...] | Unknown:
    """Return the alarms that watch a queue."""
    if not isinstance(queue, Queue):
        return () if queue is None else queue
    client = aws.client("cloudwatch", queue_from_arn(queue.arn).region)
    return asked("cloudwatch", queue.name, lambda: tuple(watching(client, queue.name)))


def watching(cloudwatch: Any, name: str) -> Iterator[Alarm]:
    """Yield the alarms on the metrics of a queue that concern an error queue."""
    dimensions = [{"Name": "QueueName", "Value": name}]
    for metric in (VISIBLE, AGE, SENT):
        found = cloudwatch.describe_alarms_for_metric(Namespace="AWS/SQS", MetricName=metric, Dimensions=dimensions)
        for alarm in found["MetricAlarms"]:
            if alarm.get("Dimensions") == dimensions:
                yield Alarm(alarm["AlarmName"], metric)


def describe_function(aws: Aws, name: str) -> tuple[OnSqs, ...]:
    """Return a description for each queue that a function reads.

    Args:
        aws: the clients.
        name: of the function, or its ARN, with an alias if the mappings are of one.

    Raises:
        OperateError: it cannot be read, or reads no queue.
    """
    client = aws.client("lambda")
    read = answered("lambda", f"function {name}", lambda: client.get_function_configuration(FunctionName=name))
    pages = client.get_paginator("list_event_source_mappings").paginate(FunctionName=name)
    mappings = answered(
        "lambda", f"function {name}", lambda: [each for page in pages for each in page["EventSourceMappings"]]
    )
    function = function_of(aws, client, read)
    found = tuple(describe_mapping(aws, function, each) for each in mappings if reads_a_queue(each))
    if not found:
        raise OperateError(
            f"no event source mapping of {name} reads an SQS queue; if it is one of an alias, write {name}:ALIAS"
        )
    return found


def reads_a_queue(mapping: Mapping[str, Any]) -> bool:
    """True if a mapping reads an SQS queue."""
    return str(mapping.get("EventSourceArn", "")).split(":")[2:3] == ["sqs"]


def describe_mapping(aws: Aws, function: Function, mapping: Mapping[str, Any]) -> OnSqs:
    """Return the description of one mapping."""
    queue = asked("sqs", mapping["EventSourceArn"], lambda: queue_at(aws, mapping["EventSourceArn"]))
    variables = function.variables if not isinstance(function.variables, Unknown) else {}
    name = error_name(NOT_READ, variables)
    errors = error_queue_of(aws, queue, name if isinstance(name, str) else None) if isinstance(queue, Queue) else queue
    return OnSqs(
        queue, errors, function=function, source=source_of(mapping, function), alarms=alarms_on(aws, errors),
        ladder=ladder_of(variables), code=NOT_READ, error_name=name, stamped=stamped_before(aws, queue, errors),
        may_stamp=may_stamp(aws, queue),
    )  # fmt: skip


def may_stamp(aws: Aws, queue: Queue | Unknown) -> Unknown | Literal[False]:
    """Return why it is not known whether a function that reads a queue stamps dead letters; False where the queue gets none."""
    if isinstance(queue, Unknown) or not any(sources_of(aws, queue.arn)):
        return False
    return Unknown(
        f"{queue.name} gets dead letters, and whether the function stamps them is in its code, which is not read"
    )


def stamped_before(aws: Aws, queue: Queue | Unknown, errors: Queue | Unknown | None) -> Mapping[str, Unknown]:
    """Return the queue between a queue and its error queue by which its dead letters come, if there is one: a function may stamp them."""
    redrive = None if isinstance(queue, Unknown) else queue.redrive
    if not isinstance(redrive, Redrive) or not isinstance(errors, Queue) or redrive.target == errors.arn:
        return {}
    between = asked("sqs", redrive.target, lambda: queue_at(aws, redrive.target))
    if isinstance(between, Unknown) or not isinstance(between.redrive, Redrive) or between.redrive.target != errors.arn:
        return {}
    return {between.name: Unknown(f"whether a function stamps what {between.name} holds is not looked at")}


def function_of(aws: Aws, client: Any, read: Mapping[str, Any]) -> Function:
    """Return a function, with what its role may do."""
    name = read["FunctionName"]
    recursion = asked("lambda", name, lambda: client.get_function_recursion_config(FunctionName=name)["RecursiveLoop"])
    reserved = asked("lambda", name, lambda: client.get_function_concurrency(FunctionName=name))
    return Function(
        name=name,
        timeout=timedelta(seconds=read["Timeout"]),
        recursive_loop=recursion if isinstance(recursion, Unknown) else recursion == "Allow",
        reserved_concurrency=reserved
        if isinstance(reserved, Unknown)
        else reserved.get("ReservedConcurrentExecutions"),
        variables=read.get("Environment", {}).get("Variables", {}),
        permissions=permissions_of(aws, read["Role"]),
        missing_handler=NOT_READ,
        in_vpc=bool((read.get("VpcConfig") or {}).get("VpcId")),
    )


def source_of(mapping: Mapping[str, Any], function: Function) -> EventSource:
    """Return a mapping."""
    return EventSource(
        name=f"the mapping {mapping['UUID']} of {function.name}",
        partial_responses=REPORT in (mapping.get("FunctionResponseTypes") or []),
        batch_size=mapping.get("BatchSize", 10),
        window=timedelta(seconds=mapping.get("MaximumBatchingWindowInSeconds") or 0),
        max_concurrency=max_concurrency(mapping),
        filters=bool((mapping.get("FilterCriteria") or {}).get("Filters")),
    )


def max_concurrency(mapping: Mapping[str, Any]) -> int | Unknown | None:
    """Return the most invocations of a mapping at a time; None for no limit of its own."""
    if mapping.get("ProvisionedPollerConfig"):
        return Unknown("the mapping has provisioned pollers, whose number says how many invocations it makes")
    found: int | None = (mapping.get("ScalingConfig") or {}).get("MaximumConcurrency")
    return found
