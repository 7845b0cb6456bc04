"""Let the operator edit one body in their editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from recoverable_operate.failed import FailedMessage
from recoverable_operate.port import OperateError
from recoverable_operate.sweep import Plan


def edited_body(plan: Plan) -> bytes:
    """Return the body of the one message of the plan, as the operator leaves it.

    Raises:
        OperateError: there are several messages, no body, no editor, or the body is unchanged.
    """
    message = plan.last
    if plan.chosen != 1 or message is None:
        raise OperateError(f"--edit takes one message, and {plan.chosen} match; choose it with --id")
    if message.body is None:
        raise OperateError(f"the body of {message.id} is {message.body_error}, so it cannot be edited here")
    body = in_editor(message, editor())
    if body == message.body:
        raise OperateError("the body is unchanged; nothing is sent")
    return body


def editor() -> list[str]:
    """Return the command of the operator's editor (POSIX, VISUAL and EDITOR).

    Raises:
        OperateError: there is none.
    """
    if command := os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        return shlex.split(command)
    raise OperateError("no editor: set EDITOR")


def in_editor(message: FailedMessage, command: list[str]) -> bytes:
    """Return the body as the editor leaves it, in a file that only its owner can read."""
    with tempfile.TemporaryDirectory(prefix="recoverable-") as folder:
        file = Path(folder) / "body.json"
        file.write_bytes(message.body or b"")
        try:
            subprocess.run([*command, str(file)], check=True)  # noqa: S603  # the operator's own command
        except (OSError, subprocess.CalledProcessError) as error:
            raise OperateError(f"the editor failed, and nothing is sent: {error}") from None
        return file.read_bytes()
