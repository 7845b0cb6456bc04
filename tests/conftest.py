"""How properties are tried: on the same inputs each time, so that a red run is red again; `make properties` draws others."""

from __future__ import annotations

from hypothesis import settings

# no time limit for each example, which a busy machine breaks: the tests' own time-out holds
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("drawn", deadline=None, print_blob=True)
settings.load_profile("repeated")
