"""Runs a Function App on a local Service Bus as Azure would, without Azure, Core Tools or Docker.

How the pieces fit, in the order in which a message meets them:

    rpc             a value of the host → the form in which the worker gets it (pure)
    worker          a process with Microsoft's own runtime and the app in it, from the host's side
    worker_process  the same from within: the script that the process runs
    outcomes        how an invocation can end

Nothing of `recoverable` outside `recoverable.local` is imported: it hosts any Function with a Service Bus trigger.
"""

from recoverable.local.azure.outcomes import Died, Outcome, Raised, Returned, TimedOut
from recoverable.local.azure.rpc import Typed
from recoverable.local.azure.worker import AppError, Function, Worker

__all__ = ["AppError", "Died", "Function", "Outcome", "Raised", "Returned", "TimedOut", "Typed", "Worker"]
