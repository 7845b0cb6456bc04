"""Serve the Lambda Runtime API (2018-06-01) to one instance, over HTTP on loopback.

The runtime client requests the next invocation, which the host sends, and posts the outcome, which the host takes from the reports.
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
class InvocationRequested:
    """The runtime client requested an invocation: its module is loaded and it is free."""


Report = InvocationRequested | Returned | Raised | InitFailed | Died


@dataclass(frozen=True, slots=True)
class Invocation:
    """One event for the handler.

    Args:
        request_id: The invocation's request id.
        event: JSON.
        timeout: The remaining time that the context reports at the start.
        function_arn: The context's `invoked_function_arn`.
        trace_id: The value of `_X_AMZN_TRACE_ID` in the handler's environment.
    """

    request_id: str
    event: bytes
    timeout: timedelta
    function_arn: str
    trace_id: str


class RuntimeApi:
    """A running Runtime API server; `address` is the value of `AWS_LAMBDA_RUNTIME_API`."""

    def __init__(self) -> None:
        self.reports: SimpleQueue[Report] = SimpleQueue()
        self._invocations: SimpleQueue[Invocation | None] = SimpleQueue()
        self._answers: dict[str, SimpleQueue[Report]] = {}
        shared = {"reports": self.reports, "invocations": self._invocations, "answers": self._answers}
        handler = type("_Handler", (_Handler,), shared)
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="runtime-api", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self._server.server_port}"

    def send(self, invocation: Invocation) -> None:
        """Send the runtime client its next invocation."""
        self._invocations.put(invocation)

    def send_and_await(self, invocation: Invocation) -> SimpleQueue[Report]:
        """Send an invocation to the next client that asks for one; return where its answer arrives, and not in the reports."""
        answer = self._answers[invocation.request_id] = SimpleQueue()
        self.send(invocation)
        return answer

    def forget(self, invocation: Invocation) -> None:
        """Await no answer of an invocation any more: a later one arrives in the reports."""
        self._answers.pop(invocation.request_id, None)

    def end_all(self, report: Report) -> None:
        """Give this as the answer of all invocations that wait for one."""
        for answer in list(self._answers.values()):
            answer.put(report)

    def close(self) -> None:
        """Close the port, and answer a client that waits for an invocation."""
        self._invocations.put(None)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no traceback when a client has disconnected: the end of its process is reported elsewhere."""


class _Handler(BaseHTTPRequestHandler):
    reports: ClassVar[SimpleQueue[Report]]
    invocations: ClassVar[SimpleQueue[Invocation | None]]
    answers: ClassVar[dict[str, SimpleQueue[Report]]]

    protocol_version = "HTTP/1.1"
    # Nagle's algorithm would send the body only after the client's acknowledgement of the headers, which comes 40 ms later.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer `/runtime/invocation/next` with the next invocation, as soon as there is one."""
        self.reports.put(InvocationRequested())
        invocation = self.invocations.get()
        if invocation is None:
            self.invocations.put(None)  # for the other processes of the same environment
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
        """Take the outcome from `/runtime/invocation/{id}/response`, `…/error` or `/runtime/init/error`."""
        body = self._body().decode()
        match self.path.strip("/").split("/")[2:]:
            case ["invocation", request_id, "response"]:
                self.answers.pop(request_id, self.reports).put(Returned(body))
            case ["invocation", request_id, "error"]:
                self.answers.pop(request_id, self.reports).put(Raised(*_error(body)))
            case ["init", "error"]:
                self.reports.put(InitFailed(*_error(body)))
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
        """Write no access log."""


def _error(body: str) -> tuple[str, str]:
    error = json.loads(body or "{}")
    return str(error.get("errorType", "Unknown")), str(error.get("errorMessage", ""))
