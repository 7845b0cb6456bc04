"""Runs the command-line tools that stand beside the interpreter, kept off the network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from infra.sam_template import REGION

TOOLS = Path(sys.executable).parent
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
NOWHERE = (
    "http://127.0.0.1:9"  # the discard port: whoever asks for a newer version of a tool is refused at once
)


def sam(*arguments: str) -> str:
    """Run SAM's command line.

    Args:
        arguments: what follows `sam`.

    Returns:
        All that it printed.

    Raises:
        AssertionError: it failed; the message is what it printed.
    """
    done = subprocess.run(
        [TOOLS / "sam", *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def environment() -> dict[str, str]:
    """The variables that SAM needs, and the tools' folder first on the path, where it looks for the runtime's Python."""
    path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    quiet = {"SAM_CLI_TELEMETRY": "0", "HTTPS_PROXY": NOWHERE, "HTTP_PROXY": NOWHERE}
    return {**os.environ, **quiet, "PATH": path, "AWS_DEFAULT_REGION": REGION}
