"""What `recoverable check` reads of a Lambda function's code, of which it runs nothing: the ladder, the error queue, whether it uses this package."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from operate.check.conftest import Check, found, not_checked, reported, rules_found
from operate.check.templates import CODE, changed, good, written
from operate.conftest import Ran

FEW = {"Orders.Properties.RedrivePolicy.maxReceiveCount": 1}
"""Which has the ladder named in a finding, if it is known."""

IMPORTS = """
from datetime import timedelta
from recoverable import Delayed, Exponential, Failed, Immediate, Recoverability
from recoverable.aws import SqsEndpoint
"""


def ladder(ran: Ran) -> tuple[int, int] | str:
    """Return the ladder that was read; the reason where it was not."""
    for each in reported(ran):
        if each["rule"] == "max-receive-count":
            found = re.search(r"ladder of (\d+) immediate and (\d+) delayed", each.get("wrong", ""))
            return (int(found[1]), int(found[2])) if found else str(each.get("notChecked", each.get("wrong")))
    raise AssertionError(ran)


def endpoint(recoverability: str, before: str = "") -> str:
    """Return a module whose handler has this `Recoverability`."""
    return f"{IMPORTS}{before}handler = SqsEndpoint(print, {recoverability})\n"


KNOWN: dict[str, tuple[str, tuple[int, int]]] = {
    "the default": (f"{IMPORTS}handler = SqsEndpoint(print)\n", (5, 3)),
    "by name": (endpoint("Recoverability(immediate=Immediate(max_retries=8), delayed=Delayed(max_retries=2))"), (8, 2)),
    "by place": (endpoint("Recoverability(Immediate(8), Delayed(2, timedelta(seconds=5)))"), (8, 2)),
    "the endpoint's by name": (f"{IMPORTS}handler = SqsEndpoint(print, recoverability=Recoverability(Immediate(8)))\n", (8, 3)),
    "sums and products": (endpoint("Recoverability(Immediate(2 + 3 * 2 - 1 - -1))"), (8, 3)),
    "names": (endpoint("SETTINGS", "MANY: int = 8\nRETRIES = Immediate(MANY)\nSETTINGS = Recoverability(RETRIES)\n"), (8, 3)),
    "an alias": ("import recoverable as r\nfrom recoverable.aws import SqsEndpoint as E\nhandler = E(print, r.Recoverability(r.Immediate(8)))\n", (8, 3)),
    "a module": ("import recoverable.aws\nhandler = recoverable.aws.SqsEndpoint(print, recoverable.Recoverability(recoverable.Immediate(8)))\n", (8, 3)),
    "replace": (endpoint("Recoverability(Immediate(1)).replace(immediate=Immediate(1).replace(max_retries=8))"), (8, 3)),
    "a backoff": (endpoint("Recoverability(delayed=Delayed(2, backoff=Exponential(timedelta(seconds=1))))"), (5, 2)),
    "the environment": (endpoint("Recoverability.from_environment()"), (6, 3)),
    "the environment, and code that wins": (endpoint("Recoverability.from_environment(delayed=Delayed(1))"), (6, 1)),
    "the environment under another prefix": (endpoint("Recoverability.from_environment('SHOP_')"), (7, 3)),
    "an environment variable": (f"import os\n{endpoint('Recoverability.from_environment(os.environ[chr])')}".replace("chr", '"PREFIX"'), (7, 3)),
    "a handler around it": (f"{IMPORTS}endpoint = SqsEndpoint(print, Recoverability(Immediate(8)))\ndef handler(event, context):\n    return endpoint(event, context)\n", (8, 3)),
    "Powertools' processor": ("from recoverable.powertools import RecoverableBatchProcessor\nimport recoverable\nprocessor = RecoverableBatchProcessor(recoverable.Recoverability(recoverable.Immediate(8)))\ndef handler(event, context): ...\n", (8, 3)),
    "imported twice from one place": (endpoint("Recoverability(Immediate(8))", "if True:\n    from recoverable import Immediate\n"), (8, 3)),
    "a relative import": (endpoint("Recoverability(Immediate(MANY))", "from .settings import MANY\n"), (8, 3)),
    "a name from another file": (endpoint("Recoverability(Immediate(M))", "from settings import MANY as M\n"), (8, 3)),
}  # fmt: skip
COMPUTED: dict[str, str] = {
    "a name bound twice": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\nMANY = 9\n"),
    "a name under a condition": endpoint("Recoverability(Immediate(MANY))", "if True:\n    MANY = 8\n"),
    "a name in a loop": endpoint("Recoverability(Immediate(MANY))", "for MANY in [8]: pass\n"),
    "a name in a try": endpoint("Recoverability(Immediate(MANY))", "try:\n    MANY = 8\nexcept OSError: pass\n"),
    "a name that a function may bind": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\ndef f():\n    global MANY\n    MANY = 9\n"),
    "a name that is bound again by a walrus": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\nprint(MANY := 9)\n"),
    "a name that is deleted": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\ndel MANY\n"),
    "a name that is added to": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\nMANY += 1\n"),
    "a name of a star": endpoint("Recoverability(Immediate(MANY))", "from settings import *\n"),
    "a name beside a star": endpoint("Recoverability(Immediate(MANY))", "MANY = 8\nfrom settings import *\n"),
    "a name of no module": endpoint("Recoverability(Immediate(MANY))", "from nowhere import MANY\n"),
    "names in a circle": endpoint("Recoverability(Immediate(MANY))", "MANY = MORE\nMORE = MANY\n"),
    "a call": endpoint("Recoverability(Immediate(int('8')))"),
    "a division": endpoint("Recoverability(Immediate(16 // 2))"),
    "a power": endpoint("Recoverability(Immediate(2 ** 3))"),
    "a long product": endpoint("Recoverability(Immediate(9" + " * 9" * 40 + "))"),
    "a variable by get": "import os\n" + endpoint("Recoverability(Immediate(os.environ.get('X', 8)))"),
    "a choice": endpoint("Recoverability(Immediate(8 if True else 9))"),
    "arguments of a dict": endpoint("Recoverability(Immediate(**{'max_retries': 8}))"),
    "an argument that is none": endpoint("Recoverability(Immediate(nonsense=8))"),
    "a value that is refused": endpoint("Recoverability(Immediate(5000))"),
    "a part of another kind": endpoint("Recoverability(Delayed(8))"),
    "a function's local name": f"{IMPORTS}def make():\n    many = 8\n    return SqsEndpoint(print, Recoverability(Immediate(many)))\nhandler = make()\n",
    "a class of one's own": endpoint("Recoverability(Immediate(8))", "class Immediate(int): pass\n"),
    "a function for a part": endpoint("Recoverability.from_environment(immediate=lambda it: it.replace(max_retries=8))"),
    "a deep expression": endpoint("Recoverability(Immediate(" + "1 + " * 300 + "1))"),
}  # fmt: skip
VARIABLES = {"RECOVERABLE_IMMEDIATE_RETRIES": "6", "SHOP_IMMEDIATE_RETRIES": "7", "PREFIX": "SHOP_"}
SHOP = changed(
    good(), {**FEW, **{f"Shop.Properties.Environment.Variables.{name}": value for name, value in VARIABLES.items()}}
)


def at(folder: Path, code: str) -> str:
    """Write the template with the function's code and another file of it."""
    path = written(folder, SHOP, code)
    (folder / "src" / "settings.py").write_text("MANY = 8\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("form", KNOWN)
def test_the_ladder_is_what_the_code_says(check: Check, tmp_path: Path, form: str) -> None:
    code, expected = KNOWN[form]

    assert ladder(check(at(tmp_path, code), "--json")) == expected


@pytest.mark.parametrize("form", COMPUTED)
def test_a_ladder_that_is_computed_is_not_checked(check: Check, tmp_path: Path, form: str) -> None:
    ran = check(at(tmp_path, COMPUTED[form]), "--json")

    assert (rules_found(ran), "max-receive-count" in not_checked(ran)) == ([], True)


def test_what_is_computed_is_named_by_file_and_line(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    at(tmp_path, endpoint("Recoverability(Immediate(int('8')))"))

    assert ladder(check("template.yaml", "--json")) == "src/app.py:5 is computed when it runs"


@pytest.mark.parametrize(
    ("name", "rules"), [("errors", []), ("faults", ["one-error-queue"]), ("erors", ["queue-names"])]
)
def test_the_error_queue_of_the_code_wins_over_the_environments(
    check: Check, tmp_path: Path, name: str, rules: list[str]
) -> None:
    code = endpoint(f"Recoverability.from_environment(failed=Failed('{name}', unrecoverable=(ValueError,)))")

    assert rules_found(check(written(tmp_path, good(), code), "--json")) == rules


def test_an_error_queue_that_nobody_names_is_called_error(check: Check, tmp_path: Path) -> None:
    silent = changed(good(), {"Shop.Properties.Environment": None})

    [(rule, text)] = found(check(written(tmp_path, silent, endpoint("Recoverability()")), "--json"))

    assert (rule, text.partition(", so ")[0]) == ("one-error-queue", "no error queue is set")


LADDERS = {
    "where it stands": ("Recoverability(Immediate(max_retries=9))", "\n", 6),
    "behind a product": ("Recoverability(Immediate(3 * 3))", "\n\n", 7),
    "behind a name": ("Recoverability(MANY)", "MANY = Immediate(max_retries=9)\n", 5),
}


@pytest.mark.parametrize("form", LADDERS)
def test_a_ladder_of_the_code_is_found_at_its_line_of_the_code(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    settings, before, line = LADDERS[form]
    monkeypatch.chdir(tmp_path)
    written(tmp_path, good(), endpoint(settings, before))

    [finding] = [each for each in reported(check("template.yaml", "--json")) if "wrong" in each]

    assert (finding["rule"], finding["file"], finding["line"]) == ("max-receive-count", "src/app.py", line)


def test_an_error_queue_that_is_computed_is_not_checked(check: Check, tmp_path: Path) -> None:
    silent = changed(good(), {"Shop.Properties.Environment": None})
    ran = check(written(tmp_path, silent, endpoint("Recoverability(failed=Failed(name()))")), "--json")

    assert (rules_found(ran), "one-error-queue" in not_checked(ran)) == ([], True)


def test_an_endpoint_that_is_computed_names_no_error_queue(check: Check, tmp_path: Path) -> None:
    silent = changed(good(), {"Shop.Properties.Environment": None})
    ran = check(written(tmp_path, silent, f"{IMPORTS}handler = make()\n"), "--json")

    assert (rules_found(ran), "one-error-queue" in not_checked(ran)) == ([], True)


def test_code_that_deletes_completed_messages_itself_needs_no_partial_responses(check: Check, tmp_path: Path) -> None:
    plain = changed(good(), {"Shop.Properties.Events.Orders.Properties.FunctionResponseTypes": None})
    code = f"{IMPORTS}handler = SqsEndpoint(print, Recoverability.from_environment(), partial_responses=False)\n"

    assert rules_found(check(written(tmp_path, plain, code), "--json")) == []


SILENT = changed(good(), {"Shop.Properties.Environment": None})
PLAIN = "def handler(event, context): pass\n"
USES: dict[str, tuple[str, dict[str, Any], str]] = {
    "nothing of it": (PLAIN, {}, "left alone"),
    "an import": (f"import recoverable.aws\n{PLAIN}", {}, "checked"),
    "an import in a function": ("def handler(event, context):\n    from recoverable import Message\n", {}, "checked"),
    "an import by a text": (f"import importlib\nimportlib.import_module('recoverable.aws')\n{PLAIN}", {}, "checked"),
    "a package with a similar name": (f"import recoverable_things\n{PLAIN}", {}, "left alone"),
    "a relative import of that name": (f"from .recoverable import x\n{PLAIN}", {}, "left alone"),
    "newer syntax": ("x = =\n", {}, "not checked"),
    "a null": ("x = 1\0", {}, "not checked"),
    "too deep": (f"x = {'(' * 400}1{')' * 400}\n", {}, "not checked"),
    "a word in the template": ("x = =\n", {"Uses": False}, "left alone"),
    "another word": (PLAIN, {"Uses": True}, "checked"),
    "a word that is none": (PLAIN, {"Uses": "perhaps"}, "left alone"),
}


def outcome(ran: Ran) -> str:
    """Return what became of the function."""
    if "left alone" in ran.out:
        return "left alone"
    return "not checked" if ran.out.startswith("not checked: Shop: ") else "checked"


@pytest.mark.parametrize("form", USES)
def test_a_function_is_checked_if_its_code_uses_this_package(check: Check, tmp_path: Path, form: str) -> None:
    code, said, expected = USES[form]
    template = changed(SILENT, {"Shop.Metadata": {"Recoverable": said}})

    assert outcome(check(written(tmp_path, template, code))) == expected


def test_more_files_than_are_read_are_not_taken_for_nothing(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, SILENT, PLAIN)
    for number in range(200):
        (tmp_path / "src" / f"z{number}.py").write_text("", encoding="utf-8")

    assert outcome(check(path)) == "not checked"


def test_a_file_that_is_too_large_is_not_taken_for_nothing(check: Check, tmp_path: Path) -> None:
    assert outcome(check(written(tmp_path, SILENT, "#" * 1_000_001))) == "not checked"


def test_a_virtual_environment_is_no_code_of_the_function(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, SILENT, PLAIN)
    (tmp_path / "src" / "env").mkdir()
    (tmp_path / "src" / "env" / "pyvenv.cfg").touch()
    (tmp_path / "src" / "env" / "x.py").write_text("import recoverable", encoding="utf-8")

    assert outcome(check(path)) == "left alone"


@pytest.mark.parametrize(("code", "expected"), [(PLAIN, "left alone"), (CODE, "checked")])
def test_a_zip_file_is_read(check: Check, tmp_path: Path, code: str, expected: str) -> None:
    path = written(tmp_path, changed(SILENT, {"Shop.Properties.CodeUri": "code.zip"}), "")
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("app.py", code)

    assert outcome(check(path)) == expected


def test_a_zip_file_that_is_damaged_is_not_read(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, changed(SILENT, {"Shop.Properties.CodeUri": "code.zip"}), "")
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        archive.writestr("app.py", CODE)
    (tmp_path / "code.zip").write_bytes((tmp_path / "code.zip").read_bytes().replace(b"SqsEndpoint", b"sqsendpoint"))

    assert outcome(check(path)) == "not checked"


def test_an_import_is_followed_through_five_files_and_no_further(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, SHOP, endpoint("Recoverability(Immediate(MANY))", "from m1 import MANY\n"))
    for number in range(1, 7):
        (tmp_path / "src" / f"m{number}.py").write_text(f"from m{number + 1} import MANY\n", encoding="utf-8")
    (tmp_path / "src" / "m5.py").write_text("MANY = 8\n", encoding="utf-8")
    near = ladder(check(path, "--json"))
    (tmp_path / "src" / "m5.py").write_text("from m6 import MANY\n", encoding="utf-8")
    (tmp_path / "src" / "m6.py").write_text("MANY = 8\n", encoding="utf-8")

    assert (near, ladder(check(path, "--json"))[1:] != (8,)) == ((8, 3), True)
    assert "max-receive-count" in not_checked(check(path, "--json"))


def test_nothing_of_the_code_is_run(check: Check, tmp_path: Path) -> None:
    code = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n{CODE}"

    check(written(tmp_path, good(), code))

    assert not (tmp_path / "ran").exists()
