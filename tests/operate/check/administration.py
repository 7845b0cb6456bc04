"""Serve the administration of a Service Bus namespace over HTTPS on loopback, as far as the SDK asks it for queues."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ATOM = "http://www.w3.org/2005/Atom"
QUEUE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
FOR_EVER = "P10675199DT2H48M5.4775807S"
ORDERS = {
    "LockDuration": "PT1M",
    "RequiresDuplicateDetection": "true",
    "RequiresSession": "false",
    "DefaultMessageTimeToLive": FOR_EVER,
    "DeadLetteringOnMessageExpiration": "true",
    "MaxDeliveryCount": "100",
    "ForwardDeadLetteredMessagesTo": "https://shop.servicebus.windows.net/orders-error",
}
ERRORS = {**ORDERS, "RequiresDuplicateDetection": "false", "MaxDeliveryCount": "2000"}
del ERRORS["ForwardDeadLetteredMessagesTo"]


@dataclass
class Namespace:
    """A namespace that is administered on loopback.

    Args:
        queues: the properties of each queue, as the service writes them.
        tier: of the namespace.
        status: what is answered instead; 0 for nothing else.
        port: where it listens.
        certificate: what its clients must trust.
    """

    queues: dict[str, dict[str, str]] = field(default_factory=lambda: {"orders": ORDERS, "orders-error": ERRORS})
    tier: str = "Standard"
    status: int = 0
    port: int = 0
    certificate: Path = Path()

    @property
    def connection_string(self) -> str:
        """Return a connection string; any key will do."""
        return f"Endpoint=sb://127.0.0.1:{self.port};SharedAccessKeyName=any;SharedAccessKey=any"

    def address(self, queue: str) -> str:
        """Return the address of a queue."""
        return f"sb://127.0.0.1:{self.port}/{queue}"

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and body of an answer."""
        name = urlsplit(path).path.strip("/").lower()
        if self.status:
            return self.status, "<Error><Code>401</Code><Detail>Manage,EntityRead claims required</Detail></Error>"
        if name == "$namespaceinfo":
            return 200, entry("shop", {"Name": "shop", "MessagingSKU": self.tier}, "NamespaceInfo")
        if name == "$resources/queues":
            start = "$skip=0" in path.replace("%24", "$") or "skip=" not in path
            return 200, feed([entry(*each) for each in self.queues.items()] if start else [])
        return 200, entry(name, self.queues[name]) if name in self.queues else feed([])


def feed(entries: list[str]) -> str:
    """Write entries as a feed; an entity that does not exist is one without entries."""
    return f'<feed xmlns="{ATOM}"><title type="text">Queues</title>{"".join(entries)}</feed>'


def entry(name: str, properties: dict[str, str], kind: str = "QueueDescription") -> str:
    """Write a queue, or the namespace, as an entry."""
    inside = "".join(f"<{key}>{value}</{key}>" for key, value in properties.items())
    description = f'<{kind} xmlns="{QUEUE}">{inside}</{kind}>'
    return f'<entry xmlns="{ATOM}"><title type="text">{name}</title><content type="application/xml">{description}</content></entry>'


@contextmanager
def administered(folder: Path) -> Iterator[Namespace]:
    """Serve a namespace."""
    namespace = Namespace(certificate=folder / "certificate.pem")
    namespace.certificate.write_bytes(self_signed())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = namespace.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/atom+xml;type=entry;charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(namespace.certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    namespace.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield namespace
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def self_signed() -> bytes:
    """Return a certificate for loopback with its key, as PEM."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")]),
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM) + private
