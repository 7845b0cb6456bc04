"""Compile a Bicep file with the Bicep binary that is here; none is downloaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recoverable_operate.templates._document import TemplateError

LONGEST = 120
"""How many seconds the compiler may take."""

INSTALL = "https://learn.microsoft.com/azure/azure-resource-manager/bicep/install"


def compiled(path: Path, binary: Path | None) -> tuple[str, str]:
    """Return the template that a `.bicep` or a `.bicepparam` makes, and the file of parameters, which is empty for the first.

    Args:
        path: of the file.
        binary: of the compiler; None to look for it.

    Raises:
        TemplateError: there is no compiler here, or it refuses the file.
    """
    compiler = binary or next((each for each in places(os.environ) if each.is_file()), None)
    command = "build" if path.suffix == ".bicep" else "build-params"
    if compiler is None:
        raise TemplateError(
            f"no Bicep compiler is here: install one with `az bicep install` (or see {INSTALL}), or compile it elsewhere with"
            f" `bicep {command} {path.name}` and give what that makes"
        )
    try:
        ran = subprocess.run(  # noqa: S603  # of the compiler that is here, without a shell
            [str(compiler), command, str(path), "--stdout"],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TemplateError(f"{compiler} does not compile it: {error}") from error
    if ran.returncode:
        raise TemplateError(f"{compiler} refuses it\n{ran.stderr.rstrip()}")
    if command == "build":
        return ran.stdout, ""
    both = parsed(ran.stdout, compiler)
    return str(both.get("templateJson") or ""), str(both.get("parametersJson") or "")


def parsed(text: str, compiler: Path) -> Mapping[str, Any]:
    """Return what the compiler prints for parameters: two texts."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise TemplateError(f"{compiler} printed no JSON: {error}") from error
    return found if isinstance(found, dict) else {}


def places(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield where a compiler may be: on PATH, and where `az` and `azd` put theirs."""
    name = "bicep.exe" if os.name == "nt" else "bicep"
    if on_path := shutil.which("bicep", path=environment.get("PATH")):
        yield Path(on_path)
    home = Path.home()
    yield Path(environment.get("AZURE_CONFIG_DIR") or home / ".azure") / "bin" / name
    if tool := environment.get("AZD_BICEP_TOOL_PATH"):
        yield Path(tool)
    yield Path(environment.get("AZD_CONFIG_DIR") or home / ".azd") / "bin" / name
