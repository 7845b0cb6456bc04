"""Find the folder of the Function App that a template deploys: the nearest with a `host.json`, or the one that azd's `azure.yaml` names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recoverable_operate.rules._rule import Unknown
from recoverable_operate.templates._document import TemplateError, parse_document
from recoverable_operate.templates._function_app import NO_HOST


def folder_of(template: Path, given: Path | None) -> tuple[Path | Unknown, str | None]:
    """Return the folder of the app, and the name of its service for azd, where it has one.

    Args:
        template: the file of the template.
        given: the folder that `--app` says; None to look for it.

    Raises:
        TemplateError: the folder that is given has no app.
    """
    services = functions_of(template)
    if given is not None:
        if not (given / "host.json").is_file():
            raise TemplateError(f"--app {given}: there is no host.json in it")
        return given, next((name for name, each in services.items() if each == given.resolve()), None)
    for folder in template.resolve().parents:
        if (folder / "host.json").is_file():
            return folder, None
    if len(services) == 1:
        [(name, folder)] = services.items()
        return folder if (folder / "host.json").is_file() else Unknown(f"there is no host.json in {folder.name}"), name
    if services:
        return Unknown(f"azure.yaml has the function apps {', '.join(services)}; --app FOLDER says which"), None
    return NO_HOST, None


def functions_of(template: Path) -> Mapping[str, Path]:
    """Return the folders of the function apps in the nearest `azure.yaml` above a template, by the names of their services."""
    for folder in template.resolve().parents:
        file = folder / "azure.yaml"
        if file.is_file():
            try:
                services = parse_document(file.read_text(encoding="utf-8-sig")).get("services")
            except (OSError, UnicodeDecodeError, TemplateError):
                return {}
            found = services.items() if isinstance(services, dict) else ()
            return {
                str(name): (folder / str(each.get("project", "."))).resolve()
                for name, each in found
                if isinstance(each, dict) and each.get("host") == "function"
            }
    return {}
