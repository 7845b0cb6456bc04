"""Make full error copies of the messages that a broker dead-lettered by itself, in a function of their dead-letter queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from azure.functions import Blueprint  # noqa: TID251  # for types alone


class Stamp:
    """A function that reads a dead-letter queue and sends each message on as an error copy; made by `stamp`.

    Args:
        to: the error queue.
    """

    __name__ = "stamp"

    def __init__(self, to: str) -> None:
        if not to.strip():
            raise ValueError("stamp(to) is blank; write the name of the error queue")
        self.to = to

    def __call__(self, event: dict[str, Any], _context: object = None) -> dict[str, list[dict[str, str]]]:
        """Stamp the messages of one batch from an SQS queue: the Lambda handler.

        Args:
            event: what the event source mapping sends.

        Returns:
            The messages that were not sent on, and are to be delivered again: the mapping needs ReportBatchItemFailures.

        Raises:
            ValueError: the event is no SQS event; all of its messages are delivered again.
        """
        from recoverable_operate._stamp.sqs import stamp_records  # noqa: PLC0415  # for one of two clouds

        return stamp_records(event, self.to)

    def blueprint(self, *, queue: str, connection: str, name: str = "stamp") -> Blueprint:
        """Return a blueprint with the function of a Service Bus queue and its trigger, for `app.register_functions`.

        Args:
            queue: the dead-letter queue's name: a queue without sessions.
            connection: the name under which the app settings hold the connection.
            name: the function's name.
        """
        from recoverable_operate._stamp.service_bus_client import Stamping, blueprint  # noqa: PLC0415  # as above

        return blueprint(Stamping(self.to, queue, connection), name)


def stamp(*, to: str) -> Stamp:
    """Return a function for a dead-letter queue of its own, which makes full error copies of what the broker put there.

    The broker moves a message without a reason when its deliveries end without an outcome. The copy says where it failed, and that it is an
    `UnreportedFailure`; on Service Bus with the broker's own reason and description. So ServiceControl can import it, and `recoverable
    errors` groups it. A message that is an error copy already is sent on as it is. Each is sent first, and then completed.

    Args:
        to: the error queue's name; on SQS also its ARN.

    Raises:
        ValueError: `to` is blank.
    """
    return Stamp(to)
