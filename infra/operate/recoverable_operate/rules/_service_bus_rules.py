"""Rules on a Function App that reads a Service Bus queue: host.json, triggers, code, settings and roles; and the list of all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from recoverable._service_bus.app_settings import LOCK_DURATION, connection, duration
from recoverable_operate.rules._endpoint import handler_times
from recoverable_operate.rules._ladder import variable_problems
from recoverable_operate.rules._names import near
from recoverable_operate.rules._on_service_bus import NAMESPACE, THREADS, OnServiceBus, ServiceBusQueue
from recoverable_operate.rules._rule import NotUnderstood, Problem, Rule, Unknown, all_of, known, rule
from recoverable_operate.rules._service_bus_queue_rules import (
    accepted_values,
    batch_lock,
    dead_letters,
    delay_life,
    entity_names,
    error_queue_duplicates,
    error_queue_expiry,
    error_queue_forwards,
    expiry,
    ladder_life,
    max_delivery_count,
    queue_stays,
    same_error_queue,
    session_expiry,
    subscriptions,
    tier,
)

HOST = "host.json"
DYNAMIC = "concurrency__dynamicconcurrencyenabled"
BUS, SAMPLING = "extensions__servicebus__", "logging__applicationinsights__samplingsettings__"
"""How the paths of host.json begin that are of Service Bus, and of sampling."""


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
    if (
        not isinstance(deployed.host_values, Unknown)
        and str(deployed.host_values.get(DYNAMIC, False)).lower() == "true"
    ):
        raise NotUnderstood(
            "host.json has dynamicConcurrencyEnabled, so how many run at a time is known in Azure alone"
        )
    if load.calls > load.threads:
        fewer = f"a maxConcurrentCalls of {load.threads} into host.json, or " if load.by_calls else ""
        yield Problem(
            HOST,
            f"up to {load.calls} invocations of plain functions run at a time, and the worker has {load.threads} threads",
            "the others wait for one while their functionTimeout runs",
            f"write {fewer}the app setting {THREADS} of {load.calls}",
        )


@rule("The trigger gives binary data, as `blueprint()` sets it.")
def binary_data(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that gives text: the host makes trigger metadata of what a JSON body says."""
    trigger = known(deployed.trigger)
    if not known(trigger.binary):
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
    if not (known(deployed.host).auto_complete_messages if trigger.completes is None else known(trigger.completes)):
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


WANTED = {
    "receive": ("Azure Service Bus Data Receiver", "the host cannot read the queue"),
    "send": (
        "Azure Service Bus Data Sender",
        "copies are refused: what is given up waits, and delayed retries come at once",
    ),
}


