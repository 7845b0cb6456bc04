"""Try once whether something listens at an address, so that a wrong one is named before an SDK has repeated its calls."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

_TIMEOUT = 5.0  # seconds
_PORTS = {"http": 80, "https": 443}


class Unreachable(OSError):
    """Raised where nothing listens at the address that a setting names."""


def check_reachable(setting: str, host: str, port: int) -> None:
    """Connect to an address, and hang up.

    Args:
        setting: The name of the setting that names it.
        host: A name, or an IP address.
        port: Its port.

    Raises:
        Unreachable: The name is unknown, the connection is refused, or there is no answer within five seconds.
    """
    try:
        socket.create_connection((host, port), _TIMEOUT).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise Unreachable(f"nothing listens at {host}:{port} ({why}); check {setting}") from error


def check_url(setting: str, url: str) -> None:
    """Connect to the host and port of a URL, and hang up.

    Raises:
        Unreachable: As in `check_reachable`.
        ValueError: Not a URL such as http://127.0.0.1:4566.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{setting} is {url!r}; write a URL such as http://127.0.0.1:4566")
    check_reachable(setting, parts.hostname, parts.port or _PORTS[parts.scheme])
