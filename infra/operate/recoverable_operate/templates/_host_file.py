"""Read a `host.json`: what the host refuses in it, and which bundle of extensions it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recoverable._service_bus.host_json import HostOptions, read_host_json, values_of
from recoverable_operate.rules._on_service_bus import Bundle
from recoverable_operate.rules._rule import Unknown

MINIMAL_HOST_JSON = '{"version": "2.0", "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}}'
"""The shortest `host.json` with which Azure runs a Service Bus trigger in Python."""

BUNDLE = "Microsoft.Azure.Functions.ExtensionBundle"
PREVIEW = f"{BUNDLE}.Preview"

OLDEST_BUNDLE = (2, 6, 1)
"""The oldest bundle that the host of version 4 takes (azure-functions-host, `extensionrequirements.json`)."""

_BUNDLE = "extensionbundle__"
_NEWEST = 10**6  # a part of a version that may be any
_LOWEST = re.compile(r"[\[(]?\s*(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?")


def check_host_file(document: Mapping[str, Any], settings: Mapping[str, str], *, extensions_installed: bool) -> None:
    """Raise an error for a `host.json` with which Azure would run no Service Bus trigger.

    Args:
        document: Its content.
        settings: The app settings, which can name the bundle too.
        extensions_installed: True if the app brings its extensions along, in `bin/extensions.json`; it then needs no bundle.

    Raises:
        ValueError: The host would not start, or would not know the trigger (azure-functions-host, `HostJsonFileConfigurationSource`,
            `ExtensionBundleConfigurationHelper` and `FunctionDescriptorProvider`).
    """
    _check_version(document)
    flat = values_of(document, settings)
    bundle = {name.removeprefix(_BUNDLE): value for name, value in flat.items() if name.startswith(_BUNDLE)}
    if bundle:
        _check_bundle(bundle.get("id"), bundle.get("version"))
    elif not extensions_installed:
        raise ValueError(
            "it has no extensionBundle, so Azure does not know the Service Bus trigger and runs no function; "
            f"write at least {MINIMAL_HOST_JSON}"
        )


def _check_version(document: Mapping[str, Any]) -> None:
    if document and document.get("version") != "2.0":  # the host completes a file with nothing in it
        came = repr(document["version"]) if "version" in document else "missing"
        raise ValueError(f'"version" is {came}, and Azure starts no app with that; write "version": "2.0"')


def _check_bundle(name: object, version: object) -> None:
    if name not in (BUNDLE, PREVIEW):
        raise ValueError(
            f"extensionBundle.id is {name!r}, and Azure has no Service Bus trigger under that name; write {BUNDLE!r}"
        )
    if not isinstance(version, str) or (lowest := _LOWEST.match(version.strip())) is None:
        raise ValueError(f"extensionBundle.version is {version!r}, which is no range of versions; write '[4.*, 5.0.0)'")
    if tuple(_NEWEST if part in (None, "*") else int(part) for part in lowest.groups()) < OLDEST_BUNDLE:
        raise ValueError(
            f"extensionBundle.version is {version!r}, which Azure Functions 4 refuses; write '[4.*, 5.0.0)'"
        )


def bundle_of(document: Mapping[str, Any], settings: Mapping[str, str]) -> Bundle | None:
    """Return the bundle that a `host.json` takes: of the range that it says, the newest; None where it says none."""
    written = str(values_of(document, settings).get(f"{_BUNDLE}version") or "").strip()
    bounds = [[int(part) for part in re.findall(r"\d+", bound)] for bound in written.split(",")]
    if not all(bounds):
        return None
    major, *rest = bounds[-1]
    is_below = len(bounds) > 1 and written.endswith(")") and not any(rest)  # such as 5.0.0)
    return Bundle(major - is_below, written)


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
