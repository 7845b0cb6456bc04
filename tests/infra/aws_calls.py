"""Which operations of AWS's services a piece of Python code calls, read off its syntax trees, and the IAM action that each one needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import botocore.session
from botocore import xform_name

SAME_ACTION = "Batch"
"""SendMessageBatch is authorised as sqs:SendMessage, and so are its like (Amazon SQS Developer Guide, "Amazon SQS API permissions")."""


@cache
def operations(service: str) -> dict[str, str]:
    """Return every operation of a service by the name of its client method: `{"send_message": "SendMessage", ...}`."""
    names: Iterable[str] = botocore.session.get_session().get_service_model(service).operation_names
    return {xform_name(name): name for name in names}


def methods_called(service: str, place: Path) -> set[str]:
    """Return the client methods of a service that some code calls.

    Args:
        service: such as "sqs".
        place: a file, or a folder that is searched with all that is below it.
    """
    files = place.rglob("*.py") if place.is_dir() else [place]
    return {name for file in files for name in methods_in(service, file.read_text())}


def methods_in(service: str, source: str) -> set[str]:
    """Return the client methods that one module names, as an attribute or as a text; naming one counts as calling it."""
    return {name for name in names_in(ast.parse(source)) if name in operations(service)}


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield every attribute and every text of a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                yield name
            case _:
                pass


def action(service: str, method: str) -> str:
    """Return the IAM action that a client method needs."""
    name = operations(service)[method]
    return f"{service}:{name.removesuffix(SAME_ACTION) if service == 'sqs' else name}"
