"""What `sam build` makes of template.yaml: a layer with the package and nothing else, which runs where nothing is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.commands import bare_python, sam
from infra.sam_template import ROOT
from servers.ministack import REGION

pytestmark = pytest.mark.xdist_group("sam build")


def files(folder: Path) -> set[str]:
    """Return the files below a folder, as paths from there, without bytecode."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def an_event() -> str:
    """Return one good order as Lambda delivers it, made by SAM's own sample."""
    event = json.loads(sam("local", "generate-event", "sqs", "receive-message", "--region", REGION))
    event["Records"][0]["body"] = json.dumps({"id": "1001", "card": "good"})
    return json.dumps(event)


def test_the_layer_holds_the_package_where_lambda_looks_and_nothing_else(built: Path) -> None:
    package = {f"python/recoverable/{name}" for name in files(ROOT / "adapters" / "recoverable")}

    assert files(built / "RecoverableLayer") == package


def test_the_layer_of_the_stamp_holds_the_operators_package(built: Path) -> None:
    package = {
        f"python/recoverable_operate/{name}" for name in files(ROOT / "infra" / "operate" / "recoverable_operate")
    }

    assert package <= files(built / "OperateLayer")


def test_the_function_is_its_own_folder_and_nothing_else(built: Path) -> None:
    assert files(built / "OrdersFunction") == files(ROOT / "functions" / "aws")


def test_the_built_function_handles_an_order_on_a_bare_interpreter(built: Path) -> None:
    layer, function = str(built / "RecoverableLayer" / "python"), str(built / "OrdersFunction")
    script = str(Path(__file__).with_name("invoke_built.py"))

    said = json.loads(bare_python(script, layer, function, an_event()))

    assert said == {"answer": {"batchItemFailures": []}, "boto3 was at hand": False}
