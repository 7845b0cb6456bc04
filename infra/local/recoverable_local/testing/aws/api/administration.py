"""Perform the SQS operations on queues: create, list, configure, purge and delete."""

from __future__ import annotations

from recoverable_local.testing.aws.api.operations import Answer, Request, queue_of, select_attributes
from recoverable_local.testing.aws.broker.attributes import read_attributes, settings_from
from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.refusals import Refusal


def create_queue(broker: Broker, request: Request) -> Answer:
    """Make a queue; refuse if it exists with other attributes."""
    settings = settings_from(request["QueueName"], request.get("Attributes") or {})
    existing = broker.queues.get(settings.name)
    if existing is not None and existing.settings != settings:
        raise Refusal(
            "QueueNameExists",
            "A queue already exists with the same name and a different value for attributes",
            code="QueueAlreadyExists",
        )
    return {"QueueUrl": broker.create(settings).settings.url}


def get_queue_url(broker: Broker, request: Request) -> Answer:
    """Return the URL of a queue."""
    return {"QueueUrl": broker.queue(request["QueueName"]).settings.url}


def get_queue_attributes(broker: Broker, request: Request) -> Answer:
    """Return a queue's attributes and the numbers of its messages."""
    attributes = read_attributes(broker, queue_of(broker, request))
    asked = select_attributes(attributes, set(request.get("AttributeNames", ())))
    return {"Attributes": asked} if asked else {}


def set_queue_attributes(broker: Broker, request: Request) -> Answer:
    """Change some of a queue's attributes."""
    settings = queue_of(broker, request).settings
    broker.create(settings_from(settings.name, request["Attributes"], settings))
    return {}


def list_queues(broker: Broker, request: Request) -> Answer:
    """Return the URLs of the queues, or of those whose names begin with the prefix."""
    beginning = request.get("QueueNamePrefix", "")
    urls = [queue.settings.url for name, queue in broker.queues.items() if name.startswith(beginning)]
    return {"QueueUrls": urls} if urls else {}


def list_dead_letter_source_queues(broker: Broker, request: Request) -> Answer:
    """Return the URLs of the queues that send their dead letters to this one."""
    name = queue_of(broker, request).settings.name
    sources = [q.settings for q in broker.queues.values() if q.settings.redrive and q.settings.redrive.to == name]
    return {"queueUrls": [source.url for source in sources]}


def delete_queue(broker: Broker, request: Request) -> Answer:
    """Delete a queue with all its messages."""
    queue = queue_of(broker, request)
    broker.purge(queue)
    del broker.queues[queue.settings.name]
    return {}


def purge_queue(broker: Broker, request: Request) -> Answer:
    """Delete all messages of a queue."""
    broker.purge(queue_of(broker, request))
    return {}
