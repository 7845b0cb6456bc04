"""Where copies go: the queue that a name, an ARN or a URL means."""

from __future__ import annotations

from .queues import Queue, queue_from_arn


def destination(name: str, source: Queue) -> Queue:
    """The queue that a name, an ARN or a URL means to a function that reads `source`; a bare name is a neighbour of it."""
    if name.startswith("arn:"):
        return queue_from_arn(name)
    if name.startswith(("https://", "http://")):
        host, *path = name.split("://", 1)[1].rstrip("/").split("/")
        return Queue(
            region=region_of(host) or source.region,
            account=path[-2] if len(path) > 1 else "",
            name=path[-1] if path else "",
            url=name,
        )
    return Queue(region=source.region, account=source.account, name=name)


def region_of(host: str) -> str | None:
    """The region in a queue URL's host, `sqs.{region}.amazonaws.com`; None for other hosts, such as a local server."""
    service, _, rest = host.partition(".")
    return rest.partition(".")[0] if service == "sqs" and "amazonaws." in rest else None
