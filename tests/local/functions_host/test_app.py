"""Test the reading of an app's folder: host.json, local.settings.json, and the settings that override them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.functions_host.apps import MINIMAL, app
from recoverable._service_bus.host_json import HostOptions
from recoverable_local.functions_host.app.folder import AppError, read_app


def bus(**options: Any) -> dict[str, Any]:
    """Build a host.json with these options of the Service Bus extension."""
    return {**MINIMAL, "extensions": {"serviceBus": options}}


def test_settings_stand_above_the_environment_and_that_above_local_settings(tmp_path: Path) -> None:
    folder = app(tmp_path, settings={"A": "local", "B": "local", "C": "local", "D": "local"})

    read = read_app(folder, given={"A": "given"}, environment={"A": "environment", "B": "environment", "C": ""})

    assert read.settings == {"A": "given", "B": "environment", "C": "local", "D": "local"}


def test_an_app_needs_no_local_settings(tmp_path: Path) -> None:
    assert read_app(app(tmp_path), given={}, environment={}).settings == {}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("host.json", "{", r"host\.json: it is no JSON \("),
        ("host.json", json.dumps({**MINIMAL, "functionTimeout": 1}), r"host\.json: functionTimeout is 1; write"),
        ("host.json", None, r"There is no .*host\.json; write one with .*extensionBundle"),
        ("function_app.py", None, r"There is no .*function_app\.py; give the folder of an app"),
        ("local.settings.json", "[]", r"local\.settings\.json: write"),
        ("local.settings.json", '{"Values": {"Retries": 5}}', "with every value a string"),
        ("local.settings.json", '{"IsEncrypted": true, "Values": {}}', "is encrypted; run func settings decrypt"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str, content: str | None, said: str) -> None:
    folder = app(tmp_path)
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        (folder / name).write_text(content)

    with pytest.raises(AppError, match=said):
        read_app(folder, given={}, environment={})


def test_files_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (app(tmp_path) / "host.json").write_text("\ufeff" + json.dumps(bus(prefetchCount=2)), "utf-8")

    assert read_app(tmp_path, given={}, environment={}).options == HostOptions(prefetch_count=2)
