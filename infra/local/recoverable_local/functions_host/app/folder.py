"""Read a Function App's folder: its host options and app settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recoverable._service_bus.host_json import HostOptions, parse_json, read_host_json
from recoverable_operate.templates import MINIMAL_HOST_JSON, check_host_file

SCRIPT, HOST, LOCAL_SETTINGS = "function_app.py", "host.json", "local.settings.json"
EXTENSIONS = Path("bin", "extensions.json")


class AppError(Exception):
    """The app cannot be loaded, or needs a feature that this host does not have."""


@dataclass(frozen=True, slots=True)
class App:
    """A Function App.

    Args:
        folder: Its folder.
        options: The options of its `host.json`.
        settings: Its app settings.
    """

    folder: Path
    options: HostOptions
    settings: Mapping[str, str]


def read_app(folder: str | Path, *, given: Mapping[str, str], environment: Mapping[str, str]) -> App:
    """Read an app's folder.

    Args:
        folder: The app's folder.
        given: App settings; they override all others.
        environment: The host's own environment; it overrides `local.settings.json`, as with Core Tools.

    Raises:
        AppError: A file is missing or invalid, or Azure would run no Service Bus trigger with this `host.json`.
    """
    path = Path(folder).resolve()
    check_folder(path)
    local = read_local_settings(path / LOCAL_SETTINGS)
    settings = {**local, **{name: value for name, value in environment.items() if value}, **given}
    installed = (path / EXTENSIONS).is_file()
    host = read_host_json(path / HOST, settings)
    if host.problems:
        raise AppError("; ".join(host.problems))
    if host.document is None:
        raise AppError(f"There is no {path / HOST}; write one with {MINIMAL_HOST_JSON}")
    try:
        check_host_file(host.document, settings, extensions_installed=installed)
    except ValueError as error:
        raise AppError(f"{path / HOST}: {error}") from error
    return App(path, host.options, settings)


def check_folder(folder: Path) -> None:
    """Raise an error for a folder without an app.

    Raises:
        AppError: A folder without `function_app.py`.
    """
    if not (folder / SCRIPT).is_file():
        raise AppError(f"There is no {folder / SCRIPT}; give the folder of an app of the Python v2 programming model")


def read_local_settings(path: Path) -> dict[str, str]:
    """Return the app settings of a `local.settings.json`; none where there is no such file.

    Raises:
        AppError: The file cannot be read, or is not JSON.
    """
    try:
        return local_settings(parse_json(path.read_text("utf-8-sig")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise AppError(f"{path}: {error}") from error


def local_settings(document: Any) -> dict[str, str]:
    """Return the app settings of a parsed `local.settings.json`.

    Raises:
        AppError: They are encrypted, or not all of them are strings.
    """
    values = document.get("Values", {}) if isinstance(document, dict) else None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise AppError(f'{LOCAL_SETTINGS}: write {{"Values": {{"NAME": "value"}}}}, with every value a string')
    if document.get("IsEncrypted"):
        raise AppError(f"{LOCAL_SETTINGS} is encrypted; run func settings decrypt")
    return values
