"""Rules on a Service Bus queue, on its error queue, its namespace and the subscriptions that forward to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from recoverable._service_bus.app_settings import find_setting
from recoverable_operate.rules._endpoint import DEFAULT_ERROR_QUEUE, not_set
from recoverable_operate.rules._names import misspelt, near, same
from recoverable_operate.rules._on_service_bus import OnServiceBus, ServiceBusQueue
from recoverable_operate.rules._rule import Problem, Unknown, all_of, known, refused_values, rule
from recoverable_operate.rules._sqs_queue_rules import LADDER_PART

SPARE_DELIVERIES = 6
"""`maxDeliveryCount` is at least the immediate retries plus this number (docs/use/retries.md, unreported deliveries)."""

ORDERED_SPARE_DELIVERIES = 10
"""And with `sessions="ordered"` all attempts plus this number (docs/use/order.md)."""


@rule(
    'The queue\'s `maxDeliveryCount` is at least the immediate retries + 6; with `sessions="ordered"` all attempts + 10.'
)
def max_delivery_count(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue that gives up before the ladder: each attempt of a round is a delivery, in order of all rounds."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    least = (
        (ladder.attempts + ORDERED_SPARE_DELIVERIES)
        if ladder.ordered
        else ladder.immediate.max_retries + SPARE_DELIVERIES
    )
    formula = "all attempts + 10" if ladder.ordered else "immediate retries + 6"
    if (count := known(queue.max_delivery_count)) < least:
        yield Problem(
            ladder.where or queue.name,
            f"{queue.name} has a maxDeliveryCount of {count}, too few for {ladder}",
            "Service Bus dead-letters messages before their retries are used up, and without a reason",
            f"write {formula}, which is {least}, or more; 100 does for most",
        )
    else:
        ladder.be_sure()


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


@rule("A queue with sessions keeps no message for ever.")
def session_expiry(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue whose sessions nothing frees of a message that takes the host along, which Service Bus does not count."""
    queue = known(deployed.queue)
    if known(queue.sessions) and known(queue.lives) is None:
        yield Problem(
            queue.name,
            f"{queue.name} has sessions and keeps messages for ever",
            "a message that takes the host along runs again and again, uncounted, and its session stands still",
            "write a defaultMessageTimeToLive such as 'P4D', and deadLetteringOnMessageExpiration: true",
        )


