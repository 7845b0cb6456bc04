"""An SQS client that holds each call against AWS's own model of the API, confirms it, and remembers it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ParamValidationError
from botocore.validate import ParamValidator

from servers.moto import client_at

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URL = "http://127.0.0.1:1"


class RecordingClient:
    """Stands in where many examples would take a server too long; what boto3 would refuse, it refuses.

    Args:
        takes: whether the next copy is taken; those that are not are not confirmed.
    """

    def __init__(self, takes: Callable[[], bool] = lambda: True) -> None:
        self._takes = takes
        self._model = client_at(URL).meta.service_model
        self.meta = SimpleNamespace(endpoint_url=URL)
        self.sent: list[dict[str, Any]] = []
        self.deleted: list[str] = []

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        self._checked("SendMessageBatch", call)
        taken = [entry for entry in call["Entries"] if self._takes()]
        self.sent += taken
        return confirmed(taken)

    def delete_message_batch(self, **call: Any) -> dict[str, Any]:
        self._checked("DeleteMessageBatch", call)
        self.deleted += [entry["ReceiptHandle"] for entry in call["Entries"]]
        return confirmed(call["Entries"])

    def change_message_visibility_batch(self, **call: Any) -> dict[str, Any]:
        self._checked("ChangeMessageVisibilityBatch", call)
        return confirmed(call["Entries"])

    def get_queue_attributes(self, **call: Any) -> dict[str, Any]:
        self._checked("GetQueueAttributes", call)
        return {"Attributes": {"VisibilityTimeout": "3600", "MessageRetentionPeriod": "345600"}}

    def as_client(self) -> SQSClient:
        """Return itself, for those who want boto3's type."""
        return cast("SQSClient", self)

    def _checked(self, operation: str, call: dict[str, Any]) -> None:
        shape = self._model.operation_model(operation).input_shape
        assert shape is not None
        report = ParamValidator().validate(call, shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())


def confirmed(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return SQS's answer that names what was done; what it does not name was not done."""
    return {"Successful": [{"Id": entry["Id"]} for entry in entries]}
