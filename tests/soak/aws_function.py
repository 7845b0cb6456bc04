"""The function of the soak on AWS."""

from __future__ import annotations

from datetime import timedelta

from recoverable.aws import SqsEndpoint
from soak.deeds import recoverability
from soak.ledger import handle

handler = SqsEndpoint(handle, recoverability(), settle_within=timedelta(seconds=2))
