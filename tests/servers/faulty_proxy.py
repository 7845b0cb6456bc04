"""A loopback proxy before a service that speaks HTTP. It counts the calls, and lets those fail that a test names.

The faults are those of `recoverable_local.testing`, as far as they can happen between a client and a service, and two more.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import SHUT_RDWR, SO_LINGER, SOL_SOCKET
from struct import pack
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, Self, assert_never

from recoverable_local.testing import AnswerLost, ConnectionReset, PartlyFailed, Refused, Unreachable

JSON = "application/x-amz-json-1.0"
PAUSE = 0.05  # seconds between two checks whether the proxy is to end
TIMEOUT = 60  # seconds that a connection may be idle; clients give up before
TEXT = "Refused by the test."  # of a refused entry, for which `PartlyFailed` has none


@dataclass(frozen=True, slots=True)
class Late:
    """The service gets the call when the client has given up."""


@dataclass(frozen=True, slots=True)
class EmptyAnswer:
    """Something in between answers 200 with an empty object; nothing is done."""


@dataclass(frozen=True, slots=True)
class Truncated:
    """The service does the call, and the connection ends within the answer."""


LOOK = "GetQueueAttributes"
"""The operation by which the package asks what a queue is set to."""


Fault = Refused | AnswerLost | ConnectionReset | Unreachable | PartlyFailed | Late | EmptyAnswer | Truncated


class Rule(NamedTuple):
    """A fault for calls of one operation: for the numbered ones, from 1, or for all."""

    operation: str
    fault: Fault
    calls: tuple[int, ...] = ()


class Answer(NamedTuple):
    """An answer to a call."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class FaultyProxy:
    """The proxy; as a context manager it serves on a port that the kernel chooses.

    An operation is what AWS's SDKs name in X-Amz-Target, such as "SendMessageBatch"; for other clients, the HTTP method.

    Args:
        upstream: the URL of the service.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.removeprefix("http://")
        self.rules: list[Rule] = []
        self.calls: Counter[str] = Counter()
        self.looks = 0  # at what a queue is set to, which are no calls about messages
        self.entries: Counter[str] = Counter()
        self.failed = 0
        self.connections: list[Handler] = []
        self.closing = Event()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("ProxyHandler", (Handler,), {"proxy": self}))
        self._thread = Thread(target=self._server.serve_forever, args=(PAUSE,), daemon=True)
        self.address = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.address}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def forget(self) -> None:
        """Reset the next call on each connection that is open, as a gateway does that forgot them; such a call is not counted."""
        for connection in self.connections:
            connection.forgotten = True

    def lose_next_answer(self, operation: str) -> None:
        """Let the service do the next call of an operation, and lose the answer."""
        self.rules.append(Rule(operation, AnswerLost(), (self.calls[operation] + 1,)))

    def fault_for(self, operation: str, entries: int) -> Fault | None:
        """Count a call, and return the fault of the first rule that names it."""
        with self._lock:
            if operation == LOOK:
                self.looks += 1
            else:
                self.calls[operation] += 1
                self.entries[operation] += entries
            number = self.calls[operation] or self.looks
        rules = [rule for rule in self.rules if rule.operation == operation]
        return next((rule.fault for rule in rules if not rule.calls or number in rule.calls), None)


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = TIMEOUT
    proxy: FaultyProxy
    forgotten = False

    def setup(self) -> None:
        super().setup()
        self.proxy.connections.append(self)

    def do_POST(self) -> None:
        """Forward a call, or let it fail."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.forgotten:
            self.reset()
            return
        target = self.headers.get("X-Amz-Target", "").partition(".")[2]
        entries = len(json.loads(body).get("Entries", ())) if target else 0
        fault = self.proxy.fault_for(target or self.command, entries)
        if fault is None:
            self.answer(self.forward(body))
        else:
            self.fail(fault, body)

    def do_GET(self) -> None:
        self.do_POST()

    def do_PUT(self) -> None:
        self.do_POST()

    def fail(self, fault: Fault, body: bytes) -> None:
        """Do to a call what the fault says."""
        self.proxy.failed += 1
        match fault:
            case Refused(code, message, status):
                self.answer(json_answer({"__type": f"com.amazonaws.sqs#{code}", "message": message}, status))
            case AnswerLost() | ConnectionReset() | Unreachable() | Late() | Truncated():
                self.lose_answer(fault, body)
            case PartlyFailed(places, code):
                self.answer(self.forward_without(body, places, code))
            case EmptyAnswer():
                self.answer(json_answer({}))
            case never:
                assert_never(never)

    def lose_answer(self, fault: AnswerLost | ConnectionReset | Unreachable | Late | Truncated, body: bytes) -> None:
        """End the connection before or after the service has done the call."""
        match fault:
            case AnswerLost():
                self.forward(body)
                self.hang_up()
            case ConnectionReset(done=done):
                if done:
                    self.forward(body)
                self.reset()
            case Truncated():
                answer = self.forward(body)
                self.answer(answer._replace(body=answer.body[:-1]), length=len(answer.body))
                self.hang_up()
            case Unreachable():
                self.hang_up()
            case Late():
                self.wait_for_hang_up()
                self.forward(body)

    def forward(self, body: bytes) -> Answer:
        """Return the service's answer to a call."""
        connection = HTTPConnection(self.proxy.upstream, timeout=TIMEOUT)
        skipped = {"host", "connection", "content-length", "expect"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def forward_without(self, body: bytes, places: tuple[int, ...], code: str) -> Answer:
        """Take entries out of a batch, and return the service's answer with these as failed."""
        call: dict[str, Any] = json.loads(body)
        failed = [
            {"Id": call["Entries"][place]["Id"], "SenderFault": False, "Code": code, "Message": TEXT}
            for place in places
        ]
        call["Entries"] = [entry for place, entry in enumerate(call["Entries"]) if place not in places]
        answer = self.forward(json.dumps(call).encode()) if call["Entries"] else json_answer({})
        return json_answer({"Successful": [], **json.loads(answer.body), "Failed": failed}, answer.status)

    def answer(self, answer: Answer, *, length: int | None = None) -> None:
        """Answer the client, with another length than the body has where one is given."""
        own = {"connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}
        self.send_response(answer.status)
        for name, value in answer.headers:
            if name.lower() not in own:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body) if length is None else length))
        self.end_headers()
        self.wfile.write(answer.body)

    def wait_for_hang_up(self) -> None:
        """Wait until the client ends the connection."""
        self.close_connection = True
        while not self.proxy.closing.is_set():
            if select([self.connection], [], [], PAUSE)[0]:
                return

    def reset(self) -> None:
        """Reset the connection."""
        self.close_connection = True
        self.connection.setsockopt(SOL_SOCKET, SO_LINGER, pack("ii", 1, 0))
        self.connection.close()

    def hang_up(self) -> None:
        """End the connection."""
        self.close_connection = True
        self.connection.shutdown(SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Write no line for each call: `calls` counts them."""


def json_answer(content: dict[str, Any], status: int = 200) -> Answer:
    """Return an answer as SQS makes it."""
    return Answer(status, [("Content-Type", JSON)], json.dumps(content).encode())
