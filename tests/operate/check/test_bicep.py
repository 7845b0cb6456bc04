"""A Bicep file is compiled by the compiler that is here, and a finding stands at the line of the Bicep file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from operate.check.arm_templates import ALL_DONE, GOOD, OF_QUEUE, changed, document, written
from operate.check.conftest import Check, reported

BICEP = """
param immediateRetries int = 5

resource errorQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  name: 'orders-error'
}

resource ordersQueue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = {
  name: 'orders'
}
"""
LINE = 8
INSTALLED = {
    "on PATH": ("PATH", "bicep"),
    "where az puts it": ("AZURE_CONFIG_DIR", "bin/bicep"),
    "in the home of az": ("HOME", ".azure/bin/bicep"),
    "where azd is told to find it": ("AZD_BICEP_TOOL_PATH", ""),
    "where azd puts it": ("AZD_CONFIG_DIR", "bin/bicep"),
    "in the home of azd": ("HOME", ".azd/bin/bicep"),
}
"""The variable that says where the compiler is, and the way from there."""


def compiler(path: Path, prints: str = json.dumps(document(GOOD)), complains: str = "", status: int = 0) -> Path:
    """Write a program that stands for the compiler."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "printed").write_text(prints, encoding="utf-8")
    (path.parent / "said").write_text(complains, encoding="utf-8")
    script = f'#!/bin/sh\necho "$@" > {path.parent}/asked\nIFS= read -r x < {path.parent}/printed; printf %s "$x"\n'
    script += f'while IFS= read -r x; do echo "$x" >&2; done < {path.parent}/said\nexit {status}\n'
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bicep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a Bicep file beside an app, on a machine without a compiler, and return its path."""
    written(tmp_path)
    for name in ("AZURE_CONFIG_DIR", "AZD_BICEP_TOOL_PATH", "AZD_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "infra" / "shop.bicep"
    path.write_text(BICEP, encoding="utf-8")
    return str(path)


def test_a_compiler_that_is_named_is_asked(check: Check, tmp_path: Path, bicep: str) -> None:
    named = compiler(tmp_path / "tools" / "bicep-1")

    assert check(bicep, "--bicep", str(named)) == (0, ALL_DONE, "")
    assert (tmp_path / "tools" / "asked").read_text() == f"build {bicep} --stdout\n"


@pytest.mark.parametrize("form", INSTALLED)
def test_a_compiler_is_found_where_it_is_installed(
    check: Check, tmp_path: Path, bicep: str, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    variable, way = INSTALLED[form]
    path = compiler(tmp_path / "tools" / (way or "bicep"))
    monkeypatch.setenv(variable, str(path.parent if variable == "PATH" else tmp_path / "tools" if way else path))

    assert check(bicep) == (0, ALL_DONE, "")


def test_without_a_compiler_it_is_said_how_to_get_one_and_nothing_is_guessed(check: Check, bicep: str) -> None:
    Path(bicep).with_suffix(".json").write_text(json.dumps(document(GOOD)), encoding="utf-8")

    ran = check(bicep)

    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "`az bicep install`" in ran.err
    assert "`bicep build shop.bicep`" in ran.err


def test_what_the_compiler_refuses_is_shown_as_it_says_it(check: Check, tmp_path: Path, bicep: str) -> None:
    error = f'{bicep}(12,5) : Error BCP057: The name "x" does not exist in the current context.'
    refuses = compiler(tmp_path / "tools" / "bicep", prints="", complains=error + "\n", status=1)

    ran = check(bicep, "--bicep", str(refuses))

    assert (ran.status, ran.out, ran.err.splitlines()[1:]) == (2, "", [error])


def test_a_warning_of_the_compiler_is_none_of_ours(check: Check, tmp_path: Path, bicep: str) -> None:
    warns = compiler(tmp_path / "tools" / "bicep", complains="shop.bicep(1,1) : Warning BCP035: …\n")

    assert check(bicep, "--bicep", str(warns)) == (0, ALL_DONE, "")


def test_a_file_of_parameters_gives_the_template_and_its_values(check: Check, tmp_path: Path, bicep: str) -> None:
    few = changed({f"{OF_QUEUE}.maxDeliveryCount": 11})
    parameters = {"parameters": {"immediateRetries": {"value": 6}}}
    both = {"templateJson": json.dumps(document(few)), "parametersJson": json.dumps(parameters)}
    file = Path(bicep).with_suffix(".bicepparam")
    file.write_text("using './shop.bicep'\nparam immediateRetries = 6\n", encoding="utf-8")

    ran = check(str(file), "--bicep", str(compiler(tmp_path / "bicep", json.dumps(both))), "--json")

    [finding] = [each for each in reported(ran) if "wrong" in each]
    assert (finding["rule"], finding["file"], finding["line"]) == ("max-delivery-count", bicep, LINE)
    assert (tmp_path / "asked").read_text() == f"build-params {file} --stdout\n"


@pytest.mark.parametrize("form", ["by symbolic name", "by type and name", "in a module"])
def test_a_finding_is_at_the_line_of_the_bicep_file(check: Check, tmp_path: Path, bicep: str, form: str) -> None:
    few = changed({f"{OF_QUEUE}.maxDeliveryCount": 1})
    place = Path(bicep)
    if form == "by type and name":
        few = {f"other-{name}": each for name, each in few.items()}
        few["identity"] = GOOD["identity"]
        few["bus"] = GOOD["bus"]
    if form == "in a module":
        place.with_name("more.bicep").write_text(BICEP, encoding="utf-8")
        place.write_text("module more './more.bicep' = {\n}\n", encoding="utf-8")
        place = place.with_name("more.bicep")

    ran = check(bicep, "--bicep", str(compiler(tmp_path / "bicep", json.dumps(document(few)))), "--json")

    [finding] = [each for each in reported(ran) if "wrong" in each]
    assert (finding["rule"], finding["file"], finding["line"]) == ("max-delivery-count", str(place), LINE)
