"""Find the app that a Bicep file deploys: its settings, its folder, and the `host.json` in that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from recoverable._service_bus.host_json import CALLS_PER_CORE, HostOptions, read_host_json
from recoverable_operate.check.functions_app.host_file import check_host_file
from recoverable_operate.check.functions_app.threads import worker_threads
from recoverable_operate.check.known import Unknown
from recoverable_operate.check.service_bus import Workload

Settings = Mapping[str, str | Unknown] | Unknown

NO_HOST = Unknown("there is no host.json beside the file or above it")


@dataclass(frozen=True, slots=True)
class App:
    """The app that a file deploys.

    Args:
        settings: its settings.
        folder: where its code and its host.json are.
        host: the options of that.
    """

    settings: Settings
    folder: Path | Unknown
    host: HostOptions | Unknown

    @property
    def known_settings(self) -> Mapping[str, str]:
        """Return those settings whose values are known."""
        said = {} if isinstance(self.settings, Unknown) else self.settings
        return {name: each for name, each in said.items() if isinstance(each, str)}


def workload(app: App) -> Workload | Unknown:
    """Return how many messages run at a time on an instance of one core, in plain functions."""
    if isinstance(app.host, Unknown):
        return app.host
    if isinstance(app.settings, Unknown):
        return app.settings
    return Workload(app.host.max_concurrent_calls or CALLS_PER_CORE, worker_threads(app.known_settings, cores=1))


def app_of(path: Path, settings: Settings) -> App:
    """Return the app whose `host.json` is beside a file, or in the nearest folder above it."""
    for folder in path.resolve().parents:
        if (folder / "host.json").is_file():
            app = App(settings, folder, NO_HOST)
            return replace(app, host=read_host(folder / "host.json", app.known_settings))
    return App(settings, NO_HOST, NO_HOST)


def read_host(path: Path, settings: Mapping[str, str]) -> HostOptions | Unknown:
    """Return the options of a `host.json`, which app settings can replace."""
    host = read_host_json(path, settings)
    if host.problems:
        return Unknown("; ".join(host.problems))
    try:
        check_host_file(host.document or {}, settings, extensions_installed=False)
    except ValueError as error:
        return Unknown(f"{path}: {error}")
    return host.options
