"""The broker that comes with the host: moto's SQS, served on loopback by this process, and its DynamoDB beside it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from recoverable_local.lambda_host.services.one_at_a_time import OneAtATime

_HOST = "127.0.0.1"


@contextmanager
def embedded_broker(port: int = 0) -> Iterator[str]:
    """Serve SQS and DynamoDB on 127.0.0.1 and give the endpoint's URL.

    Every broker of one process shares its queues and tables, since moto keeps them per process.

    Args:
        port: Where; 0 lets the kernel choose.

    Raises:
        OSError: The port is taken.
    """
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # it would write a line for every call
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
    """A server on a port that is bound here, since werkzeug would end the process if it is taken."""
    application = OneAtATime(DomainDispatcherApplication(create_backend_app))
    with socket.create_server((_HOST, port)) as bound:
        port = bound.getsockname()[1]
        return make_server(
            _HOST, port, application, threaded=True, request_handler=MotoRequestHandler, fd=bound.fileno()
        )
