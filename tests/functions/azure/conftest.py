"""Provide the fixture as users get it, also where the package is not installed with its entry points."""

from __future__ import annotations

from recoverable_local.testing.plugin import service_bus_world

__all__ = ["service_bus_world"]
