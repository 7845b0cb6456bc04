"""Dispatch the timeouts that are due; a schedule calls this function each minute."""

from __future__ import annotations

import os

from recoverable.timeouts import Dispatcher, DynamoDbStore

handler = Dispatcher(
    DynamoDbStore(os.environ.get("TIMEOUTS_TABLE", "timeouts"), bucket=os.environ.get("TIMEOUTS_BUCKET") or None)
)
