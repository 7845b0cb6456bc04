"""Send the orders that Service Bus itself gave up to the error queue, with a reason."""

from __future__ import annotations

import os

from recoverable_operate import stamp

dead_letters = stamp(to=os.environ["RECOVERABLE_ERROR_QUEUE"]).blueprint(
    queue=os.environ["DEAD_LETTER_QUEUE"], connection="ServiceBus"
)
