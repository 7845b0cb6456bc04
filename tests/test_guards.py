"""What the plugins `guards` and `order` do with tests: each is a run of pytest on a small file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import steady
from deadlines import DEADLINE

TESTS = Path(__file__).parent


def run(folder: Path, tests: str, *options: str) -> tuple[int, str]:
    """Run pytest with the plugins on a file of these tests, and return its exit status and output."""
    write(folder, tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def write(folder: Path, tests: str) -> None:
    """Write the file, and what lets pytest find the plugins."""
    (folder / "test_it.py").write_text(f"import os, signal, subprocess, threading, time\nimport pytest\n{tests}")
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\npytest_plugins = ['guards', 'order']"
    )
    (folder / "pytest.ini").write_text("[pytest]")


KILLED = """
@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(9))
def test_of_a_group(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.parametrize("number", range(9))
def test_of_the_other_worker(number):
    time.sleep(600)
"""


def test_a_worker_that_is_killed_ends_the_run_with_its_name_and_the_test(tmp_path: Path) -> None:
    status, said = run(tmp_path, KILLED, "-n", "2", "--dist", "loadgroup")

    assert (status, "FAILED test_it.py::test_of_a_group[3]@one" in said) == (1, True)
    assert re.search(
        r"the worker gw\d died: Not properly terminated\. It ran test_it\.py::test_of_a_group\[3\]@one", said
    )


HANGS = """
import guards
guards.LONGEST_TEST = 1

@pytest.fixture
def hangs_when_it_is_torn_down():
    yield
    threading.Event().wait()

def test_that_fails(hangs_when_it_is_torn_down):
    assert False
"""


def test_a_test_that_hangs_even_after_a_failure_ends_the_run_with_the_place_where_it_hangs(tmp_path: Path) -> None:
    status, said = run(tmp_path, HANGS)

    assert (status, "in hangs_when_it_is_torn_down" in said) == (1, True)


ACCOUNT = """
def test_nobody():
    import boto3
    assert boto3.Session().get_credentials() is None
    assert not [name for name in os.environ if name.startswith("AZURE_")]
    assert os.environ["NO_PROXY"] == "intranet,127.0.0.1,localhost"
"""


def test_no_test_finds_the_account_of_who_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[default]\naws_access_key_id = AKIA\naws_secret_access_key = file")
    someone = {
        "HOME": str(tmp_path),
        "AWS_ACCESS_KEY_ID": "AKIA",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_PROFILE": "production",
        "AZURE_CLIENT_SECRET": "secret",
        "HTTPS_PROXY": "http://proxy.invalid:3128",
        "NO_PROXY": "intranet",
    }
    for name, value in someone.items():
        monkeypatch.setenv(name, value)

    status, said = run(tmp_path, ACCOUNT)

    assert (status, "secret" in said) == (0, False), said


ORDER = """
ran = []

def test_alone():
    assert not ran

@pytest.mark.parametrize("number", range(3))
def test_other(number):
    ran.append(number)
"""


def test_steady_names_what_depends_on_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, ORDER)
    monkeypatch.chdir(tmp_path)

    status = steady.main(["--times", "3", "--busy", "1", "test_it.py", "-n", "0"])

    assert (status, re.findall("^red .*", capsys.readouterr().out, re.MULTILINE)) == (
        1,
        ["red 1 of 3: test_it.py::test_alone (seed 3)"],
    )


MIXED = """
@pytest.mark.slow
def test_alone(): ...

@pytest.mark.slow
@pytest.mark.xdist_group("server")
def test_on_a_server(): ...

def test_quick(): ...

@pytest.mark.xdist_group("server")
def test_quick_on_a_server(): ...
"""


def test_quick_tests_run_first_then_groups_with_slow_ones(tmp_path: Path) -> None:
    _, said = run(tmp_path, MIXED, "--collect-only")

    assert re.findall("::test_(.*)", said) == ["quick", "on_a_server", "quick_on_a_server", "alone"]


SHARED = """
ran = []

@pytest.mark.parametrize("number", range(20))
def test_of_a_file(number):
    ran.append(number)
    assert ran == list(range(number + 1))
"""


def test_a_worker_is_given_whole_files(tmp_path: Path) -> None:
    status, said = run(tmp_path, SHARED, "-n", "2", "--dist", "loadgroup")

    assert status == 0, said


TOGETHER = """
@pytest.mark.slow
@pytest.mark.parametrize(("mine", "other"), [("a", "b"), ("b", "a")])
def test_while_the_other_runs(mine, other, request):
    (request.config.rootpath / mine).touch()
    while not (request.config.rootpath / other).exists():
        time.sleep(0.01)
"""


def test_slow_tests_of_a_file_run_beside_each_other(tmp_path: Path) -> None:
    status, said = run(tmp_path, TOGETHER, "-n", "2", "--dist", "loadgroup")

    assert status == 0, said
