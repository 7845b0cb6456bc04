"""What the three distributions hold, and that they install and import where there is nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from deadlines import DEADLINE
from infra.commands import bare_python, run
from infra.sam_template import ROOT
from recoverable_operate import _cli
from sources import RUNTIME_FOLDERS

pytestmark = pytest.mark.xdist_group("wheels")

FOLDERS = {
    "recoverable": RUNTIME_FOLDERS | {""},
    "recoverable_operate": {"", "_check", "_commands", "_migration", "_stamp", "errors", "rules", "templates"},
    "recoverable_local": {"", "demo", "functions_host", "lambda_host", "service_bus", "testing"},
}
VERBS = {
    "recoverable_operate": {
        f"errors.{verb}" for verb in ("export", "groups", "import", "list", "purge", "retry", "show")
    }
    | {"check", "places.trust", "timeouts"},
    "recoverable_local": {"demo.aws", "demo.azure", "local.aws", "local.azure", "local.service-bus"},
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the wheels, and return them by the package that they hold."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "infra" / "operate", ROOT / "infra" / "local"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=DEADLINE)
    return {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}


@pytest.mark.parametrize("package", FOLDERS)
def test_a_wheel_holds_its_own_package_and_no_other_folder(wheels: dict[str, Path], package: str) -> None:
    names = [Path(name).parts for name in zipfile.ZipFile(wheels[package]).namelist()]

    inside = {parts[1] if len(parts) > 2 else "" for parts in names if parts[0] == package}
    beside = {parts[0] for parts in names} - {package}
    assert inside == FOLDERS[package]
    assert all(name.endswith(".dist-info") for name in beside), beside


@pytest.mark.parametrize("package", VERBS)
def test_a_wheel_registers_its_verbs(wheels: dict[str, Path], package: str) -> None:
    assert entry_points(wheels[package], "recoverable.commands") == VERBS[package]


def test_one_wheel_brings_the_command(wheels: dict[str, Path]) -> None:
    scripts = {package: entry_points(wheel, "console_scripts") for package, wheel in wheels.items()}

    assert scripts == {"recoverable": set(), "recoverable_operate": {"recoverable"}, "recoverable_local": set()}


def entry_points(wheel: Path, group: str) -> set[str]:
    """Return the names that a wheel registers in a group."""
    archive = zipfile.ZipFile(wheel)
    texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt")]
    registered = ConfigParser(delimiters="=")
    registered.read_string("".join(texts))
    return set(registered[group]) if group in registered else set()


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install all wheels, and nothing else, into a folder."""
    folder = tmp_path_factory.mktemp("installed")
    offline = ["--no-index", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
    paths = [str(wheel) for wheel in wheels.values()]
    run(sys.executable, "-m", "pip", "install", *offline, "--target", str(folder), *paths, environment=dict(os.environ))
    return folder


def only_with(folder: Path, tmp_path: Path, *lines: str) -> list[str]:
    """Run a program where nothing but a folder's packages is installed, and return the lines that it printed."""
    program = tmp_path / "program.py"
    program.write_text("\n".join(("import sys", f"sys.path.insert(0, {str(folder)!r})", *lines)) + "\n")
    return bare_python(str(program)).splitlines()


def test_the_test_kit_needs_nothing_else(installed: Path, tmp_path: Path) -> None:
    printed = only_with(
        installed,
        tmp_path,
        "from recoverable.aws import SqsEndpoint",
        "from recoverable_local.testing import SqsWorld",
        "world = SqsWorld()",
        "world.serve('orders', SqsEndpoint(lambda message: None))",
        "world.send('orders', {'id': 1})",
        "world.run()",
        "print(len(world.queue('orders')))",
    )

    assert printed == ["0"]


def test_what_an_operator_runs_imports_with_no_third_party(installed: Path, tmp_path: Path) -> None:
    printed = only_with(
        installed,
        tmp_path,
        "from recoverable_operate import errors, rules, templates",
        "foreign = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - {'__main__'}",
        "print(*sorted(foreign))",
    )

    assert printed == ["recoverable recoverable_operate"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["errors", "list"], "`errors list` needs rich: pip install 'recoverable[operate]'"),
        (["check"], "`check` needs rich: pip install 'recoverable[operate]'"),
    ],
)
def test_a_verb_says_what_to_install_for_a_package_that_is_missing(
    installed: Path, tmp_path: Path, command: list[str], said: str
) -> None:
    run_it = ("from recoverable_operate._cli import main", "sys.stderr = sys.stdout", f"print(main({command!r}))")

    assert only_with(installed, tmp_path, *run_it) == [said, "2"]


@pytest.mark.parametrize(
    ("command", "extra"),
    [("local aws", "local"), ("local azure", "local-azure"), ("demo aws", "local"), ("demo azure", "local-azure")],
)
def test_the_command_says_what_to_install_for_a_verb_that_is_missing(
    wheels: dict[str, Path], tmp_path: Path, command: str, extra: str
) -> None:
    for package in ("recoverable", "recoverable_operate"):
        zipfile.ZipFile(wheels[package]).extractall(tmp_path)
    run_it = (
        "from recoverable_operate._cli import main",
        "sys.stderr = sys.stdout",
        f"print(main({command.split()!r}))",
    )

    said = only_with(tmp_path, tmp_path, *run_it)

    assert said == [f"`{command}` is not installed: pip install 'recoverable[{extra}]'", "2"]


def test_an_extra_named_by_the_command_brings_the_distribution_of_its_verbs() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    brought = {
        verb: re.findall(r"recoverable-(\w+)", " ".join(extras[about.extra])) for verb, about in _cli.VERBS.items()
    }

    assert brought == {verb: ["local" if verb.startswith(("local", "demo")) else "operate"] for verb in _cli.VERBS}
