"""Puts the parts together for a stack: a pool of instances for each function, a poller for each mapping, a ticker for each schedule."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread

from recoverable_local.lambda_host.journal import FunctionLog, Journal
from recoverable_local.lambda_host.mapping import Poller
from recoverable_local.lambda_host.runtime.environment import lambda_variables
from recoverable_local.lambda_host.runtime.in_process import InProcessInstance
from recoverable_local.lambda_host.runtime.instance import ProcessInstance
from recoverable_local.lambda_host.runtime.invoker import Invoker
from recoverable_local.lambda_host.runtime.pool import Instance, Pool
from recoverable_local.lambda_host.sam.created import SOMEWHERE, CreatedQueue
from recoverable_local.lambda_host.sam.stack import EventSourceMapping, Function, Schedule, Stack
from recoverable_local.lambda_host.schedule import Ticker
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_local.lambda_host.settings import Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stack is served: the broker, what it calls the queues, who hears what happens, and how it is run."""

    sqs: Sqs
    created: Mapping[str, CreatedQueue]
    journal: Journal
    settings: Settings


@contextmanager
def serving(stack: Stack, place: Place) -> Iterator[None]:
    """Read the queues, follow the schedules and run the functions; at the end every instance is killed and every thread is over."""
    invokers = {function.logical_id: _invoker(function, place) for function in stack.functions}
    stopping = Event()
    threads = [
        *(_poller(mapping, stack, place, invokers[mapping.function], stopping) for mapping in stack.mappings),
        *(_ticker(schedule, place, invokers[schedule.function], stopping) for schedule in stack.schedules),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for invoker in invokers.values():
            invoker.pool.close()
        for thread in threads:
            thread.join()


def _invoker(function: Function, place: Place) -> Invoker:
    account = next((queue.arn.split(":")[4] for queue in place.created.values()), SOMEWHERE)
    limit = 1 if place.settings.in_process else function.reserved_concurrency
    return Invoker(
        function=function,
        arn=f"arn:aws:lambda:{place.settings.region}:{account}:function:{function.name}",
        pool=Pool(lambda: _instance(function, place), limit=limit),
        journal=place.journal,
    )


def _poller(mapping: EventSourceMapping, stack: Stack, place: Place, invoker: Invoker, stopping: Event) -> Thread:
    settings = place.settings
    queue = next(queue for queue in stack.queues if queue.name == mapping.queue)
    concurrency = min(settings.concurrency, mapping.max_concurrency or settings.concurrency)
    poller = Poller(
        mapping,
        queue=place.created[queue.logical_id],
        fifo=queue.fifo,
        visibility_timeout=settings.visibility_timeout or queue.visibility_timeout,
        concurrency=1 if settings.in_process else concurrency,
        sqs=place.sqs,
        invoker=invoker,
        stopping=stopping,
    )
    return Thread(target=poller.run, name=f"poll-{mapping.name}", daemon=True)


def _ticker(schedule: Schedule, place: Place, invoker: Invoker, stopping: Event) -> Thread:
    every = place.settings.schedule_interval or schedule.every
    ticker = Ticker(schedule, every, invoker, stopping)
    return Thread(target=ticker.run, name=f"tick-{schedule.name}", daemon=True)


def _instance(function: Function, place: Place) -> Instance:
    now = datetime.now(UTC)
    variables = lambda_variables(
        function,
        region=place.settings.region,
        endpoint_url=place.sqs.endpoint_url,
        log_stream=f"{now:%Y/%m/%d}/[$LATEST]{uuid.uuid4().hex}",
        host=os.environ,
    )
    if place.settings.in_process:
        return InProcessInstance(function, variables=variables)
    return ProcessInstance(
        function,
        variables=variables,
        host=os.environ,
        on_line=lambda pid, line: place.journal(FunctionLog(function.name, pid, line)),
    )
