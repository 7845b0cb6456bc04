"""Test AMQP 1.0 encoding and decoding, frames that arrive in parts, and the refusal of malformed bytes."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

import pytest
from azure.servicebus._pyamqp._decode import decode_payload
from hypothesis import example, given
from hypothesis import strategies as st

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.frames import Frame, FrameReader, Header, frame
from recoverable_local.service_bus.amqp.performatives import Attach, parse_performative
from recoverable_local.service_bus.amqp.slices import elements, end_of
from recoverable_local.service_bus.amqp.types import MalformedError
from recoverable_local.service_bus.broker.holding.content import parse
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.settings import Queue
from recoverable_local.service_bus.faults import Faults
from recoverable_local.service_bus.links.connection import Connection

plain_values = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.binary(max_size=300)
    | st.text(max_size=300)
    | st.uuids()
)


@given(plain_values)
def test_what_is_encoded_is_decoded_again(value: Any) -> None:
    encoded = e.plain(value)

    assert (decode(encoded), end_of(encoded, 0)) == ((value, len(encoded)), len(encoded))


@given(st.lists(plain_values, max_size=300))
def test_lists_keep_their_elements_byte_for_byte(values: list[Any]) -> None:
    encoded = [e.plain(value) for value in values]

    assert (decode(e.sequence(encoded))[0], elements(e.sequence(encoded))) == (values, encoded)


@given(st.dictionaries(st.text(max_size=20), plain_values, max_size=50))
def test_maps_are_decoded_again(values: dict[str, Any]) -> None:
    encoded = e.mapping((e.string(name), e.plain(value)) for name, value in values.items())

    assert decode(encoded)[0] == values


@pytest.mark.parametrize("number", [0, 1, 255, 256, 2**32 - 1])
def test_unsigned_numbers_take_their_shortest_form_and_are_decoded_again(number: int) -> None:
    assert [decode(encode(number))[0] for encode in (e.uint, e.ulong)] == [number, number]


def test_arrays_are_decoded_again() -> None:
    values = [uuid.UUID(int=1), uuid.UUID(int=2)]

    assert decode(e.array([e.uuid(value) for value in values]))[0] == values


def test_an_array_of_more_elements_than_there_are_bytes_is_refused() -> None:
    of_nothing = bytes([0xF0, 0, 0, 0, 5]) + (2**32 - 1).to_bytes(4) + b"\x40"  # each element null, and no byte long

    with pytest.raises(MalformedError, match=r": an array of 4294967295 elements announced at byte 10 of 10$"):
        decode(of_nothing)


@given(st.binary(max_size=200))
@example(b"\x00\x53\x10\x40")  # an open without fields
@example(b"\x00\x45\x45")  # a list as descriptor
@example(b"\xc1\x04\x02\x45\x40\x40")  # a list as a map's key
@example(b"\x40\x40")  # a message that is no section
@example(b"\x00" * 2000)  # descriptors of descriptors
def test_bytes_that_are_no_amqp_are_malformed_and_nothing_else_happens(data: bytes) -> None:
    for attempt in (lambda: decode(data), lambda: parse_performative(data), lambda: parse(data)):
        with suppress(MalformedError):
            attempt()


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.integers(1, 20))
def test_frames_are_found_however_the_stream_is_cut(contents: list[bytes], size: int) -> None:
    stream = b"AMQP\x00\x01\x00\x00" + b"".join(frame(body, channel=7) for body in contents)
    reader = FrameReader()

    found = [part for start in range(0, len(stream), size) for part in reader.feed(stream[start : start + size])]

    assert found == [Header(stream[:8]), *(Frame(0, 7, body) for body in contents)]


@pytest.mark.parametrize("size", [0, 7, 65_537, 2**32 - 1])
def test_a_frame_of_an_impossible_size_is_refused(size: int) -> None:
    with pytest.raises(MalformedError, match=f"a frame of {size} bytes; between 8 and 65536 are allowed"):
        list(FrameReader().feed(size.to_bytes(4) + bytes(4)))


def test_the_sdk_reads_a_message_as_we_wrote_it() -> None:
    sent = e.described(0x74, e.mapping([(e.string("tenant"), e.string("north"))])) + e.described(
        0x75, e.binary(b"hello")
    )

    written = parse(sent).encode(delivery_count=3, annotations={"x-note": e.int64(9)})
    received = decode_payload(memoryview(written))

    assert received.header is not None
    assert (received.header.delivery_count, received.message_annotations, received.application_properties) == (
        3,
        {b"x-note": 9},
        {b"tenant": b"north"},
    )
    assert received.data == [b"hello"]


@pytest.mark.parametrize("peer_receives", [True, False])
@pytest.mark.parametrize("node", ["orders", "nowhere"])
def test_a_link_is_answered_from_its_other_end_even_if_it_is_refused(*, node: str, peer_receives: bool) -> None:
    """AMQP 1.0, 2.6.3: the roles of the two ends of a link differ."""
    said: list[bytes] = []
    connection = Connection(Namespace([Queue("orders")], [], clock=lambda: 0.0), Faults(), said.append, list, list)
    ends = [replies.source(node), replies.target(node)]
    asked = [e.string("link"), e.uint(0), e.boolean(peer_receives), e.ubyte(0), e.ubyte(0), *ends]
    for body in (replies.open_("localhost"), replies.begin(0), e.described(0x12, e.sequence(asked))):
        connection.receive(frame(body))

    answers = [parse_performative(part.body) for part in FrameReader().feed(b"".join(said)) if isinstance(part, Frame)]
    roles = [answer.peer_receives for answer in answers if isinstance(answer, Attach)]
    assert roles == [not peer_receives]
