"""A loopback proxy before table storage that loses the answers to changes when it is told to."""

from __future__ import annotations

from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from threading import Thread
from typing import Any, Self


class LosingProxy:
    """The proxy; as a context manager it serves on a port that the kernel chooses.

    Args:
        upstream: host and port of the storage.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.loses_next = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("ProxyHandler", (Handler,), {"proxy": self}))
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 10
    proxy: LosingProxy

    def do_GET(self) -> None:
        """A read."""
        self.answer(*self.forwarded())

    def do_PUT(self) -> None:
        """A change, whose answer may be lost."""
        answer, lost = self.forwarded(), self.proxy.loses_next
        self.proxy.loses_next = False
        if lost:
            self.close_connection = True
            self.connection.shutdown(SHUT_RDWR)
        else:
            self.answer(*answer)

    def do_POST(self) -> None:
        """As above."""
        self.do_PUT()

    def forwarded(self) -> tuple[int, list[tuple[str, str]], bytes]:
        """What the storage answers."""
        connection = HTTPConnection(self.proxy.upstream, timeout=10)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Pass an answer on."""
        own = {"connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in own:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Nothing: the tests tell."""
