"""`recoverable errors` on a machine that has the packages of one cloud alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from deadlines import DEADLINE

AZURE = ("azure", "azure.identity", "azure.servicebus")
CHECK = ("yaml",)
VERBS = ("export", "groups", "import", "list", "purge", "retry", "show")


def run_without(missing: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that cannot import these modules."""
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({missing!r})); "
        f"from recoverable_operate._cli import main; sys.exit(main({list(arguments)!r}))"
    )
    environment = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_EC2_METADATA_DISABLED": "true"}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE, check=False, env=environment
    )


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_needs_no_package_of_azure_and_none_of_the_check(verb: str) -> None:
    ran = run_without((*AZURE, *CHECK), "errors", verb, "--help")

    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_queue_on_sqs_is_reached_without_the_packages_of_azure() -> None:
    nowhere = ("--endpoint-url", "http://127.0.0.1:9", "--region", "eu-central-1")

    ran = run_without((*AZURE, *CHECK), "errors", "list", "--queue", "https://sqs.test/1/orders-error", *nowhere)

    assert (ran.returncode, "no answer about https://sqs.test" in ran.stderr) == (2, True)


def test_a_queue_on_service_bus_says_which_extra_is_missing() -> None:
    ran = run_without((*AZURE, *CHECK), "errors", "list", "--queue", "sb://shop.servicebus.windows.net/orders-error")

    assert (ran.returncode, "pip install 'recoverable-operate[azure]'" in ran.stderr) == (2, True)


def test_a_check_of_a_template_says_which_extra_is_missing(tmp_path: object) -> None:
    file = f"{tmp_path}/template.yaml"
    with open(file, "w", encoding="utf-8") as template:
        template.write("{}")

    ran = run_without(CHECK, "check", file)

    assert (ran.returncode, "pip install 'recoverable-operate[check]'" in ran.stderr) == (2, True)
