"""The Lambda Runtime API (2018-06-01) of one instance, served over HTTP on loopback; knows nothing of processes or queues.

The runtime client asks for the next invocation, which the host hands over, and posts what came of it, which the host finds in the mailbox.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any, ClassVar

from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Raised, Returned
from recoverable_local.outcomes import Died


@dataclass(frozen=True, slots=True)
class Asked:
    """The runtime client asked for an invocation: its module is loaded and it is free."""


Mail = Asked | Returned | Raised | InitFailed | Died


@dataclass(frozen=True, slots=True)
class Invocation:
    """One event on its way to the handler.

    Args:
        request_id: Lambda's name for the invocation.
        event: JSON.
        timeout: How long the handler is told that it has.
        function_arn: What the context says was invoked.
        trace_id: What the runtime client puts into `_X_AMZN_TRACE_ID`.
    """

    request_id: str
    event: bytes
    timeout: timedelta
    function_arn: str
    trace_id: str


class RuntimeApi:
    """A served Runtime API; `address` goes into `AWS_LAMBDA_RUNTIME_API`."""

    def __init__(self) -> None:
        self.mailbox: SimpleQueue[Mail] = SimpleQueue()
        self._invocations: SimpleQueue[Invocation | None] = SimpleQueue()
        handler = type("_Handler", (_Handler,), {"mailbox": self.mailbox, "invocations": self._invocations})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="runtime-api", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_port}"

    def hand_over(self, invocation: Invocation) -> None:
        """Give the runtime client its next invocation."""
        self._invocations.put(invocation)

    def close(self) -> None:
        """Close the port and release a client that waits."""
        self._invocations.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone needs no traceback here: its process is watched, and its end is reported from there."""


class _Handler(BaseHTTPRequestHandler):
    mailbox: ClassVar[SimpleQueue[Mail]]
    invocations: ClassVar[SimpleQueue[Invocation | None]]

    protocol_version = "HTTP/1.1"
    # Nagle would hold the body back until the client acknowledges the head, which it delays by 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """`/runtime/invocation/next`: wait for an invocation."""
        self.mailbox.put(Asked())
        invocation = self.invocations.get()
        if invocation is None:
            self.close_connection = True
            self._answer(410, b"")
            return
        deadline = int((time.time() + invocation.timeout.total_seconds()) * 1000)
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(deadline),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
            "Lambda-Runtime-Trace-Id": invocation.trace_id,
        }
        self._answer(200, invocation.event, headers)

    def do_POST(self) -> None:
        """`/runtime/invocation/{id}/response`, `…/error` and `/runtime/init/error`: what came of it."""
        body = self._body().decode()
        match self.path.strip("/").split("/")[2:]:
            case ["invocation", _, "response"]:
                self.mailbox.put(Returned(body))
            case ["invocation", _, "error"]:
                self.mailbox.put(Raised(*_error(body)))
            case ["init", "error"]:
                self.mailbox.put(InitFailed(*_error(body)))
            case _:
                self._answer(404, b"")
                return
        self._answer(202, b'{"status":"OK"}')

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _chunk(self) -> bytes:
        data = self.rfile.read(int(self.rfile.readline().split(b";")[0], 16))
        self.rfile.readline()
        return data

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Keep the server's own access log quiet."""


def _error(body: str) -> tuple[str, str]:
    error = json.loads(body or "{}")
    return str(error.get("errorType", "Unknown")), str(error.get("errorMessage", ""))
