"""Run a Function App on a local Service Bus as Azure does, without Azure, Core Tools or Docker.

The modules, in the order in which a message passes through them:

    app/                   read the app's folder:
        folder             read the app settings and host.json
        triggers, entities parse the functions' bindings, and list the queues that a namespace served here must have (pure)
    extension/             what the Service Bus extension of the Functions host does:
        listeners, link    receive from a queue with peek-lock
        renewal            renew locks
        metadata           convert a message into the trigger's data and metadata (pure)
        timestamps         tell dates from numbers among a message's properties
        invocations        run one invocation and settle its messages
        outputs            send what the function gave to its output bindings
    worker/                the process that runs the functions:
        rpc                convert values into the form that the worker gets (pure)
        workers            keep one worker process: kill it at functionTimeout, replace it when it ends
        worker, process    start the process, send it requests, take its answers
        worker_process     the script that runs in the process, with Microsoft's runtime and the app
        outcomes           how an invocation can end
    journal                the entries that observers get; formatting turns one into a line of text
    serving, background    start and stop all of this, in an event loop on a thread of its own
    sending, host          start, stop, send, inspect, wait

It runs any function with a Service Bus trigger. From `recoverable` it uses only the parsing of connection settings.
"""

from recoverable_local.decisions import Decided
from recoverable_local.functions_host.app.folder import AppError
from recoverable_local.functions_host.journal import Delivered, Ended, Entry, FunctionLog, Invoked, Started, Trouble
from recoverable_local.functions_host.worker.outcomes import Outcome, Raised, Returned
from recoverable_local.functions_host.worker.rpc import Typed
from recoverable_local.functions_host.worker.worker import Function, Worker
from recoverable_local.outcomes import Died, TimedOut
from recoverable_operate.templates import MINIMAL_HOST_JSON

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
    "MINIMAL_HOST_JSON",
    "AppError",
    "Decided",
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
