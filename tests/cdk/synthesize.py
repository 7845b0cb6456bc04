"""Synthesize the stacks of these tests into a folder; runs where aws-cdk-lib is installed, see `make cdk`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from aws_cdk import App, Duration, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns

from recoverable_cdk import RecoverableQueue

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOP = Path(__file__).with_name("shop")


def function(stack: Stack) -> lambda_.Function:
    return lambda_.Function(
        stack,
        "Orders",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="app.handler",
        code=lambda_.Code.from_asset(str(SHOP), exclude=["__pycache__"]),
        timeout=Duration.seconds(10),
    )


def stack(app: App, name: str, **settings: Any) -> Stack:
    made = Stack(app, name)
    RecoverableQueue(made, "OrdersQueue", function=function(made), **settings)
    return made


def main(into: str) -> None:
    with_paths = {"aws:cdk:enable-asset-metadata": True}  # as the `cdk` command has it
    app = App(outdir=into, analytics_reporting=False, context=with_paths)
    stack(app, "Standard")
    stack(app, "Fifo", fifo=True, queue_name="orders.fifo", immediate_retries=1, delayed_retries=1)
    everything = Stack(app, "Everything")
    RecoverableQueue(
        everything,
        "OrdersQueue",
        function=function(everything),
        queue_name="orders",
        immediate_retries=60,
        delayed_retries=2,
        batch_size=100,
        batch_window=Duration.seconds(5),
        max_concurrency=7,
        encryption_key=kms.Key(everything, "Key"),
        alarm_topic=sns.Topic(everything, "OnCall"),
    )
    app.synth()
    shutil.copy(synthesize_page(), into)


def synthesize_page() -> Path:
    """Run the code of docs/deploy/aws.md in a folder with its handler, and return the template that it makes."""
    files = dict(FILE.findall((ROOT / "docs" / "deploy/aws.md").read_text(encoding="utf-8")))
    folder = Path(tempfile.mkdtemp())
    (folder / "src").mkdir()
    (folder / "src" / "app.py").write_text(files["src/app.py"], encoding="utf-8")
    (folder / "stack.py").write_text(files["stack.py"], encoding="utf-8")
    variables = {**os.environ, "CDK_OUTDIR": str(folder / "cdk.out")}  # as the `cdk` command sets it
    subprocess.run([sys.executable, "stack.py"], cwd=folder, env=variables, check=True)
    return folder / "cdk.out" / "Shop.template.json"


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
