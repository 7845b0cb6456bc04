"""Runs the command-line tools that stand beside the interpreter, kept off the network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deadlines import DEADLINE
from servers.ministack import REGION

TOOLS = Path(sys.executable).parent
RUNTIME = f"python{sys.version_info.major}.{sys.version_info.minor}"
NOWHERE = "http://127.0.0.1:9"  # the discard port: whoever asks for a newer version of a tool is refused at once


def sam(*arguments: str) -> str:
    """Run SAM's command line.

    Args:
        arguments: what follows `sam`.

    Returns:
        What it answered on standard output.

    Raises:
        AssertionError: it failed; the message is all that it printed.
    """
    return run(TOOLS / "sam", *arguments, environment=environment())


def bare_python(*arguments: str) -> str:
    """Run this interpreter as if nothing had been installed: no site-packages, no variables, no folder of its own on the path.

    Args:
        arguments: the script and what follows it.

    Returns:
        What it printed on standard output.

    Raises:
        AssertionError: it failed; the message is all that it printed.
    """
    return run(sys.executable, "-I", "-S", "-B", *arguments, environment={})


def run(*command: str | Path, environment: dict[str, str]) -> str:
    """Run a command to its end; its standard output."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment() -> dict[str, str]:
    """Return the variables that SAM needs, and the tools' folder first on the path, where it looks for the runtime's Python."""
    path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    quiet = {"SAM_CLI_TELEMETRY": "0", "HTTPS_PROXY": NOWHERE, "HTTP_PROXY": NOWHERE}
    return {**os.environ, **quiet, "PATH": path, "AWS_DEFAULT_REGION": REGION}
