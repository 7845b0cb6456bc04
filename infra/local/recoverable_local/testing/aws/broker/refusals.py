"""Define SQS's error answers: codes, names and texts from its API reference."""

from __future__ import annotations


class Refusal(Exception):
    """An error answer of SQS; the client turns it into botocore's error.

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
"""The prefix of codes of the former query protocol; botocore still returns them, because programs compare with them."""


def no_such_queue() -> Refusal:
    """Return the refusal for a URL or name of no queue."""
    text = "The specified queue does not exist."
    return Refusal("QueueDoesNotExist", text, code=f"{OLD}NonExistentQueue")


def invalid(text: str) -> Refusal:
    """Return the refusal for a parameter's value that SQS does not accept."""
    return Refusal("InvalidParameterValue", text)


def invalid_value(value: object, parameter: str, reason: str) -> Refusal:
    """Return the same refusal in SQS's longer text."""
    return invalid(f"Value {value} for parameter {parameter} is invalid. Reason: {reason}")


def missing(parameter: str) -> Refusal:
    """Return the refusal for a missing parameter that this kind of queue requires."""
    return Refusal("MissingParameter", f"The request must contain the parameter {parameter}.")


def bad_receipt(handle: object) -> Refusal:
    """Return the refusal for a receipt handle that no receive returned."""
    return Refusal("ReceiptHandleIsInvalid", f'The input receipt handle "{handle}" is not a valid receipt handle.')


def batch(shape: str, text: str) -> Refusal:
    """Return the refusal of a whole batch."""
    return Refusal(shape, text, code=f"{OLD}{shape}")
