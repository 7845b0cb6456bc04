"""Pay refunds, with Powertools for AWS Lambda: its logger and its batch processing, and the ladder of this package beneath them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import process_partial_response

from recoverable import Failed, Recoverability
from recoverable.powertools import RecoverableBatchProcessor

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from recoverable import Message

log = Logger(service="refunds")


class NothingToRefund(Exception):
    """Raised for an amount that cannot be paid; asking again will not help."""


def pay_back(record: SQSRecord, message: Message) -> None:
    """Pay one refund; `message` has what the ladder knows, such as the attempt."""
    refund = record.json_body
    if refund["amount"] <= 0:
        raise NothingToRefund(f"{refund['amount']} is no amount")
    log.info("a refund is paid", refund=refund["id"], attempt=message.attempt)


processor = RecoverableBatchProcessor(Recoverability.from_environment(failed=Failed(unrecoverable=(NothingToRefund,))))


@log.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Handle one batch."""
    response = process_partial_response(event=event, record_handler=pay_back, processor=processor, context=context)
    return dict(response)
