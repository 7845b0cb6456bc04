"""An SQS on loopback that takes everything at once and counts the calls: what is measured is the caller."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Taker(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        """Confirm a message, or each entry of a batch."""
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls[self.headers["X-Amz-Target"].rpartition(".")[2]] += 1  # type: ignore[attr-defined]  # set below
        ids = [entry["Id"] for entry in content.get("Entries", [])]
        done = [{"Id": each, "MessageId": each, "MD5OfMessageBody": ""} for each in ids]
        alone = {"MessageId": "1", "MD5OfMessageBody": ""}  # the answer to a call for one message
        self._answer(json.dumps({"Successful": done, "Failed": []} if ids else alone).encode())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def stub_sqs() -> Iterator[tuple[str, Counter[str]]]:
    """Serve SQS, and yield its URL and the calls that it counts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Taker)
    server.calls = calls = Counter[str]()  # type: ignore[attr-defined]  # for the handler, which knows its server
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", calls
    finally:
        server.shutdown()
        server.server_close()
