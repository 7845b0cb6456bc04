"""Test what the Functions host refuses in a host.json, and that its comments are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.apps import MINIMAL, app
from recoverable._service_bus.host_json import HostOptions
from recoverable_local.functions_host import AppError
from recoverable_local.functions_host.app.folder import read_app

BUNDLE = MINIMAL["extensionBundle"]
COMMENTED = """
// what runs at a time
{
  "version": "2.0", /* the schema's,
  not the runtime's */
  "extensionBundle": {"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"}, // https://aka.ms
  "extensions": {"serviceBus": {"prefetchCount": 2}},
  "note": "http://not/a/comment /* nor this */"
}
"""
REFUSED: dict[str, tuple[Any, str]] = {
    "no object": ([], 'it contains no object; write {"version"'),
    "no version": (
        {"extensionBundle": BUNDLE},
        '"version" is missing, and Azure starts no app with that; write "version": "2.0"',
    ),
    "the runtime's version": (
        {**MINIMAL, "version": "4.0"},
        '"version" is \'4.0\', and Azure starts no app with that; write "version": "2.0"',
    ),
    "a number": (
        {**MINIMAL, "version": 2.0},
        '"version" is 2.0, and Azure starts no app with that; write "version": "2.0"',
    ),
    "no bundle": (
        {"version": "2.0"},
        "it has no extensionBundle, so Azure does not know the Service Bus trigger and runs no function; write at least",
    ),
    "a bundle without an id": (
        {**MINIMAL, "extensionBundle": {"version": "[4.*, 5.0.0)"}},
        "extensionBundle.id is None, and Azure has no Service Bus trigger under that name; write",
    ),
    "a misspelt bundle": (
        {**MINIMAL, "extensionBundle": {**BUNDLE, "id": "Microsoft.Azure.Functions.ExtensionBundles"}},
        "extensionBundle.id is 'Microsoft.Azure.Functions.ExtensionBundles', and Azure has no Service Bus trigger under that name",
    ),
    "no range of versions": (
        {**MINIMAL, "extensionBundle": {**BUNDLE, "version": "latest"}},
        "extensionBundle.version is 'latest', which is no range of versions; write '[4.*, 5.0.0)'",
    ),
    "an old bundle": (
        {**MINIMAL, "extensionBundle": {**BUNDLE, "version": "[1.*, 2.0.0)"}},
        "extensionBundle.version is '[1.*, 2.0.0)', which Azure Functions 4 refuses; write '[4.*, 5.0.0)'",
    ),
}


def options(folder: Path, document: Any, settings: dict[str, str] | None = None) -> HostOptions:
    """Return the options of an app with this host.json."""
    (app(folder) / "host.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return read_app(folder, given=settings or {}, environment={}).options


@pytest.mark.parametrize(("document", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_with_which_azure_runs_nothing_is_refused(tmp_path: Path, document: Any, said: str) -> None:
    with pytest.raises(AppError) as refused:
        options(tmp_path, document)

    assert str(refused.value).startswith(f"{tmp_path / 'host.json'}: {said}")


@pytest.mark.parametrize("version", ["[4.*, 5.0.0)", "[4.0.0, 5.0.0)", "[3.3.*, 4.0.0)", "[2.*, 3.0.0)", "4.12.0"])
def test_a_bundle_that_the_host_takes_is_taken(tmp_path: Path, version: str) -> None:
    document = {**MINIMAL, "extensionBundle": {**BUNDLE, "version": version}}

    assert options(tmp_path, document) == HostOptions()


def test_an_app_that_brings_its_extensions_needs_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "extensions.json").write_text("{}")

    assert options(tmp_path, {"version": "2.0"}) == HostOptions()


def test_an_app_setting_may_name_the_bundle(tmp_path: Path) -> None:
    settings = {f"AzureFunctionsJobHost__extensionBundle__{name}": value for name, value in BUNDLE.items()}

    assert options(tmp_path, {"version": "2.0"}, settings) == HostOptions()


def test_comments_are_read_as_the_host_reads_them(tmp_path: Path) -> None:
    assert options(tmp_path, COMMENTED) == HostOptions(prefetch_count=2)


def test_the_file_that_the_error_for_a_missing_one_names_is_taken(tmp_path: Path) -> None:
    assert options(tmp_path, MINIMAL) == HostOptions()
