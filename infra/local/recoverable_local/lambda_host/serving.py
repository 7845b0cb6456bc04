"""Start and stop the threads of a stack: a pool of instances per function, a poller per mapping, a runner per schedule."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread

from recoverable_local.decisions import FactsFile
from recoverable_local.lambda_host.journal import FunctionLog, Journal
from recoverable_local.lambda_host.mapping import Poller
from recoverable_local.lambda_host.runtime.environment import lambda_variables
from recoverable_local.lambda_host.runtime.in_process import InProcessInstance
from recoverable_local.lambda_host.runtime.instance import ProcessInstance
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.managed import Environment, Environments
from recoverable_local.lambda_host.runtime.pool import Instance, Pool
from recoverable_local.lambda_host.sam.created import CreatedQueue
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Schedule, Stack
from recoverable_local.lambda_host.schedule import ScheduleRunner
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.lambda_host.settings import Settings
from recoverable_operate.templates import ACCOUNT


@dataclass(frozen=True, slots=True)
class ServingContext:
    """The broker, the created queues by logical id, the journal, the endpoints' facts and the settings that a stack is served with."""

    sqs: Sqs
    created: Mapping[str, CreatedQueue]
    journal: Journal
    facts: FactsFile
    settings: Settings


@contextmanager
def serving(stack: Stack, context: ServingContext) -> Iterator[None]:
    """Poll the queues, run the schedules and the functions. At the end kill every instance and wait for every thread."""
    invokers = {function.logical_id: _invoker(function, context) for function in stack.functions}
    stopping = Event()
    threads = [
        *(_poller_thread(mapping, stack, context, invokers[mapping.function], stopping) for mapping in stack.mappings),
        *(_schedule_thread(schedule, context, invokers[schedule.function], stopping) for schedule in stack.schedules),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for invoker in invokers.values():
            invoker.pool.close()
            invoker.stop()
        for thread in threads:
            thread.join()


def _invoker(function: Function, context: ServingContext) -> Invoker:
    account = next((queue.arn.split(":")[4] for queue in context.created.values()), ACCOUNT)
    limit = 1 if context.settings.in_process else function.reserved_concurrency
    environments = Environments(lambda: _environment(function, context))
    managed = function.processes is not None and not context.settings.in_process
    return Invoker(
        function=function,
        arn=f"arn:aws:lambda:{context.settings.region}:{account}:function:{function.name}",
        pool=Pool(environments.place if managed else lambda: _instance(function, context), limit=limit),
        journal=context.journal,
        facts=context.facts,
        stop=environments.stop,
    )


def _poller_thread(
    mapping: EventSourceMapping, stack: Stack, context: ServingContext, invoker: Invoker, stopping: Event
) -> Thread:
    settings = context.settings
    queue = next(queue for queue in stack.queues if queue.name == mapping.queue)
    concurrency = min(settings.concurrency, mapping.max_concurrency or settings.concurrency)
    poller = Poller(
        mapping,
        queue=context.created[queue.logical_id],
        fifo=queue.fifo,
        visibility_timeout=queue.visibility_timeout,
        redeliver_after=settings.redeliver_after,
        concurrency=1 if settings.in_process else concurrency,
        sqs=context.sqs,
        invoker=invoker,
        stopping=stopping,
    )
    return Thread(target=poller.run, name=f"poll-{mapping.name}", daemon=True)


def _schedule_thread(schedule: Schedule, context: ServingContext, invoker: Invoker, stopping: Event) -> Thread:
    every = context.settings.schedule_interval or schedule.every
    runner = ScheduleRunner(schedule, every, invoker, stopping)
    return Thread(target=runner.run, name=f"tick-{schedule.name}", daemon=True)


def _instance(function: Function, context: ServingContext) -> Instance:
    variables = _variables(function, context)
    if context.settings.in_process:
        return InProcessInstance(function, variables=variables)
    return ProcessInstance(function, variables=variables, host=os.environ, on_line=_journaling(function, context))


def _environment(function: Function, context: ServingContext) -> Environment:
    variables = _variables(function, context)
    return Environment(function, variables=variables, host=os.environ, on_line=_journaling(function, context))


def _variables(function: Function, context: ServingContext) -> dict[str, str]:
    variables = lambda_variables(
        function,
        region=context.settings.region,
        endpoint_url=context.sqs.endpoint_url,
        log_stream=f"{datetime.now(UTC):%Y/%m/%d}/[$LATEST]{uuid.uuid4().hex}",
        host=os.environ,
        redeliver_after=context.settings.redeliver_after,
    )
    return variables | context.facts.variables


def _journaling(function: Function, context: ServingContext) -> Callable[[int, str], None]:
    return lambda pid, line: context.journal(FunctionLog(function.name, pid, line))
