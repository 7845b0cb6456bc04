"""Check the metadata of built distributions, as the index and its readers get it. Pure, but for reading the files."""

from __future__ import annotations

import email
import zipfile
from collections.abc import Iterable, Iterator
from email.message import Message
from pathlib import Path
from urllib.parse import urlsplit

from packaging.metadata import InvalidMetadata, Metadata
from packaging.requirements import Requirement
from trove_classifiers import classifiers

from release.distributions import Built

URLS = ("Homepage", "Documentation", "Changelog", "Issues")
"""The addresses that each distribution has."""

PLACEHOLDER = ".invalid"
"""The end of a host that stands for an address nobody knows yet (RFC 2606 keeps it from ever being one)."""


def metadata_of(wheel: Path) -> str:
    """Return the metadata of a wheel."""
    archive = zipfile.ZipFile(wheel)
    [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return archive.read(name).decode()


def findings(text: str, *, name: str) -> Iterator[str]:
    """Yield what is wrong with one distribution's metadata, its addresses aside."""
    try:
        Metadata.from_email(text, validate=True)
    except (ExceptionGroup, InvalidMetadata) as error:
        reasons = getattr(error, "exceptions", (error,))
        yield f"{name}: the index would refuse the metadata: {'; '.join(map(str, reasons))}"
    fields = email.message_from_string(text)
    for field in ("Summary", "Keywords", "Requires-Python", "License-Expression", "License-File"):
        if not fields.get(field):
            yield f"{name}: the metadata has no {field}"
    if fields.get("Description-Content-Type") != "text/markdown" or not str(fields.get_payload()).strip():
        yield f"{name}: the index shows no description; set readme to a Markdown file"
    for unknown in sorted(set(fields.get_all("Classifier", [])) - classifiers):
        yield f"{name}: {unknown!r} is no classifier of the index"


def address_findings(text: str, *, name: str) -> Iterator[str]:
    """Yield the addresses that one distribution lacks, or for which a placeholder stands."""
    urls = _urls(email.message_from_string(text))
    for label in URLS:
        address = urlsplit(urls.get(label, ""))
        if address.scheme != "https" or not address.hostname:
            yield f"{name}: [project.urls] has no {label}; write an https address"
        elif address.hostname.endswith(PLACEHOLDER):
            yield f"{name}: {label} is the placeholder {urls[label]}; write the address of the repository"


def version_findings(built: Iterable[Built], tag: str | None = None) -> Iterator[str]:
    """Yield what is wrong with the versions of all distributions together: they have one, and need one another in it."""
    read = {each.distribution.name: email.message_from_string(metadata_of(each.wheel)) for each in built}
    versions = {name: str(fields["Version"]) for name, fields in read.items()}
    if len(set(versions.values())) > 1:
        yield f"the versions differ: {versions}; run `make cut VERSION=…`"
    for name, fields in read.items():
        for text in fields.get_all("Requires-Dist", []):
            needed = Requirement(text)
            if needed.name in versions and str(needed.specifier) != f"=={versions[needed.name]}":
                yield f"{name} needs {needed.name}{needed.specifier}; write =={versions[needed.name]}"
    for version in set(versions.values()):
        if tag is not None and tag != f"v{version}":
            yield f"the tag is {tag}, and the version {version}; tag the commit v{version}"


def _urls(fields: Message) -> dict[str, str]:
    pairs = (str(each).partition(", ") for each in fields.get_all("Project-URL", []))
    return {label: url for label, _, url in pairs}
