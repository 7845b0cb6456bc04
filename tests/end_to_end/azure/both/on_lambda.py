"""The shop on Lambda."""

from __future__ import annotations

from datetime import timedelta

from sales import place_order, recoverability  # type: ignore[import-not-found]  # beside this file, as each cloud has it

from recoverable.aws import SqsEndpoint

handler = SqsEndpoint(place_order, recoverability, settle_within=timedelta(seconds=12))
