"""The Lambda function that a schedule calls each minute: it dispatches the timeouts that fall due."""

from __future__ import annotations

import os

from recoverable.timeouts import Dispatcher, DynamoDBStore

handler = Dispatcher(
    DynamoDBStore(os.environ.get("TIMEOUTS_TABLE", "timeouts"), bucket=os.environ.get("TIMEOUTS_BUCKET") or None)
)
