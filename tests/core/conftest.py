"""How properties are tried: without a time limit for each example, which a busy machine breaks; the tests' own time-out holds."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("core", deadline=None, max_examples=100)
settings.load_profile("core")
