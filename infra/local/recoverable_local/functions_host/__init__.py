"""Runs a Function App on a local Service Bus as Azure would, without Azure, Core Tools or Docker.

How the pieces fit, in the order in which a message meets them:

    app, host_json              the folder → options and app settings (pure, but for reading it)
    triggers, entities          what the functions read; the queues that a namespace here must have (pure)
    listeners, link, renewal    receive from a queue with peek-lock, as the Service Bus extension does; renew locks
    metadata, rpc               message → what the worker is told, by the host's names and types (pure)
    invocations                 one invocation, and what becomes of its messages
    workers                     the worker process of the moment; killed at functionTimeout, replaced when it dies
    worker, process, worker_process   a process with Microsoft's own runtime and the app in it, from without and from within
    outcomes, journal           how an invocation can end, and what was seen to happen
    serving, running, host      the same from the outside: start, stop, send, look, wait

It hosts any Function with a Service Bus trigger; of `recoverable` outside `recoverable_local` it uses only how connections are read.
"""

from recoverable_local.functions_host.app.folder import AppError
from recoverable_local.functions_host.journal import Delivered, Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Outcome, Raised, Returned
from recoverable_local.functions_host.worker.rpc import Typed
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.outcomes import Died, TimedOut

try:
    from recoverable_local.functions_host.host import LocalFunctions
    from recoverable_local.functions_host.settings import Settings
except ModuleNotFoundError as error:
    if error.name is None or not error.name.startswith("azure"):
        raise
    raise ModuleNotFoundError(
        f"recoverable_local.functions_host needs {error.name}: pip install 'recoverable[local-azure]'", name=error.name
    ) from error

__all__ = [
    "AppError",
    "Delivered",
    "Died",
    "Ended",
    "Entry",
    "Function",
    "FunctionLog",
    "Invoked",
    "LocalFunctions",
    "Outcome",
    "Raised",
    "Returned",
    "Settings",
    "Started",
    "TimedOut",
    "Trouble",
    "Typed",
    "Worker",
]
