"""The repository's host.json as data."""

from __future__ import annotations

import json
from typing import Any

from infra.azure.bicep import ROOT

HOST: dict[str, Any] = json.loads((ROOT / "host.json").read_text())
SERVICE_BUS: dict[str, Any] = HOST["extensions"]["serviceBus"]
