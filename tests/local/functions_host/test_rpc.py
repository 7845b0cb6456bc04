"""Test the form in which the host's values reach the worker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from recoverable_local.functions_host.extension.metadata import apply_binding_data
from recoverable_local.functions_host.worker.rpc import Json, Typed, longs, to_metadata, to_rpc

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("text", Typed("string", "text")),
        ("", Typed("string", "")),
        (b"\xff", Typed("bytes", b"\xff")),
        (7, Typed("json", "7")),
        (True, Typed("json", "true")),
        (NOON, Typed("json", '"2026-03-14T12:00:00Z"')),
        (Json("text"), Typed("json", '"text"')),
        ({"a": b"\xff", "b": [NOON]}, Typed("json", '{"a":"/w==","b":["2026-03-14T12:00:00Z"]}')),
        (["a", None, "", "b"], Typed("collection_string", ["a", "b"])),
        ([None, None], Typed("collection_string", [])),
        ([b"a", b""], Typed("collection_bytes", [b"a", b""])),
        ([1, 2], Typed("json", "[1,2]")),
        ([Json("x")], Typed("json", '["x"]')),
        (longs([1, 2**40]), Typed("collection_sint64", [1, 2**40])),
    ],
)
def test_each_kind_of_value_has_its_form(value: Any, typed: Typed) -> None:
    assert to_rpc(value) == typed


def test_what_is_null_is_not_told() -> None:
    assert to_metadata({"a": None, "b": "x"}) == {"b": Typed("string", "x")}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"messageid": "mine"}', {"MessageId": "mine", "To": None}),
        (b'{"to": 7, "more": true, "share": 0.5}', {"MessageId": "m-1", "To": "7", "more": "True", "share": "0.5"}),
        (b'{"to": {"a": 1}}', {"MessageId": "m-1", "To": {"a": 1}}),
        (b'{"to": null, "MessageId": [1]}', {"MessageId": "m-1", "To": None}),
        (b'[{"to": 7}]', {"MessageId": "m-1", "To": None}),
        (b'"to"', {"MessageId": "m-1", "To": None}),
        (b"to", {"MessageId": "m-1", "To": None}),
    ],
)
def test_a_json_object_s_values_stand_in_for_metadata_but_arrays_and_null(body: bytes, told: dict[str, Any]) -> None:
    assert apply_binding_data({"MessageId": "m-1", "To": None}, body) == told