@rule("A queue of batches has a `lockDuration` longer than `functionTimeout`.")
def batch_lock(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue whose locks end before a batch may: the host renews none of a batch."""
    trigger = known(deployed.trigger)
    if not known(trigger.many):
        return
    queue, timeout = known(deployed.queue), known(deployed.host).function_timeout
    if timeout is None or known(queue.lock) <= timeout:
        yield Problem(
            queue.name,
            f"{queue.name} locks messages for {known(queue.lock)}, and {trigger.function} may take {timeout or 'any time'} for a batch, whose locks are not renewed",
            "a batch that takes longer runs again until it is given up",
            "write a lockDuration of up to PT5M and a shorter functionTimeout, or let single messages trigger the function",
        )


@rule("A subscription that forwards to the queue forwards its dead letters too, and dead-letters what expires.")
def subscriptions(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a subscription whose dead letters stay in it, or that drops messages while forwarding is not possible."""
    for each in known(deployed.subscriptions):
        if str(known(each.forwards_to)).lower() != str(known(deployed.queue_name)).lower():
            yield Problem(
                each.name,
                f"the subscription {each.name} forwards to {each.forwards_to}, and the queue that is made here is {deployed.queue_name}",
                "events do not reach it",
                f"write {deployed.queue_name}",
            )
        if known(each.sessions):
            yield Problem(
                each.name,
                f"the subscription {each.name} has sessions and forwardTo",
                "Service Bus refuses it",
                "leave requiresSession out: the queue has it",
            )
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


@rule(
    "The dead letters of the queue go to the error queue that the code or `RECOVERABLE_ERROR_QUEUE` names, or to a queue from which `stamp` sends there."
)
def same_error_queue(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find two error queues, or one that is not made."""
    queue, named = known(deployed.queue), known(deployed.error_name)
    target = known(queue.dead_letters_to)
    if target is None and named in (deployed.made or ()):
        return  # the rule on dead letters says it
    ends = target and known(deployed.stamped.get(target.lower(), target))
    if ends is not None and same(ends.lower(), named.lower()):
        return
    if target is not None and deployed.made is not None and named.lower() not in map(str.lower, deployed.made):
        if named == DEFAULT_ERROR_QUEUE:
            yield not_set(queue.name, target)
            return
        if near(named, deployed.made) == target:
            return  # a slip of the pen, which another rule says
    theirs = "nowhere" if target is None else f"to {target}"
    yield Problem(
        queue.name,
        f"{queue.name} has its dead letters forwarded {theirs}, and its messages that are given up go to {named}",
        "who looks at one of the two misses what is in the other; to a queue that does not exist nothing can be moved",
        f"write {named} into forwardDeadLetteredMessagesTo, or {target or 'a queue that is made'} as the error queue",
    )


@rule("Queues are named as the file makes them.")
def entity_names(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find names that no queue has: that of the queue, of its error queue, and of the one that gets its dead letters."""
    queue, made = deployed.queue, deployed.made
    if made is None:
        return
    yield from setting_names(deployed)
    names: list[tuple[str, str | Unknown | None]] = [
        ("the code", deployed.queue_name),
        *([] if deployed.error_name == DEFAULT_ERROR_QUEUE else [("the app", deployed.error_name)]),  # which nobody misspelt
        *([] if isinstance(queue, Unknown) else [(queue.name, queue.dead_letters_to)]),
    ]  # fmt: skip
    yield from all_of(named(where, name, made) for where, name in names)


def setting_names(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a name of a queue that is to be an app setting, and is none."""
    code, settings = deployed.code, deployed.settings
    if isinstance(code, Unknown) or isinstance(code.named, Unknown) or isinstance(settings, Unknown):
        return
    names = dict.fromkeys(settings, "it is there")
    for name in re.findall("%([^%]+)%", code.named):
        if find_setting(name, names) is None:
            yield Problem(
                code.where,
                f"%{name}% is no app setting of the file",
                "the host does not start the function",
                f"write %{meant}%" if (meant := near(name, settings)) else f"add {name} to the app settings",
            )


def named(where: str, name: str | Unknown | None, made: frozenset[str]) -> Iterator[Problem]:
    """Find a name that is misspelt; Service Bus tells no small letters from large ones."""
    if (said := known(name)) is not None and said.lower() not in {each.lower() for each in made}:
        yield from misspelt(where, said, made)


@rule("The queue is switched on, and is not deleted when nobody uses it.")
def queue_stays(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue, or an error queue, that Service Bus deletes or does not serve."""
    for each in (known(deployed.queue), deployed.error_queue):
        if isinstance(each, ServiceBusQueue):
            yield from all_of((idle(each), switched_off(each)))


def idle(queue: ServiceBusQueue) -> Iterator[Problem]:
    """Find a queue that is deleted with what is in it."""
    if (time := known(queue.deleted_when_idle)) is not None:
        yield Problem(
            queue.name,
            f"{queue.name} has an autoDeleteOnIdle of {time}",
            "Service Bus deletes it, with the messages that are in it, when nobody uses it for so long",
            "leave autoDeleteOnIdle out",
        )


def switched_off(queue: ServiceBusQueue) -> Iterator[Problem]:
    """Find a queue that takes or gives nothing."""
    if (status := known(queue.status)) != "Active":
        yield Problem(
            queue.name,
            f"{queue.name} has the status {status}",
            "messages are refused, or wait until they expire",
            "leave status out, or write Active",
        )


@rule("Values are such as Azure takes.")
def accepted_values(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find values that Azure refuses."""
    subscriptions = () if isinstance(deployed.subscriptions, Unknown) else deployed.subscriptions
    yield from refused_values(deployed.queue, deployed.error_queue, *subscriptions)


@rule("A queue keeps messages for longer than the ladder's longest delay.")
def delay_life(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue on which copies expire while, or right after, they wait for a retry."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    longest = max(ladder.delays, default=timedelta(0))
    if not ladder.ordered and (lives := known(queue.lives)) is not None and lives <= longest:
        yield Problem(
            queue.name,
            f"{queue.name} keeps messages for {lives}, and the longest delay of the ladder is {longest}",
            "messages expire before their retries are used up",
            "write a longer defaultMessageTimeToLive, or shorter delays",
        )


@rule('A queue of `sessions="ordered"` keeps messages for longer than four times all delays.')
def ladder_life(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a queue on which messages expire while they wait behind one of their session."""
    queue, ladder = known(deployed.queue), known(deployed.ladder)
    least = LADDER_PART * sum(ladder.delays, timedelta(0))
    if ladder.ordered and (lives := known(queue.lives)) is not None and lives <= least:
        yield Problem(
            queue.name,
            f"{queue.name} keeps messages for {lives}, and {LADDER_PART} times all delays of the ladder take {least}",
            "messages expire while they wait behind one of their session",
            "write a longer defaultMessageTimeToLive, or shorter delays",
        )
