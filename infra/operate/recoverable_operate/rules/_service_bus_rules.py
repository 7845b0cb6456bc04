"""Rules on a Function App that reads a Service Bus queue: host.json, triggers and settings, the queue and its error queue, roles."""

from __future__ import annotations

from collections.abc import Iterator

from recoverable._service_bus.app_settings import LOCK_DURATION, duration
from recoverable_operate.rules._ladder import variable_problems
from recoverable_operate.rules._on_service_bus import NAMESPACE, THREADS, OnServiceBus
from recoverable_operate.rules._rule import Problem, Rule, Unknown, known, rule

HOST = "host.json"

IN_CODE = Unknown(f"{LOCK_DURATION} is no app setting, and ServiceBusEndpoint(lock=...) is not read")


@rule("`functionTimeout` is set, and `maxAutoLockRenewalDuration` is at least as long.")
def lock_renewal(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find locks that end before a function may: its message can then no longer be completed."""
    host = known(deployed.host)
    timeout, renewal = host.function_timeout, host.max_auto_lock_renewal_duration
    if timeout is None or renewal < timeout:
        longest = "for any time" if timeout is None else f"for {timeout}"
        yield Problem(
            HOST,
            f"host.json lets a function run {longest} and renews locks for {renewal}",
            "a message that takes longer cannot be completed, and runs again until it is given up",
            "write functionTimeout, and a longer maxAutoLockRenewalDuration",
        )


@rule("`prefetchCount` is 0.")
def prefetch(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find prefetching: a prefetched message is locked, and its lock is not renewed before it runs."""
    if count := known(deployed.host).prefetch_count:
        yield Problem(
            HOST,
            f"host.json prefetches {count} messages, and a lock that expires while its message waits counts as a delivery",
            "messages lose attempts without having run",
            "write a prefetchCount of 0",
        )


@rule("The worker has as many threads as plain functions may run at a time.")
def threads(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find too few threads for plain functions; coroutines need none."""
    load = known(deployed.workload)
    if load.calls > load.threads:
        yield Problem(
            HOST,
            f"up to {load.calls} invocations of plain functions run at a time, and the worker has {load.threads} threads",
            "the others wait for one while their functionTimeout runs",
            f"write a maxConcurrentCalls of {load.threads} into host.json, or the app setting {THREADS} of {load.calls}",
        )


@rule("The trigger gives binary data, as `blueprint()` sets it.")
def binary_data(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that gives text: the host makes trigger metadata of what a JSON body says."""
    trigger = known(deployed.trigger)
    if not trigger.binary:
        yield Problem(
            trigger.function,
            f"{trigger.function} gets text",
            "the values of a JSON body overwrite the trigger metadata, including the delivery count",
            "write data_type=func.DataType.BINARY on the trigger",
        )


@rule("The host completes a message when its function has returned.")
def completion(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that completes nothing: the endpoint raises an error only for a message that is to stay."""
    trigger = known(deployed.trigger)
    if not (known(deployed.host).auto_complete_messages if trigger.completes is None else trigger.completes):
        yield Problem(
            trigger.function,
            f"messages of {trigger.function} are not completed when it returns",
            "a processed message runs again when its lock expires",
            "write auto_complete_messages=True on the trigger",
        )


@rule("Each queue or subscription is read by one function.")
def one_reader(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find functions that share a queue: it gives each message to one of them."""
    trigger = known(deployed.trigger)
    if trigger.other_readers:
        others = ", ".join(trigger.other_readers)
        yield Problem(
            trigger.function,
            f"{trigger.function} reads the same queue as {others}",
            "each message runs in one of them only, whichever receives it first",
            "write a queue for each, fed by a topic's subscriptions",
        )


@rule("App settings that begin with `RECOVERABLE_` have values that `Recoverability.from_environment` can read.")
def settings(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find settings that cannot be read: a function that reads them raises an error when it is loaded."""
    yield from variable_problems("the app", known(deployed.settings))


SPARE_DELIVERIES = 6
"""`maxDeliveryCount` is at least the immediate retries plus this number (docs/the-ladder.md, unreported deliveries)."""

ORDERED_SPARE_DELIVERIES = 10
"""And with `sessions="ordered"` all attempts plus this number (docs/order.md)."""


@rule(
    'The queue\'s `maxDeliveryCount` is at least the immediate retries + 6; with `sessions="ordered"` all attempts + 10.'
)
def max_delivery_count(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue that gives up before the ladder: each attempt of a round is a delivery, in order of all rounds."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    least = ladder.attempts + ORDERED_SPARE_DELIVERIES if ladder.ordered else ladder.immediate + SPARE_DELIVERIES
    formula = "all attempts + 10" if ladder.ordered else "immediate retries + 6"
    if (count := known(queue.max_delivery_count)) < least:
        yield Problem(
            queue.name,
            f"{queue.name} has a maxDeliveryCount of {count}, too few for {ladder}",
            "Service Bus dead-letters messages before their retries are used up, and without a reason",
            f"write {formula}, which is {least}, or more; 100 does for most",
        )


@rule("The queue forwards its dead letters to the error queue.")
def dead_letters(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue whose dead letters stay in it: what never reaches our code is dead-lettered by Service Bus alone."""
    queue = known(deployed.queue)
    if known(queue.dead_letters_to) is None:
        yield Problem(
            queue.name,
            f"{queue.name} forwards its dead letters to no queue",
            "dead letters stay where nobody looks",
            "write forwardDeadLetteredMessagesTo with the error queue's name",
        )


@rule("The queue dead-letters what expires, unless it keeps messages for ever.")
def expiry(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue that drops messages while its function is broken."""
    queue = known(deployed.queue)
    if (lives := known(queue.lives)) is not None and not known(queue.dead_letters_expired):
        yield Problem(
            queue.name,
            f"{queue.name} keeps messages for {lives} and drops those that expire",
            "messages of a function that is broken for longer are lost",
            "write deadLetteringOnMessageExpiration: true",
        )


@rule("A queue of batches locks messages for as long as `RECOVERABLE_LOCK_DURATION` says.")
def batch_lock(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a lock that ends sooner than the app believes: a batch then sends copies of messages that others have again."""
    trigger = known(deployed.trigger)
    if not trigger.many:
        return
    queue, text = known(deployed.queue), known(known(deployed.settings).get(LOCK_DURATION, IN_CODE))
    try:
        believed = duration(text)
    except ValueError as error:
        yield Problem(LOCK_DURATION, str(error), "the app does not start", "write the queue's lockDuration")
        return
    if known(queue.lock) < believed:
        yield Problem(
            queue.name,
            f"{queue.name} locks messages for {known(queue.lock)}, and {LOCK_DURATION} says {believed}",
            "a batch that takes longer sends copies of messages that are delivered again beside them, and they multiply",
            f"write the same for lockDuration and {LOCK_DURATION}, from one variable",
        )


@rule("A subscription that forwards to the queue forwards its dead letters too, and dead-letters what expires.")
def subscriptions(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a subscription whose dead letters stay in it, or that drops messages while forwarding is not possible."""
    for each in known(deployed.subscriptions):
        if known(each.dead_letters_to) is None:
            yield Problem(
                each.name,
                f"the subscription {each.name} forwards its dead letters to no queue",
                "events for which a filter fails, or that expire, stay where nobody looks",
                "write forwardDeadLetteredMessagesTo with the error queue's name",
            )
        if not known(each.dead_letters_expired):
            yield Problem(
                each.name,
                f"the subscription {each.name} drops what expires",
                "events that cannot be forwarded for a while are lost",
                "write deadLetteringOnMessageExpiration: true",
            )


@rule("The namespace is of the tier Standard or Premium.")
def tier(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find the tier that has neither scheduled messages nor forwarding ("Service Bus pricing")."""
    if (found := known(deployed.tier)).lower() == "basic":
        yield Problem(
            "namespace",
            f"the namespace is of the tier {found}",
            "no message can be scheduled, so delayed retries are refused, and dead letters cannot be forwarded",
            "write the tier Standard or Premium; a namespace that is deployed keeps the tier that it has",
        )


@rule("The error queue detects no duplicates.")
def error_queue_duplicates(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find an error queue that drops what comes a second time: what Service Bus moves keeps its id."""
    errors = known(deployed.error_queue)
    if errors is not None and known(errors.duplicate_detection):
        yield Problem(
            errors.name,
            f"{errors.name} is an error queue and detects duplicates",
            "a dead letter that was sent back, and is dead-lettered again within the window, is dropped",
            "write requiresDuplicateDetection: false",
        )


@rule("The error queue keeps messages for ever, and dead-letters what its sender let expire.")
def error_queue_expiry(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find an error queue that drops messages: a dead letter may have a time to live of its own."""
    errors = known(deployed.error_queue)
    if errors is None:
        return
    if (lives := known(errors.lives)) is not None:
        yield Problem(
            errors.name,
            f"{errors.name} is an error queue and keeps messages for {lives} only",
            "those that nobody has looked at by then are gone from it",
            "leave defaultMessageTimeToLive out",
        )
    if not known(errors.dead_letters_expired):
        yield Problem(
            errors.name,
            f"{errors.name} is an error queue and drops what expires",
            "a dead letter whose sender gave it a time to live is lost when that ends",
            "write deadLetteringOnMessageExpiration: true",
        )


@rule("The error queue forwards neither its messages nor its dead letters.")
def error_queue_forwards(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find an error queue that messages leave by themselves: each look that receives counts as a delivery."""
    errors = known(deployed.error_queue)
    if errors is None:
        return
    for target in (known(errors.forwards_to), known(errors.dead_letters_to)):
        if target is not None:
            yield Problem(
                errors.name,
                f"{errors.name} is an error queue and forwards to {target}",
                "messages that were given up leave it, with or without having been looked at",
                "leave forwardTo and forwardDeadLetteredMessagesTo out",
            )


WANTED = {
    "receive": ("Azure Service Bus Data Receiver", "the host cannot read the queue"),
    "send": (
        "Azure Service Bus Data Sender",
        "copies are refused: what is given up waits, and delayed retries come at once",
    ),
}


@rule("The app's identity may receive and send on the queue, and send to the error queue.")
def roles(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find roles that are missing: copies go to both queues, and the host receives from one."""
    queue, errors, grants = known(deployed.queue), known(deployed.error_queue), known(deployed.grants)
    wanted = [("receive", queue.name), ("send", queue.name), *([("send", errors.name)] if errors is not None else [])]
    for right, entity in wanted:
        if not any(each.role in (right, "own") and each.scope in (entity, NAMESPACE) for each in grants):
            name, causes = WANTED[right]
            yield Problem(
                entity,
                f"the app's identity has no role {name} on {entity}",
                causes,
                f"assign {name} with {entity} as scope",
            )


SERVICE_BUS_RULES: tuple[Rule[OnServiceBus], ...] = (
    lock_renewal, prefetch, threads, binary_data, completion, one_reader, max_delivery_count, dead_letters, expiry,
    batch_lock, subscriptions, tier, error_queue_duplicates, error_queue_expiry, error_queue_forwards, roles, settings,
)  # fmt: skip
"""What must be right where the Functions host reads a Service Bus queue, in the order of findings."""
