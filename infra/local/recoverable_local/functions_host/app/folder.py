"""A Function App's folder → its host options and app settings, frozen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recoverable_local.functions_host.app.host_json import HostOptions, host_options

SCRIPT, HOST, LOCAL_SETTINGS = "function_app.py", "host.json", "local.settings.json"


class AppError(Exception):
    """The app cannot be loaded, or asks for what this host has not."""


@dataclass(frozen=True, slots=True)
class App:
    """A Function App.

    Args:
        folder: Where it is.
        options: What its `host.json` says.
        settings: Its app settings.
    """

    folder: Path
    options: HostOptions
    settings: Mapping[str, str]


def read_app(folder: str | Path, *, given: Mapping[str, str], environment: Mapping[str, str]) -> App:
    """Read an app's folder.

    Args:
        folder: Where it is.
        given: App settings that stand above all others.
        environment: The host's own environment, which stands above `local.settings.json`, as with Core Tools.

    Raises:
        AppError: A file is missing, or is not what the host takes.
    """
    place = Path(folder).resolve()
    check_folder(place)
    local = local_settings(_document(place / LOCAL_SETTINGS, default={}))
    settings = {**local, **{name: value for name, value in environment.items() if value}, **given}
    try:
        return App(place, host_options(_document(place / HOST), settings), settings)
    except ValueError as error:
        raise AppError(f"{place / HOST}: {error}") from error


def check_folder(folder: Path) -> None:
    """Refuse a folder without an app.

    Raises:
        AppError: There is none.
    """
    if not (folder / SCRIPT).is_file():
        raise AppError(f"There is no {folder / SCRIPT}; give the folder of an app of the Python v2 programming model")


def local_settings(document: Any) -> dict[str, str]:
    """The app settings of a `local.settings.json`.

    Raises:
        AppError: They are encrypted, or no texts.
    """
    values = document.get("Values", {}) if isinstance(document, dict) else None
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise AppError(f'{LOCAL_SETTINGS}: write {{"Values": {{"NAME": "value"}}}}, every value a text')
    if document.get("IsEncrypted"):
        raise AppError(f"{LOCAL_SETTINGS} is encrypted; write func settings decrypt")
    return values


def _document(path: Path, default: Any = None) -> Any:
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        if default is not None:
            return default
        raise AppError(f'There is no {path}; write one with {{"version": "2.0"}}') from None
    except ValueError as error:
        raise AppError(f"{path} is no JSON: {error}; comments are not understood here") from error
