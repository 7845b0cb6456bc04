"""Every block of Python on the pages is run: here in the order of its page, or by the test that is named here."""

from __future__ import annotations

import inspect
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from docs.pages import PAGES, README, ROOT, blocks, page
from recoverable import Message


def place_order(message: Message) -> None:
    """The reader's own handler."""


class BankUnreachable(Exception): ...


class OrderExpired(Exception): ...


READER = {
    "Message": Message,
    "charge": lambda order: None,
    "hide_card_numbers": lambda text: text,
    "meter_provider": SimpleNamespace(force_flush=print),
    "page_somebody": lambda facts, message: None,
    "place_order": place_order,
    "tracer_provider": SimpleNamespace(force_flush=print),
}
"""What a reader has, whom a page shows a part of a program."""

MODULES: dict[str, dict[str, Any]] = {
    "orders": {"place_order": place_order},
    "shop": {"BankUnreachable": BankUnreachable, "OrderExpired": OrderExpired},
}
"""The modules that a reader has."""

RUN_HERE = (
    "run/error-queue.md", "run/watch.md", "start/wrap.md", "use/clients.md", "use/handlers.md", "use/order.md", "use/outages.md",
    "use/retries.md", "use/sending.md", "use/time-outs-and-crashes.md",
)  # fmt: skip
RUN_IN_PART = {
    "start/aws.md": range(4, 5),
    "start/azure.md": range(4, 5),
    "use/later.md": range(4, 5),
    "use/powertools.md": range(8, 11),
    "use/testing.md": range(9),
}
"""Pages of which another test runs the rest, or whose rest is not for running."""

OF_THE_SHOP = ("use/testing.md",)
"""Pages whose blocks take the example shop's modules, and not the reader's."""

RUN_BY = {
    README: "tests/docs/test_first_screen.py",
    "deploy/aws.md": "tests/cdk/synthesize.py",
    "deploy/azure.md": "tests/infra/azure/test_page.py",
    "internals/extensions.md": "tests/extensions/test_page.py",
    "internals/proof.md": "tests/proof/test_story.py",
    "peers/beside-nservicebus.md": "tests/docs/test_beside_nservicebus_page.py",
    "peers/coming-from-nservicebus.md": "tests/docs/test_nservicebus_page.py",
    "start/aws.md": "tests/docs/test_first_steps.py",
    "start/azure.md": "tests/docs/test_first_steps.py",
    "start/is-it-for-you.md": "tests/docs/test_which_when_page.py",
    "use/idempotency.md": "tests/aws/outgoing/test_idempotency_page.py",
    "use/later.md": "tests/timeouts/test_page.py",
    "use/local.md": "tests/local/functions_host/test_page.py",
    "use/powertools.md": "tests/docs/test_powertools_page.py",
}
NOT_RUN = {
    ("use/clients.md", 1): "AWS's package for SnapStart is on Lambda alone",
    ("use/testing.md", 6): "four lines of a test whose beginning the page has shown",
}

WHOLE = {name: range(len(blocks(name, "python"))) for name in RUN_HERE}
BLOCKS = [(name, number) for name, numbers in {**WHOLE, **RUN_IN_PART}.items() for number in numbers]
TESTS = [
    (name, number, test)
    for name, number in BLOCKS
    if (name, number) not in NOT_RUN
    for test in re.findall(r"^(?:def|async def) (test_\w+)", blocks(name, "python")[number], re.MULTILINE) or [""]
]


@pytest.mark.parametrize(("name", "number", "test"), TESTS)
def test_a_block_runs_and_its_test_passes(
    name: str, number: int, test: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for module, names in {} if name in OF_THE_SHOP else MODULES.items():
        made = ModuleType(module)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, module, made)
    first = number if name in RUN_IN_PART else 0
    known: dict[str, Any] = dict(READER)
    for earlier in range(first, number):
        exec(compile(blocks(name, "python")[earlier], name, "exec"), known)  # our own page
    exec(compile(blocks(name, "python")[number], name, "exec"), known)

    if test:
        known[test](**{each: request.getfixturevalue(each) for each in inspect.signature(known[test]).parameters})


@pytest.mark.parametrize("name", [name for name in PAGES if blocks(name, "python")])
def test_each_page_with_python_is_run(name: str) -> None:
    assert name in (*RUN_HERE, *RUN_IN_PART, *RUN_BY)
    assert (ROOT / RUN_BY.get(name, "README.md")).is_file()


@pytest.mark.parametrize("name", PAGES)
def test_each_block_has_a_language(name: str) -> None:
    fences = re.findall(r"^ *```(.*)$", page(name), re.MULTILINE)

    assert [language for language in fences[::2] if not language] == []
    assert set(fences[1::2]) <= {""}
