"""Hold the names of the runtime's exceptions: operators filter and group failures by ExceptionType, so a class that moves keeps its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

from sources import module_of, operate, runtime, tree

NAMES = {
    "recoverable.HandlerTimeout",
    "recoverable.MessageDeserializationError",
    "recoverable.OutgoingRefused",
    "recoverable.RetryAfter",
    "recoverable.UnreportedFailure",
    "recoverable.aws._large_bodies.BodyNotFetched",
    "recoverable.aws._endpoint.UnfinishedBatch",
    "recoverable.aws._pause.NotNow",
    "recoverable._service_bus.broker.CopyNotSent",
    "recoverable.azure.ladder.Abandoned",
    "recoverable._service_bus.group_commit.NotTried",
    "recoverable._errors.TimeUp",
    "recoverable._observe.host_errors.RedactedFailure",
    "recoverable_operate.aws.messages.Unsendable",
    "recoverable_operate.azure.messages.UncopyableBody",
    "recoverable_operate.check.bicep.values.BicepError",
    "recoverable_operate.check.cloudformation.document.TemplateError",
    "recoverable_operate.check.known.NotUnderstood",
    "recoverable_operate.port.OperateError",
    "recoverable.rate_limit.StoreUnavailable",
    "recoverable.timeouts.circuit.CriticalError",
    "recoverable.timeouts._client.SendFailed",
    "recoverable.timeouts.store.StoreUnavailable",
    "recoverable.timeouts.store.TooLarge",
    "recoverable.timeouts._timeout.Unreadable",
}


def test_exceptions_keep_their_names() -> None:
    assert {f"{each.__module__}.{each.__qualname__}" for each in exceptions()} == NAMES


def exceptions() -> Iterator[type[BaseException]]:
    """Yield the exceptions that the files of the runtime and of the operator's commands define, whatever module they say they are of."""
    for path in (*runtime(), *operate()):
        names = [node.name for node in tree(path).body if isinstance(node, ast.ClassDef)]
        module = import_module(module_of(path)) if names else None
        for name in names:
            defined = getattr(module, name, None)
            if isinstance(defined, type) and issubclass(defined, BaseException):
                yield defined
