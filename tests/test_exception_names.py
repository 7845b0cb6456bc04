"""Hold the names of exceptions: operators filter and group failures by ExceptionType. A public one is named by the package that it is imported from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module

import pytest

import recoverable
from sources import PUBLIC, module_of, operate, runtime, tree

NAMES = {
    "recoverable.HandlerTimeout",
    "recoverable.MessageDeserializationError",
    "recoverable.OutgoingRefused",
    "recoverable.RetryAfter",
    "recoverable.StoreUnavailable",
    "recoverable.UnreportedFailure",
    "recoverable.extensions.BodyNotFetched",
    "recoverable.aws.UnfinishedBatch",
    "recoverable.azure.Abandoned",
    "recoverable.azure.CopyNotSent",
    "recoverable.hosting.TimeUp",
    "recoverable.timeouts.CriticalError",
    "recoverable.timeouts.SendFailed",
    "recoverable.timeouts.TooLarge",
    "recoverable.timeouts._timeout.Unreadable",
    "recoverable._flow.for_host.RedactedFailure",
    "recoverable_operate._stamp.service_bus_client.NotStamped",
    "recoverable_operate.errors._aws.messages.Unsendable",
    "recoverable_operate.errors._azure.messages.UncopyableBody",
    "recoverable_operate.templates._document.MissingValue",
    "recoverable_operate.templates._document.RefusedValue",
    "recoverable_operate.templates._document.TemplateError",
    "recoverable_operate.rules._rule.NotUnderstood",
    "recoverable_operate.errors._queue.OperateError",
}


def test_exceptions_keep_their_names() -> None:
    assert {f"{each.__module__}.{each.__qualname__}" for each in exceptions()} == NAMES


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_a_public_exception_is_named_by_the_package_that_users_import_it_from(package: str) -> None:
    module = import_module(package)
    public = {name: getattr(module, name) for name in module.__all__}
    named = {
        name: each.__module__
        for name, each in public.items()
        if isinstance(each, type) and issubclass(each, BaseException) and each is not recoverable.StoreUnavailable
    }

    assert named == dict.fromkeys(named, package)


def exceptions() -> Iterator[type[BaseException]]:
    """Yield the exceptions that the files of the runtime and of the operator's commands define, whatever module they say they are of."""
    for path in (*runtime(), *operate()):
        names = [node.name for node in tree(path).body if isinstance(node, ast.ClassDef)]
        module = import_module(module_of(path)) if names else None
        for name in names:
            defined = getattr(module, name, None)
            if isinstance(defined, type) and issubclass(defined, BaseException):
                yield defined
