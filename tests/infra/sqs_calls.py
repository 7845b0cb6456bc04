"""Which SQS operations a folder of Python code calls, read off its syntax trees, and the IAM action that each one needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import botocore.session
from botocore import xform_name

SAME_ACTION = "Batch"
"""SendMessageBatch is authorised as sqs:SendMessage, and so are its like (Amazon SQS Developer Guide, "Amazon SQS API permissions")."""


@cache
def operations() -> dict[str, str]:
    """Every SQS operation by the name of its client method: `{"send_message": "SendMessage", ...}`."""
    names: Iterable[str] = botocore.session.get_session().get_service_model("sqs").operation_names
    return {xform_name(name): name for name in names}


def methods_called(folder: Path) -> set[str]:
    """The SQS client methods that the folder's code calls.

    Args:
        folder: searched with all that is below it.
    """
    sources = [path.read_text() for path in folder.rglob("*.py")]
    return {name for source in sources for name in methods_in(source)}


def methods_in(source: str) -> set[str]:
    """The SQS client methods that one module mentions as an attribute; passing one on counts as calling it."""
    attributes = (node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return {name for name in attributes if name in operations()}


def action(method: str) -> str:
    """The IAM action that a client method needs."""
    return f"sqs:{operations()[method].removesuffix(SAME_ACTION)}"
