"""Hold the names of the runtime's exceptions: operators filter and group failures by ExceptionType, so a class that moves keeps its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

from sources import module_of, runtime, tree

NAMES = {
    "recoverable.HandlerTimeout",
    "recoverable.MessageDeserializationError",
    "recoverable.OutgoingRefused",
    "recoverable.RetryAfter",
    "recoverable.UnreportedFailure",
    "recoverable.aws.bodies.BodyNotFetched",
    "recoverable.aws.endpoint.UnfinishedBatch",
    "recoverable.aws.pause_store.NotNow",
    "recoverable.azure.client.CopyNotSent",
    "recoverable.azure.ladder.Abandoned",
    "recoverable.azure.sending.group_commit.NotTried",
    "recoverable.errors.TimeUp",
    "recoverable.observe.host_errors.RedactedFailure",
    "recoverable.operate.aws.messages.Unsendable",
    "recoverable.operate.azure.messages.UncopyableBody",
    "recoverable.operate.check.bicep.values.BicepError",
    "recoverable.operate.check.cloudformation.document.TemplateError",
    "recoverable.operate.check.known.NotUnderstood",
    "recoverable.operate.port.OperateError",
    "recoverable.rate_limit.StoreUnavailable",
    "recoverable.timeouts.circuit.CriticalError",
    "recoverable.timeouts.client.SendFailed",
    "recoverable.timeouts.dynamodb_errors.ConditionFailed",
    "recoverable.timeouts.store.StoreUnavailable",
    "recoverable.timeouts.store.TooLarge",
    "recoverable.timeouts.timeout.Unreadable",
}


def test_exceptions_keep_their_names() -> None:
    assert {f"{each.__module__}.{each.__qualname__}" for each in exceptions()} == NAMES


def exceptions() -> Iterator[type[BaseException]]:
    """Yield the exceptions that the runtime's files define, whatever module they say they are of."""
    for path in runtime():
        names = [node.name for node in tree(path).body if isinstance(node, ast.ClassDef)]
        module = import_module(module_of(path)) if names else None
        for name in names:
            defined = getattr(module, name, None)
            if isinstance(defined, type) and issubclass(defined, BaseException):
                yield defined
