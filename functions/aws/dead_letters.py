"""Send the orders that SQS itself gave up to the error queue, with a reason."""

from __future__ import annotations

import os

from recoverable_operate import stamp

handler = stamp(to=os.environ["ERROR_QUEUE"])
