"""Serve moto's SQS, SNS and DynamoDB on loopback, in this process."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from recoverable_local.lambda_host.services.deep_queues import use_deep_queues
from recoverable_local.lambda_host.services.move_tasks import MoveTasks
from recoverable_local.lambda_host.services.one_at_a_time import OneAtATime

_HOST = "127.0.0.1"


class Dispatcher(DomainDispatcherApplication):
    """Finds a service's application, once for each: moto lists its folders at each call."""

    get_backend_for_host = cache(DomainDispatcherApplication.get_backend_for_host)


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
    use_deep_queues()
    application = OneAtATime(MoveTasks(Dispatcher(create_backend_app)))
    with socket.create_server((_HOST, port)) as bound:
        port = bound.getsockname()[1]
        return make_server(
            _HOST, port, application, threaded=True, request_handler=MotoRequestHandler, fd=bound.fileno()
        )
