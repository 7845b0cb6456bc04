"""A Lambda function with a ladder, whose handler does what the message's body tells it for its attempt: succeed, fail, or end the process."""

from __future__ import annotations

import json
import os
from datetime import timedelta

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint


def follow(message: Message) -> None:
    """Do what the script says for this run; beyond its end, succeed."""
    script = json.loads(message.text)["do"]
    run = 2 * message.round + message.attempt
    do = script[run - 1] if run <= len(script) else "succeed"
    if do == "fail":
        raise ValueError("no such card")
    if do == "die":
        os._exit(7)


later = Delayed(1, timedelta(seconds=1))
handler = SqsEndpoint(follow, Recoverability(Immediate(1), later, Failed(os.environ["ERROR_QUEUE_URL"])))
