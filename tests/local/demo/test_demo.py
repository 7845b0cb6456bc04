"""Test the whole demo on either cloud, as `make demo` runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deadlines import DEADLINE
from recoverable_local.functions_host import MINIMAL_HOST_JSON
from recoverable_operate._cli import main


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_every_order_ends_where_it_must(cloud: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["demo", cloud])

    said = capsys.readouterr().out
    assert (status, said.splitlines()[-1]) == (0, "1 message sent back from the error queue, and placed.")
    assert "8 orders sent, 4 placed, 4 in the error queue, none lost." in said.splitlines()
    assert " messages, of the 4 placed orders; failed attempts sent none." in said
    assert any(line.startswith("Counters of this run: ImmediateRetries ") for line in said.splitlines())
    assert ("2 orders waited in the table" in said) == (cloud == "aws")


@pytest.mark.parametrize(
    ("cloud", "complaint"),
    [
        (
            "aws",
            "There is no template 'template.yaml'; give its path with --template. The example shop is in the project's repository.",
        ),
        (
            "azure",
            "There is no {folder}/function_app.py; give the folder of an app of the Python v2 programming model\n"
            "The example shop is in the project's repository; give the folder of that with --folder.",
        ),
    ],
)
def test_without_the_example_shop_it_says_where_that_is(
    cloud: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    status = main(["demo", cloud])

    told = f"recoverable demo {cloud}: {complaint.format(folder=tmp_path.resolve())}\n"
    assert (status, capsys.readouterr().err) == (2, told)


@pytest.mark.parametrize(
    ("cloud", "missing", "extra"), [("aws", "boto3", "local"), ("azure", "azure.servicebus", "local-azure")]
)
def test_it_says_what_is_not_installed(cloud: str, missing: str, extra: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from recoverable_operate._cli import main; sys.exit(main(['demo', {cloud!r}]))"

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE, check=False)

    told = f"`demo {cloud}` needs {missing}: pip install 'recoverable[{extra}]'\n"
    assert (ran.returncode, ran.stderr) == (2, told)


READS_ANOTHER_QUEUE = """
import azure.functions as func
from recoverable.azure import ServiceBusEndpoint

app = func.FunctionApp()
endpoint = ServiceBusEndpoint(print, queue="invoices", connection="ServiceBus", name="invoices")
app.register_functions(endpoint.blueprint())
"""


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_an_app_that_reads_no_orders_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "host.json").write_text(MINIMAL_HOST_JSON)
    (tmp_path / "function_app.py").write_text(READS_ANOTHER_QUEUE)

    status = main(["demo", "azure", "--folder", str(tmp_path)])

    said = capsys.readouterr().err.splitlines()[0]
    assert (status, said) == (
        2,
        f"recoverable demo azure: No function in {tmp_path.resolve()} reads the queue 'orders'.",
    )
