"""What ServiceControl sends back on Service Bus is what failed: types of properties and fields are restored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aws.nservicebus.dotnet import dotnet_text, imported_of, read_service_bus, retried_on_service_bus
from builders import Boom, recoverability
from nservicebus.worlds import service_bus_world
from recoverable import Message
from recoverable._service_bus.wire import typed
from recoverable.headers import FOLDED
from recoverable_local.testing import SeenMessage, ServiceBusWorld

PROPERTIES: dict[str, Any] = {
    "urgent": True, "quiet": False, "priority": 3, "large": typed(2**40), "share": 0.5, "tiny": 1e-7, "huge": 1e300, "tenant": "north",
    "looks": "True", "number": "3",
}  # fmt: skip
FIELDS: dict[str, Any] = {
    "content_type": "application/json", "correlation_id": "c-1", "partition_key": "p-1", "reply_to": "answers",
    "reply_to_session_id": "r-1", "subject": "placed", "to": "north",
}  # fmt: skip
IN_A_SESSION: dict[str, Any] = {"session_id": "s-1", "subject": "placed"}


class Life:
    """A queue whose handler fails, and remembers what it was given."""

    def __init__(self, delayed: int = 0) -> None:
        self.seen: list[Message] = []
        self.world: ServiceBusWorld = service_bus_world(self._fail, recoverability(0, delayed))

    def _fail(self, message: Message) -> None:
        self.seen.append(message)
        raise Boom("it broke")

    def error_copy(self) -> SeenMessage:
        """Run all attempts, and return the last copy in the error queue."""
        self.world.run()
        return self.world.queue("orders-error")[-1]

    def retry(self, failed: SeenMessage, **edited: str) -> None:
        """Send it back as ServiceControl does, with some headers edited."""
        own = {name: value for name, value in failed.fields.items() if name not in ("body", "application_properties")}
        properties = {**failed.headers, **failed.attributes}
        found = imported_of(read_service_bus(failed.data, properties, own))
        body, headers, fields = retried_on_service_bus(found)
        self.world.send("orders", body, attributes={**headers, **edited}, **fields)


def native(message: Message) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the properties of the sender, and the fields, of what a handler was given; an error copy says what its body is, if its sender did not."""
    own = {name: value for name, value in message.native.application_properties.items() if name in PROPERTIES}
    return own, {name: getattr(message.native, name) for name in {**FIELDS, **IN_A_SESSION} if name != "content_type"}


@pytest.mark.parametrize("fields", [FIELDS, IN_A_SESSION, {}], ids=["fields", "a session", "none"])
@pytest.mark.parametrize("properties", [PROPERTIES, {}], ids=["typed", "none"])
def test_properties_and_fields_come_back_again_and_again(properties: dict[str, Any], fields: dict[str, Any]) -> None:
    life = Life()
    life.world.send("orders", b"{}", attributes=properties, **fields)
    for _ in range(3):
        life.retry(life.error_copy())
    life.world.run()

    first, *later = life.seen
    types = {name: type(value) for name, value in native(first)[0].items()}
    assert [native(each) for each in later] == [native(first)] * 3
    assert {name: type(value) for name, value in native(later[-1])[0].items()} == types
    assert {each.group_id for each in life.seen} == {fields.get("session_id")}
    assert not any(FOLDED in each.headers for each in life.seen)


def test_a_delayed_retry_after_it_has_them_too() -> None:
    life = Life(delayed=1)
    life.world.send("orders", b"{}", attributes=PROPERTIES, **FIELDS)
    life.retry(life.error_copy())
    life.world.run()

    assert [(each.round, native(each)) for each in life.seen] == [
        (0, native(life.seen[0])),
        (1, native(life.seen[0])),
    ] * 2


def test_headers_of_handlers_say_what_they_said() -> None:
    life = Life()
    life.world.send("orders", b"{}", attributes=PROPERTIES)
    life.retry(life.error_copy())
    life.world.run()

    first, again = ({name: text for name, text in each.headers.items() if name in PROPERTIES} for each in life.seen)
    assert again == first


@pytest.mark.parametrize(
    ("edited", "given"),
    [({"urgent": "False"}, "False"), ({"priority": "4"}, "4"), ({"priority": "3.0"}, "3.0"), ({"share": "half"}, "half"), ({"share": "5E-1"}, 0.5)],
    ids=str,
)  # fmt: skip
def test_a_text_that_an_operator_edited_stays_that_text(edited: dict[str, str], given: object) -> None:
    life = Life()
    life.world.send("orders", b"{}", attributes=PROPERTIES)
    life.retry(life.error_copy(), **edited)
    life.world.run()

    [(name, _)] = edited.items()
    assert native(life.seen[1])[0] == {**native(life.seen[0])[0], name: given}


def kept(**parts: Any) -> str:
    """Return the header that keeps properties and fields."""
    return json.dumps({"properties": {}, "fields": {}, **parts})


NOT_RESTORED = {
    "no JSON": "{",
    "a list": "[1]",
    "endless": "[" * 100_000,
    "another shape": json.dumps({"a": {"dataType": "String"}}),
    "half": json.dumps({"properties": {}}),
    "fields as a list": kept(fields=["subject"]),
}


@pytest.mark.parametrize("header", NOT_RESTORED.values(), ids=NOT_RESTORED)
def test_a_header_of_another_form_is_left_as_it_is_with_a_warning(
    header: str, caplog: pytest.LogCaptureFixture
) -> None:
    life = Life()
    life.world.send(
        "orders", b"{}", attributes={FOLDED: header[:20_000], "Recoverable.FailedQueue": "sb://shop/orders"}
    )
    life.world.run()

    assert life.seen[0].headers[FOLDED] == header[:20_000]
    assert f"Reading the header {FOLDED} of message '{life.seen[0].id}' from 'orders' failed" in caplog.text


def test_a_sender_s_header_sets_no_field_that_the_message_has_and_none_that_service_bus_refuses() -> None:
    life = Life()
    forged = {"subject": "forged", "session_id": "x" * 129, "to": 5, "message_id": "forged", "lock_token": "forged"}
    header = kept(fields=forged, properties={"tenant": 1})
    attributes = {FOLDED: header, "tenant": "north", "Recoverable.FailedQueue": "sb://shop/orders"}
    life.world.send("orders", b"{}", attributes=attributes, subject="placed")
    life.world.run()

    [seen] = life.seen
    absent = dict.fromkeys(native(seen)[1])
    assert native(seen) == ({"tenant": "north"}, {**absent, "subject": "placed"})
    assert "forged" not in (seen.native.message_id, seen.native.lock_token)


def test_it_gives_way_before_any_other_header_where_a_copy_is_too_large() -> None:
    life = Life()
    many = {f"p{number}": number for number in range(2_000)}
    life.world.send("orders", b"{}", attributes=many)

    failed = life.error_copy()

    assert (FOLDED in failed.headers, failed.exception_message, len(failed.attributes)) == (False, "it broke", 2_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (1e-7, "1E-07"),
        (1e300, "1E+300"),
        (0.5, "0.5"),
        (2.0, "2"),
        (-3, "-3"),
        (2**40, "1099511627776"),
    ],
)
def test_the_model_writes_texts_as_dotnet_does(value: object, text: str) -> None:
    assert dotnet_text(value) == text
