"""Serve moto's SQS, SNS and DynamoDB on loopback, in this process."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from moto.core.utils import unix_time
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.sqs.models import Message, Queue, SQSBackend
from werkzeug.serving import BaseWSGIServer, make_server

from recoverable_local.lambda_host.services.move_tasks import MoveTasks
from recoverable_local.lambda_host.services.one_at_a_time import OneAtATime

_HOST = "127.0.0.1"
_PAUSE = 0.05  # seconds between two looks at a queue whose visible messages are all held back


@contextmanager
def embedded_broker(port: int = 0) -> Iterator[str]:
    """Serve SQS, SNS and DynamoDB on 127.0.0.1, and yield the endpoint's URL.

    All brokers of one process share their queues and tables, because moto keeps them per process.

    Args:
        port: The port to listen on; 0 means any free port.

    Raises:
        OSError: The port is taken.
    """
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else it logs a line for every call
    server = _server(port)
    thread = Thread(target=server.serve_forever, args=(0.05,), name="broker", daemon=True)
    thread.start()
    try:
        yield f"http://{_HOST}:{server.port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _server(port: int) -> BaseWSGIServer:
    """Create the server on a port that is bound here: werkzeug ends the process if the port is taken."""
    Queue.wait_for_messages = wait_for_messages  # type: ignore[assignment, method-assign]
    SQSBackend.is_message_valid_based_on_retention_period = is_retained  # type: ignore[assignment, method-assign]
    application = OneAtATime(MoveTasks(DomainDispatcherApplication(create_backend_app)))
    with socket.create_server((_HOST, port)) as bound:
        port = bound.getsockname()[1]
        return make_server(
            _HOST, port, application, threaded=True, request_handler=MotoRequestHandler, fd=bound.fileno()
        )


def wait_for_messages(queue: Queue, timeout: float) -> None:
    """Wait until a long poll should look again; moto's own keeps a core busy where a FIFO group holds back all that is visible.

    Args:
        queue: of which the last look gave nothing.
        timeout: Seconds to wait at most for a message that is sent.
    """
    with queue._messages_lock:  # noqa: SLF001  # what moto notifies when a message is sent
        queue._messages_lock.wait(_PAUSE if queue.messages else timeout)  # noqa: SLF001


def is_retained(broker: SQSBackend, queue_name: str, message: Message) -> bool:
    """True while a queue keeps a message; moto's own counts all messages of the queue for each one that it hands out."""
    kept: float = broker.get_queue(queue_name).message_retention_period  # type: ignore[attr-defined]  # set by name
    return message.sent_timestamp / 1000 + kept > unix_time()  # type: ignore[operator]  # it was sent
