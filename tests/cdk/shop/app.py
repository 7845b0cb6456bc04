"""The function of the stacks that are synthesized in the tests."""

from recoverable import Message, Recoverability
from recoverable.aws import SqsEndpoint


def place_order(message: Message) -> None:
    """Refuse an order whose card is declined."""
    if message.json()["card"] == "declined":
        raise ValueError("declined")


handler = SqsEndpoint(place_order, Recoverability.from_environment())
