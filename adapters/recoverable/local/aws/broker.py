"""The broker that comes with the host: moto's SQS, served on loopback by this process, and its DynamoDB beside it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from moto.server import ThreadedMotoServer


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
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    with socket.create_server(("127.0.0.1", port)):
        pass  # moto would wait for ever for a port that is taken
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()
