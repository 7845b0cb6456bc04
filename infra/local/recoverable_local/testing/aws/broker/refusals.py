"""What SQS says when it refuses: codes, names and texts, as its API reference has them."""

from __future__ import annotations


class Refusal(Exception):
    """SQS's answer to what it does not do; the client turns it into botocore's error.

    Args:
        shape: the name of the error in botocore's model, by which `client.exceptions` knows it.
        message: SQS's text.
        code: what botocore gives as the error's code, when it is not the shape's name.
        status: the HTTP status.
    """

    def __init__(self, shape: str, message: str, *, code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.shape, self.message, self.code, self.status = shape, message, code or shape, status


OLD = "AWS.SimpleQueueService."
"""The prefix of codes that the query protocol had; botocore still gives them, for programs compare with them."""


def no_such_queue() -> Refusal:
    """No queue has that URL or name."""
    text = "The specified queue does not exist."
    return Refusal("QueueDoesNotExist", text, code=f"{OLD}NonExistentQueue")


def invalid(text: str) -> Refusal:
    """A parameter has a value that SQS does not take."""
    return Refusal("InvalidParameterValue", text)


def invalid_value(value: object, parameter: str, reason: str) -> Refusal:
    """A parameter has a value that SQS does not take, in its longer words."""
    return invalid(f"Value {value} for parameter {parameter} is invalid. Reason: {reason}")


def missing(parameter: str) -> Refusal:
    """A parameter is absent that this kind of queue needs."""
    return Refusal("MissingParameter", f"The request must contain the parameter {parameter}.")


def bad_receipt(handle: object) -> Refusal:
    """No receive gave that handle."""
    return Refusal("ReceiptHandleIsInvalid", f'The input receipt handle "{handle}" is not a valid receipt handle.')


def not_in_flight(handle: object) -> Refusal:
    """The message's visibility timeout is over, so it cannot be changed."""
    text = f"Value {handle} for parameter ReceiptHandle is invalid. Reason: Message is not in flight."
    return Refusal("MessageNotInflight", text, code=f"{OLD}MessageNotInflight")


def batch(shape: str, text: str) -> Refusal:
    """A batch is refused whole."""
    return Refusal(shape, text, code=f"{OLD}{shape}")
