"""Create the queues and tables of a template on their servers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from recoverable_local.lambda_host.sam.created import CreatedQueue, CreatedTable
from recoverable_local.lambda_host.sam.stack import Queue, Table
from recoverable_local.lambda_host.services.dynamodb import DynamoDb
from recoverable_local.lambda_host.services.sqs import Sqs


def create_queues(sqs: Sqs, queues: tuple[Queue, ...]) -> Mapping[str, CreatedQueue]:
    """Create every queue of a template, or update the attributes of those that exist. Return them by logical id.

    The redrive policies are set last, when both queues of each policy exist. A queue that stands in for one outside the template is
    left as it is where it exists.
    """
    created = {queue.logical_id: _create(sqs, queue) for queue in queues}
    arns = {queue.name: queue.arn for queue in created.values()}
    for queue in queues:
        if queue.redrive is not None:
            target = arns[queue.redrive.target]
            policy = {"deadLetterTargetArn": target, "maxReceiveCount": queue.redrive.max_receive_count}
            sqs.set_attributes(created[queue.logical_id].url, {"RedrivePolicy": json.dumps(policy)})
    return created


def create_tables(dynamodb: DynamoDb, tables: tuple[Table, ...]) -> Mapping[str, CreatedTable]:
    """Create every table that does not exist. Return all of them by logical id."""
    return {
        table.logical_id: CreatedTable(table.name, dynamodb.create(table.name, table.definition)) for table in tables
    }


def _create(sqs: Sqs, queue: Queue) -> CreatedQueue:
    if queue.outside and (found := sqs.find(queue.name)):
        return CreatedQueue(queue.name, *found)
    attributes = {**queue.attributes, "VisibilityTimeout": str(int(queue.visibility_timeout.total_seconds()))}
    url, arn = sqs.create(queue.name, fifo=queue.fifo, attributes=attributes)
    return CreatedQueue(queue.name, url, arn)
