"""What the three distributions hold, and that each installs into an environment where there is nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from infra.commands import bare_python, run
from infra.sam_template import ROOT
from sources import RUNTIME_FOLDERS

pytestmark = pytest.mark.xdist_group("wheels")

FOLDERS = {
    "recoverable": RUNTIME_FOLDERS | {""},
    "recoverable_operate": {"", "_check", "_commands", "errors", "migration", "rules", "templates"},
    "recoverable_local": {"", "demo", "functions_host", "lambda_host", "service_bus", "testing"},
}
VERBS = {
    "recoverable_operate": {
        f"errors.{verb}" for verb in ("export", "groups", "import", "list", "purge", "retry", "show")
    }
    | {"check", "timeouts"},
    "recoverable_local": {"demo.aws", "demo.azure", "local.aws", "local.azure", "local.service-bus"},
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the wheels, and return them by the package that they hold."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "infra" / "operate", ROOT / "infra" / "local"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=project, check=True, capture_output=True, timeout=120)
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
    archive = zipfile.ZipFile(wheels[package])
    [name] = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    _, _, commands = archive.read(name).decode().partition("[recoverable.commands]\n")

    lines = commands.partition("\n\n")[0].splitlines()
    assert {line.partition(" = ")[0] for line in lines} == VERBS[package]


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install all wheels, and nothing else, into a folder."""
    folder = tmp_path_factory.mktemp("installed")
    offline = ["--no-index", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "--quiet"]
    paths = [str(wheel) for wheel in wheels.values()]
    run(sys.executable, "-m", "pip", "install", *offline, "--target", str(folder), *paths, environment=dict(os.environ))
    return folder


def test_the_test_kit_needs_nothing_else(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(installed)!r})\n"
        "from recoverable.aws import SqsEndpoint\n"
        "from recoverable_local.testing import SqsWorld\n"
        "world = SqsWorld()\n"
        "world.serve('orders', SqsEndpoint(lambda message: None))\n"
        "world.send('orders', {'id': 1})\n"
        "world.run()\n"
        "print(len(world.queue('orders')))\n"
    )

    assert bare_python(str(program)).strip() == "0"


def test_the_command_says_what_to_install_for_a_verb_that_is_missing(wheels: dict[str, Path], tmp_path: Path) -> None:
    zipfile.ZipFile(wheels["recoverable"]).extractall(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from recoverable._cli import main\n"
        "sys.stderr = sys.stdout\n"
        "print(main(['local', 'aws']))\n"
    )

    said = bare_python(str(program)).splitlines()

    assert said == ["`local aws` is not installed: pip install 'recoverable[local]'", "2"]
