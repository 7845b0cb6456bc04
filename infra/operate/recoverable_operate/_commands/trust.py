"""Let all count that a project's `recoverable.toml` says, as long as it stays as it is: `allow`, `endpoint`, `profile`, `proxy`, `role` too.

Your own file, in ~/.config/recoverable, needs no trust.
"""

from __future__ import annotations

import argparse

from recoverable_operate._commands.places import FILE, NEEDS_TRUST, PlacesFile, project_file, read, trust
from recoverable_operate._commands.terminal import DONE, REFUSED, Terminal
from recoverable_operate.errors import OperateError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the argument."""
    parser.add_argument("--yes", action="store_true", help="do it without asking")


def run(arguments: argparse.Namespace) -> int:
    """Show what the file says, ask, and trust it. Return 0; 2 when it cannot be read, or nobody agrees."""
    terminal = Terminal()
    try:
        return trust_project(terminal, yes=arguments.yes)
    except (OSError, OperateError) as error:
        terminal.note(f"recoverable places: {error}")
        return REFUSED


def trust_project(terminal: Terminal, *, yes: bool) -> int:
    """Trust the project's file as it is shown.

    Raises:
        OperateError: there is none, or it cannot be read.
        OSError: the trust cannot be written.
    """
    if (path := project_file()) is None:
        raise OperateError(f"there is no {FILE} in this folder, nor above it")
    file = PlacesFile(path, read(path), trusted=True)
    terminal.show(str(path))
    for name, table in file.tables().items():
        place = file.place(name, table)
        said = "".join(f", {key} {table[key]}" for key in NEEDS_TRUST if key in table)
        terminal.show(f"  {name}: {place.queue}{said}")
    if not (yes or agreed(terminal)):
        return REFUSED
    trust(file)
    terminal.note("It is trusted until it changes.")
    return DONE


def agreed(terminal: Terminal) -> bool:
    """True if the operator agrees; where nobody can be asked, say how."""
    if terminal.interactive:
        return terminal.answer("Trust it, until it changes? [y/N] ", lambda: None).lower() in ("y", "yes")
    terminal.note("It is not trusted yet. To do it: recoverable places trust --yes")
    return False
