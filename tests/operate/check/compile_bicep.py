"""Compile infra/azure with the Bicep compiler that is here, for the tests: `make bicep`."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from recoverable_operate.templates import compiled

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "infra" / "azure"
COMPILED = Path(__file__).parent / "compiled"
HASHES = COMPILED / "sources.json"


def hashes() -> dict[str, str]:
    """Return the hash of each source."""
    return {each.name: sha256(each.read_bytes()).hexdigest() for each in sorted(SOURCES.iterdir())}


def main() -> None:
    """Compile each file, and note of which sources."""
    for source in SOURCES.glob("*.bicep"):
        template, _ = compiled(source, None)
        (COMPILED / f"{source.stem}.json").write_text(template, encoding="utf-8")
    HASHES.write_text(json.dumps(hashes(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