@rule("The app's identity may receive and send on the queue, and send to the error queue.")
def roles(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find roles that are missing, or somebody else's: copies go to both queues, and the host receives from one."""
    queue, errors = known(deployed.queue), deployed.error_queue
    own = [granted(deployed, "receive", queue.name), granted(deployed, "send", queue.name)]
    return all_of([*own, on_the_error_queue(deployed, errors)])


def on_the_error_queue(deployed: OnServiceBus, errors: ServiceBusQueue | Unknown | None) -> Iterator[Problem]:
    """Find the role to send to the error queue, if it is missing."""
    if (there := known(errors)) is not None:
        yield from granted(deployed, "send", there.name)


def granted(deployed: OnServiceBus, right: Literal["receive", "send"], entity: str) -> Iterator[Problem]:
    """Find a role that the app's identity does not have on an entity."""
    name, causes = WANTED[right]
    have = [
        each for each in known(deployed.grants) if each.role in (right, "own") and each.scope in (entity, NAMESPACE)
    ]
    identities = deployed.identities
    theirs = [each.principal for each in have if not isinstance(each.principal, Unknown)]
    if not isinstance(identities, Unknown) and identities & set(theirs):
        return
    if len(theirs) < len(have) or (have and isinstance(identities, Unknown)):
        raise NotUnderstood(
            f"somebody has the role {name} on {entity}, and whether that is the app's identity is not known here"
        )
    names = ", ".join(each.rpartition("/")[2] for each in theirs)
    whose = f"only {names} has" if theirs else "the app's identity has no"
    yield Problem(
        entity,
        f"{whose}{' the' if theirs else ''} role {name} on {entity}",
        causes,
        f"assign {name} with {entity} as scope to the app's identity",
    )


@rule("The connection of the endpoint is among the app settings.")
def connections(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a connection under whose name there is no setting: the host does not start the function."""
    code, said = known(deployed.code), known(deployed.settings)
    name = known(code.connection)
    if "__" in name:
        yield Problem(
            code.where,
            f"{code.where} has the connection {name!r}, which is a whole setting's name",
            "the host looks for a setting that begins with it, and does not start the function",
            f"write {name.partition('__')[0]!r}",
        )
        return
    try:
        connection(name, {key: value if isinstance(value, str) else HIDDEN for key, value in said.items()})
    except ValueError as error:
        wrong, _, write = str(error).partition("; ")
        yield Problem(code.where, wrong, "the host does not start the function", write)


HIDDEN = "not known before deployment"
"""Stands for the value of a setting that is there and not known."""


@rule("The endpoint has `sessions` if the queue has, and only then.")
def session_kind(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that cannot read its queue: a queue with sessions is read by sessions alone, and one without by none."""
    code, queue = known(deployed.code), known(deployed.queue)
    if (theirs := known(queue.sessions)) != bool(known(code.sessions)):
        yield Problem(
            code.where,
            f"{code.where} has {'no sessions' if theirs else 'sessions'}, and {queue.name} has {'them' if theirs else 'none'}",
            "the host cannot receive from it",
            "write sessions=True" if theirs else "leave sessions out, or write requiresSession: true on the queue",
        )


@rule("A trigger gives many messages if its endpoint has `batch=True`, and only then.")
def cardinality(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a trigger that gives an endpoint what it does not take."""
    code, trigger = known(deployed.code), known(deployed.trigger)
    if (batch := known(code.batch)) != (many := known(trigger.many)):
        yield Problem(
            code.where,
            f"{code.where} {'has' if batch else 'has no'} batch=True, and the trigger of {trigger.function} gives {'many messages' if many else 'single messages'}",
            "the endpoint refuses what it is given",
            f"write cardinality={'MANY' if batch else 'ONE'} on the trigger, or batch={many}",
        )


@rule("A `lock` in the code, or `RECOVERABLE_LOCK_DURATION`, is no longer than the queue's `lockDuration`.")
def stated_lock(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find an endpoint that goes on working after its locks have ended."""
    code, queue = known(deployed.code), known(deployed.queue)
    where, said = code.where, known(code.lock)
    if said is None and known(code.batch) and LOCK_DURATION in (settings := known(deployed.settings)):
        where, said = LOCK_DURATION, duration(known(settings[LOCK_DURATION]))
    if said is not None and said > (lock := known(queue.lock)):
        yield Problem(
            where,
            f"{where} says a lock of {said}, and {queue.name} locks messages for {lock}",
            "batches run again while they are still worked on, and their messages multiply",
            f"write lock=timedelta(seconds={lock.total_seconds():.0f}), or a longer lockDuration",
        )


@rule("`handler_timeout` in the code is shorter than `functionTimeout`.")
def handler_limit(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a limit that is never reached: the host ends the function first."""
    code = known(deployed.code)
    if code.handler_timeout is not None and (longest := known(deployed.host).function_timeout) is not None:
        yield from handler_times(code, longest, "functionTimeout")


@rule("`functionTimeout` is no longer than the plan lets a function run.")
def plan_timeout(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a time that the plan refuses: the host does not start."""
    if isinstance(deployed.longest, Unknown) or deployed.longest is None:
        return  # most plans have no limit, and the plan may be of another file
    timeout = known(deployed.host).function_timeout
    if timeout is None or timeout > deployed.longest:
        yield Problem(
            HOST,
            f"host.json has a functionTimeout of {timeout or 'any time'}, and the plan Consumption allows {deployed.longest}",
            "the host does not start",
            "write a functionTimeout of 00:10:00 at most, or another plan",
        )


@rule('`sessions="ordered"` has one message of a session at a time.')
def session_calls(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find messages of one session that run at the same time."""
    code = known(deployed.code)
    if known(code.sessions) != "ordered":
        return
    if str(calls := known(deployed.host_values).get(f"{BUS}maxconcurrentcallspersession", 1)) != "1":
        yield Problem(
            HOST,
            f"host.json has a maxConcurrentCallsPerSession of {calls}",
            "messages of one session run at the same time, and their order is lost",
            "leave maxConcurrentCallsPerSession out",
        )


@rule("Sampling keeps traces, where host.json sets it.")
def sampling(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find sampling that drops lines of the log."""
    values = known(deployed.host_values)
    settings = {name.removeprefix(SAMPLING): each for name, each in values.items() if name.startswith(SAMPLING)}
    is_on = bool(settings) and str(settings.get("isenabled")).lower() != "false"
    if is_on and "Trace" not in str(settings.get("excludedtypes", "")).split(";"):
        yield Problem(
            HOST,
            "host.json has samplingSettings that do not exclude Trace",
            "lines of the log are dropped when there is much, and counts of them are too low",
            'write "excludedTypes": "Trace;Exception"',
        )


SERVICE_BUS_NAMES = frozenset({
    "autocompletemessages", "clientretryoptions", "enablecrossentitytransactions", "maxautolockrenewalduration", "maxbatchwaittime",
    "maxconcurrentcalls", "maxconcurrentcallspersession", "maxconcurrentsessions", "maxmessagebatchsize", "minmessagebatchsize",
    "prefetchcount", "sessionidletimeout", "transporttype", "webproxy",
})  # fmt: skip
"""The names of extension 5 (azure-sdk-for-net, `ServiceBusOptions`)."""

OLD_NAMES = frozenset({"messagehandleroptions", "sessionhandleroptions", "batchoptions"})
"""The layout of extension 4, which extension 5 obeys as far as no flat name says the same."""


@rule("host.json has names that the Service Bus extension obeys.")
def host_names(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find names that nobody obeys."""
    values = known(deployed.host_values)
    names = dict.fromkeys(each.removeprefix(BUS).partition("__")[0] for each in values if each.startswith(BUS))
    for name in names:
        if name not in SERVICE_BUS_NAMES | OLD_NAMES:
            meant = near(name, SERVICE_BUS_NAMES)
            yield Problem(
                HOST,
                f"host.json has {name} in extensions.serviceBus, which the extension does not obey",
                "what it is to set has its default",
                f"write {meant}" if meant else "leave it out",
            )
    if old := [name for name in names if name in OLD_NAMES]:
        raise NotUnderstood(f"host.json has {', '.join(old)}, of the layout before extension 5, which is not read here")


NEEDED_BUNDLE = 4


@rule("`host.json` takes extension bundle 4.")
def extension_bundle(deployed: OnServiceBus) -> Iterator[Problem]:
    """Find a Service Bus extension that is too old."""
    bundle = known(deployed.bundle)
    if bundle is None:
        yield Problem(
            HOST,
            "host.json has no extensionBundle",
            "Azure does not know the Service Bus trigger, and runs no function",
            'write "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}',
        )
    if bundle is not None and bundle.major < NEEDED_BUNDLE:
        yield Problem(
            HOST,
            f"host.json takes extension bundle {bundle.major} ({bundle.written})",
            "copies lack session, partition key and subject, which the trigger does not give",
            'write "version": "[4.*, 5.0.0)"',
        )


SERVICE_BUS_RULES: tuple[Rule[OnServiceBus], ...] = (
    lock_renewal, prefetch, extension_bundle, plan_timeout, session_calls, sampling, host_names, accepted_values, queue_stays, delay_life, threads, binary_data, cardinality, completion, one_reader, connections,
    session_kind, max_delivery_count, dead_letters, same_error_queue, entity_names, expiry, session_expiry, ladder_life, batch_lock,
    stated_lock, handler_limit, subscriptions, tier, error_queue_duplicates, error_queue_expiry, error_queue_forwards,
    roles, settings,
)  # fmt: skip
"""The rules where the Functions host reads a Service Bus queue, in the order of findings."""
