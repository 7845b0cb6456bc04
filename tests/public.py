"""The public packages: what their `__all__` lists is what users import."""

from __future__ import annotations

import recoverable
import recoverable.aws
import recoverable.aws.powertools
import recoverable.azure
import recoverable.headers
import recoverable.hosting
import recoverable.timeouts

PACKAGES = [
    recoverable,
    recoverable.aws,
    recoverable.aws.powertools,
    recoverable.azure,
    recoverable.headers,
    recoverable.hosting,
    recoverable.timeouts,
]
