"""The operations of SQS on queues themselves, from a request in the API's words to an answer in them."""

from __future__ import annotations

from recoverable_local.testing.aws.api.operations import Answer, Request, chosen, queue_of
from recoverable_local.testing.aws.broker.attributes import read_attributes, settings_from
from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.refusals import Refusal


def create_queue(broker: Broker, request: Request) -> Answer:
    """Make a queue; one that is there already must have the same attributes."""
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
    """The URL of a queue."""
    return {"QueueUrl": broker.queue(request["QueueName"]).settings.url}


def get_queue_attributes(broker: Broker, request: Request) -> Answer:
    """A queue's attributes and how much it holds."""
    attributes = read_attributes(broker, queue_of(broker, request))
    asked = chosen(attributes, set(request.get("AttributeNames", ())))
    return {"Attributes": asked} if asked else {}


def set_queue_attributes(broker: Broker, request: Request) -> Answer:
    """Change some of a queue's attributes."""
    settings = queue_of(broker, request).settings
    broker.create(settings_from(settings.name, request["Attributes"], settings))
    return {}


def list_queues(broker: Broker, request: Request) -> Answer:
    """The URLs of the queues, or of those whose names begin so."""
    beginning = request.get("QueueNamePrefix", "")
    urls = [queue.settings.url for name, queue in broker.queues.items() if name.startswith(beginning)]
    return {"QueueUrls": urls} if urls else {}


def list_dead_letter_source_queues(broker: Broker, request: Request) -> Answer:
    """The URLs of the queues that send their dead letters here."""
    name = queue_of(broker, request).settings.name
    sources = [q.settings for q in broker.queues.values() if q.settings.redrive and q.settings.redrive.to == name]
    return {"queueUrls": [source.url for source in sources]}


def delete_queue(broker: Broker, request: Request) -> Answer:
    """Delete a queue with all that is in it."""
    queue = queue_of(broker, request)
    broker.purge(queue)
    del broker.queues[queue.settings.name]
    return {}


def purge_queue(broker: Broker, request: Request) -> Answer:
    """Delete all that is in a queue."""
    broker.purge(queue_of(broker, request))
    return {}
