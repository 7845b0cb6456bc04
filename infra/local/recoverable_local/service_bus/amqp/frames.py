"""Split the bytes of a connection into protocol headers and frames, and build frames."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from recoverable_local.service_bus.amqp.types import MalformedError

AMQP_FRAME = 0
SASL_FRAME = 1
KEEP_ALIVE = struct.pack(">IBBH", 8, 2, 0, 0)
MAX_FRAME_SIZE = 65536  # bytes; Service Bus announces the same

_PREAMBLE = 8  # bytes of a protocol header, and of a frame's own header
_SASL = 3  # the protocol id of SASL in a protocol header


@dataclass(frozen=True, slots=True)
class Header:
    """A protocol header. It is answered with the same bytes."""

    data: bytes

    @property
    def wants_sasl(self) -> bool:
        """True if the peer wants to negotiate credentials next."""
        return self.data[4] == _SASL


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame. A frame with an empty body is a keep-alive."""

    kind: int
    channel: int
    body: bytes


class FrameReader:
    """Collects received bytes until they complete a header or a frame."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Header | Frame]:
        """Add received bytes, and yield the headers and frames that they complete.

        Raises:
            MalformedError: The bytes are not an AMQP frame.
        """
        self._buffer += data
        while (size := self._size()) is not None:
            whole = bytes(self._buffer[:size])
            del self._buffer[:size]
            yield Header(whole) if whole.startswith(b"AMQP") else _frame(whole)

    def _size(self) -> int | None:
        if len(self._buffer) < _PREAMBLE:
            return None
        if self._buffer.startswith(b"AMQP"):
            return _PREAMBLE
        size: int = struct.unpack_from(">I", self._buffer)[0]
        if not _PREAMBLE <= size <= MAX_FRAME_SIZE:
            raise MalformedError(f"a frame of {size} bytes; between {_PREAMBLE} and {MAX_FRAME_SIZE} are allowed")
        return size if len(self._buffer) >= size else None


def frame(body: bytes, *, channel: int = 0, kind: int = AMQP_FRAME) -> bytes:
    """Build the bytes of one frame."""
    return struct.pack(">IBBH", _PREAMBLE + len(body), 2, kind, channel) + body


def _frame(whole: bytes) -> Frame:
    _, offset, kind, channel = struct.unpack_from(">IBBH", whole)
    return Frame(kind, channel, whole[offset * 4 :])
