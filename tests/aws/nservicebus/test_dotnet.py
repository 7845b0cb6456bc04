"""The model of .NET's readers does what ServiceControl and the SQS transport did when they were run."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from aws.nservicebus.dotnet import HEADERS, ID, Refused, Sent, from_base64, group_of, imported, retried

RECORDED = json.loads(Path(__file__).with_name("servicecontrol.json").read_text())
OWN_ID = "own NServiceBus.MessageId attribute"  # its header was not recorded
CASES = [
    pytest.param(row, shape, id=f"{row['name']}, {shape}")
    for row in RECORDED["copies"]
    for shape in ("native", "wrapped")
]


def copy_of(row: dict[str, Any], shape: str) -> Sent:
    """Return the error copy that was recorded, native or in NServiceBus's wrapper."""
    headers = json.dumps(RECORDED["headers"])
    if row["name"] == "lone surrogate in exception":
        headers = headers.replace('Message": "no"', 'Message": "\\ud800"')
    if shape == "native":
        ours = {HEADERS: {"DataType": "String", "StringValue": headers}}
        return Sent(row["body"], {**row["attributes"], **ours})
    body = b64encode(row["body"].encode()).decode()
    return Sent(f'{{"Headers": {headers}, "Body": "{body}", "S3BodyKey": null}}', row["attributes"])


@pytest.mark.parametrize(("row", "shape"), CASES)
def test_a_copy_is_imported_and_comes_back_as_it_was_recorded(row: dict[str, Any], shape: str) -> None:
    recorded = row[shape]
    if "refused" in recorded:
        with pytest.raises(Refused) as refused:
            imported(copy_of(row, shape))
        assert str(refused.value) in recorded["refused"]
        return

    found = imported(copy_of(row, shape))

    assert (found.failing_address, found.text, found.message_type) == (
        recorded["failing_address"], recorded["body_text"], recorded["message_type"],
    )  # fmt: skip
    assert row["name"] == OWN_ID or found.unique_id == recorded["unique_id"]
    assert b64encode(found.read.body).decode() == recorded["body64"].replace("\n", "")
    wrapped, as_it_is = retried(found, wraps=True), retried(found, wraps=False)
    assert json.loads(wrapped.body)["Body"] == recorded["retried in a wrapper"]
    assert as_it_is.body == recorded["retried as it is"]
    headers = json.loads(as_it_is.attributes[HEADERS]["StringValue"])
    assert {name: headers[name] for name in recorded["user_headers"]} == recorded["user_headers"]


def test_a_retry_has_the_headers_that_were_recorded() -> None:
    found = imported(copy_of(RECORDED["copies"][0], "native"))

    assert json.loads(retried(found, wraps=True).body)["Headers"] == RECORDED["headers of a retry"]
    assert group_of(found) == RECORDED["copies"][0]["native"]["groups"][0].partition(" | ")[2]
    assert ID in found.read.headers


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("", b""), (" \t\r\n", b""), ("aGk=", b"hi"), ("a G k\n=", b"hi"), ("aA==", b"h"), ("aA= =", b"h"), ("aGVs", b"hel"),
        ("aGk", None), ("aGk=\x0b", None), ("a===", None), ("====", None), ("aG=k", None), ("aGk-", None), ("\u0661AAA", None),
    ],
)  # fmt: skip
def test_blanks_are_skipped_and_all_else_of_base64_is_strict(text: str, decoded: bytes | None) -> None:
    assert from_base64(text) == decoded
