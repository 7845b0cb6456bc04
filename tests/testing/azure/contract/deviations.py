"""Where the servers are known to differ from what Service Bus documents: behaviour × server, and what they do instead."""

from __future__ import annotations

from collections.abc import Mapping

DEVIATIONS: Mapping[tuple[str, str], str] = {}
