"""A loopback proxy before a real SQS that, by rule, refuses, loses, delays or spoils calls, and counts all of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import SHUT_RDWR
from threading import Event, Lock, Thread
from typing import Any, Self, assert_never

JSON = "application/x-amz-json-1.0"
PAUSE = 0.05
"""Seconds between two looks at whether all is over."""
PATIENCE = 60
"""Seconds that a connection may be idle; clients give up before."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """SQS answers with an error; nothing is done."""

    code: str
    status: int = 400


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """SQS does it, and the answer is lost on the way."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection ends before SQS hears of the call."""


@dataclass(frozen=True, slots=True)
class Late:
    """SQS hears of the call when the client has given up."""


@dataclass(frozen=True, slots=True)
class FailEntry:
    """SQS does not do one entry of a batch, and says so."""

    number: int = 0
    code: str = "InternalError"


@dataclass(frozen=True, slots=True)
class SayNothing:
    """Something between answers 200 with an empty object; nothing is done."""


Fault = Refuse | LoseAnswer | HangUp | Late | FailEntry | SayNothing


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault for calls of one operation: for the numbered ones, from 1, or for all."""

    operation: str
    fault: Fault
    calls: tuple[int, ...] = ()


class FaultyProxy:
    """The proxy; as a context manager it serves on a port that the kernel chooses.

    Args:
        upstream: the URL of the real SQS.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream.removeprefix("http://")
        self.rules: list[Rule] = []
        self.calls: Counter[str] = Counter()
        self.entries: Counter[str] = Counter()
        self.closing = Event()
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self._thread = Thread(target=self._server.serve_forever, args=(PAUSE,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fault_of(self, operation: str, body: bytes) -> Fault | None:
        """Count the call; the first rule that names it tells its fault."""
        with self._lock:
            self.calls[operation] += 1
            self.entries[operation] += len(json.loads(body).get("Entries", ()))
            number = self.calls[operation]
        named = [rule for rule in self.rules if rule.operation == operation]
        return next((rule.fault for rule in named if not rule.calls or number in rule.calls), None)


def handler_of(proxy: FaultyProxy) -> type[BaseHTTPRequestHandler]:
    """The handler of a proxy's connections."""
    return type("ProxyHandler", (Handler,), {"proxy": proxy})


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = PATIENCE
    proxy: FaultyProxy

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        operation = self.headers["X-Amz-Target"].partition(".")[2]
        match self.proxy.fault_of(operation, body):
            case None:
                self.answer(*self.forwarded(body))
            case Refuse(code, status):
                error = {"__type": f"com.amazonaws.sqs#{code}", "message": f"{code}, says the proxy"}
                self.answer(status, json.dumps(error).encode())
            case LoseAnswer():
                self.forwarded(body)
                self.hang_up()
            case HangUp():
                self.hang_up()
            case Late():
                self.wait_until_nobody_listens()
                self.forwarded(body)
            case FailEntry(number, code):
                self.answer(*self.without(body, number, code))
            case SayNothing():
                self.answer(200, b"{}")
            case never:
                assert_never(never)

    def forwarded(self, body: bytes) -> tuple[int, bytes]:
        """What the real SQS answers."""
        connection = HTTPConnection(self.proxy.upstream, timeout=PATIENCE)
        skipped = ("host", "connection", "content-length", "expect")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
        try:
            connection.request("POST", self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def without(self, body: bytes, number: int, code: str) -> tuple[int, bytes]:
        """What the real SQS answers when one entry is taken out, with that one as failed."""
        call: dict[str, Any] = json.loads(body)
        taken = call["Entries"].pop(number)
        status, answer = self.forwarded(json.dumps(call).encode()) if call["Entries"] else (200, b"{}")
        failed = {"Id": taken["Id"], "SenderFault": False, "Code": code, "Message": "says the proxy"}
        return status, json.dumps({"Successful": [], **json.loads(answer), "Failed": [failed]}).encode()

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def wait_until_nobody_listens(self) -> None:
        self.close_connection = True
        while not self.proxy.closing.is_set():
            if select([self.connection], [], [], PAUSE)[0]:  # the client's end of the connection
                return

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """Nothing: `calls` tells more."""
