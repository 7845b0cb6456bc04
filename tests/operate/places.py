"""Write the files that name places: the user's own, and the project's."""

from __future__ import annotations

from pathlib import Path

import pytest

FILE = "recoverable.toml"


class Machine:
    """An operator's machine: the folder of the project, where commands are run, and that of the user's own settings.

    Args:
        folder: holds both.
    """

    def __init__(self, folder: Path) -> None:
        self.project = self._file(folder / "project")
        self.own = self._file(folder / "config" / "recoverable")

    def _file(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        return folder / FILE


def place(name: str, **values: object) -> str:
    """Return a place as TOML has it."""
    lines = (f"{key} = {toml(value)}" for key, value in values.items())
    return "\n".join((f"[places.{name}]", *lines, ""))


def toml(value: object) -> str:
    """Return a value as TOML has it."""
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case str():
            return f'"{value}"'
        case _:
            return str(value)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return the machine; commands are run in a folder of the project."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (machine.project.parent / "src").mkdir()
    monkeypatch.chdir(machine.project.parent / "src")
    return machine
