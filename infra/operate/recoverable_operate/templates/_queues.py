"""Read the SQS queues of a template, and the alarms that watch them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from recoverable._sqs.batches import MAX_SIZE
from recoverable_operate.rules._on_sqs import AWS_KEY, DEFAULT_RETENTION, DEFAULT_VISIBILITY, Alarm, Queue, Redrive
from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError, maybe
from recoverable_operate.templates._intrinsics import Scope
from recoverable_operate.templates._properties import QUEUE, Properties, listed, resources
from recoverable_operate.templates._triggers import queue_name

SECOND = timedelta(seconds=1)
LONGEST_VISIBILITY, LONGEST_RETENTION = 43_200, 1_209_600  # seconds; SQS API reference, SetQueueAttributes
SMALLEST_MESSAGE = 1_024  # bytes; SQS API reference, SetQueueAttributes

ALARM = "AWS::CloudWatch::Alarm"


def queues_of(scope: Scope) -> Iterator[Queue]:
    """Yield the queues of a template."""
    return map(queue_of, resources(scope, QUEUE))


def queue_of(properties: Properties) -> Queue:
    """Return one queue."""
    named = properties.scope.attributes[properties.where]
    return Queue(
        name=named["QueueName"],
        arn=named["Arn"],
        fifo=maybe(lambda: properties.flag("FifoQueue", default=False)),
        visibility_timeout=maybe(
            lambda: seconds(properties, "VisibilityTimeout", DEFAULT_VISIBILITY, LONGEST_VISIBILITY)
        ),
        retention=maybe(lambda: seconds(properties, "MessageRetentionPeriod", DEFAULT_RETENTION, LONGEST_RETENTION)),
        redrive=maybe(lambda: redrive_of(properties)),
        key=key_of(properties),
        largest=maybe(
            lambda: properties.number("MaximumMessageSize", MAX_SIZE, minimum=SMALLEST_MESSAGE, maximum=MAX_SIZE)
        ),
        sources=maybe(lambda: sources_of(properties)),
    )


def seconds(properties: Properties, name: str, default: timedelta, most: int) -> timedelta:
    """Return a property that is a time in seconds."""
    return timedelta(seconds=properties.number(name, default // SECOND, maximum=most))


def redrive_of(properties: Properties) -> Redrive | None:
    """Return the redrive policy of a queue; None if it has none.

    Raises:
        TemplateError: it is no policy, or a value of it is only known in AWS.
    """
    policy = properties.json_part("RedrivePolicy")
    if not policy.values:
        return None
    target = policy.required("deadLetterTargetArn", "!GetAtt ErrorQueue.Arn")
    if isinstance(name := queue_name(target, properties.scope), Unknown):
        raise TemplateError(name.why)
    return Redrive(target, policy.number("maxReceiveCount", 10, minimum=1, maximum=1000))


def sources_of(properties: Properties) -> tuple[str, ...] | None:
    """Return the ARNs of the queues whose dead letters a queue takes; None for all.

    Raises:
        TemplateError: a value is only known in AWS.
    """
    policy = properties.json_part("RedriveAllowPolicy")
    match policy.text("redrivePermission", "allowAll"):
        case "denyAll":
            return ()
        case "byQueue":
            return tuple(map(str, listed(policy.get("sourceQueueArns"))))
        case _:
            return None


def key_of(properties: Properties) -> str | Unknown | None:
    """Return the KMS key of a queue; None where it takes no permission."""
    key = maybe(lambda: properties.get("KmsMasterKeyId"))
    if not isinstance(key, str) or key == AWS_KEY:
        return key if isinstance(key, Unknown) else None
    if key.startswith("alias/"):
        return Unknown(f"{properties.where} has the key {key}, and which key that is an alias of is known in AWS alone")
    return key


def found(name: str | Unknown, queues: Mapping[str, Queue]) -> Queue | Unknown:
    """Return the queue with a name."""
    if isinstance(name, Unknown):
        return name
    missing = f"the queue {name} is not in this template; `recoverable check --queue` looks at a deployed one, and --assume says what it is like"
    return queues.get(name, Unknown(missing))


def alarms_on(queue: Queue | Unknown | None, scope: Scope) -> tuple[Alarm, ...] | Unknown:
    """Return the alarms that watch a metric of a queue; Unknown if of one it is not known what it watches, and no other is enough."""
    alarms: list[Alarm] = []
    unclear: Unknown | None = None
    for alarm in resources(scope, ALARM):
        dimensions = maybe(lambda alarm=alarm: alarm.get("Dimensions") or [])  # type: ignore[misc]
        metric = maybe(lambda alarm=alarm: alarm.text("MetricName", ""))  # type: ignore[misc]
        if isinstance(dimensions, Unknown) or isinstance(metric, Unknown):
            unclear = dimensions if isinstance(dimensions, Unknown) else metric
        elif isinstance(queue, Queue) and {"Name": "QueueName", "Value": queue.name} in listed(dimensions):
            alarms.append(Alarm(alarm.where, metric))
    return tuple(alarms) if alarms or unclear is None else unclear
