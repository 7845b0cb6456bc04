"""A short night drill on each local host."""

from __future__ import annotations

import pytest

from soak.drill import drill_on_aws, drill_on_azure

pytestmark = pytest.mark.slow

MESSAGES = 40


@pytest.mark.xdist_group("soak")
def test_on_aws_each_message_that_failed_is_sent_back_and_processed(capfd: pytest.CaptureFixture[str]) -> None:
    assert drill_on_aws(MESSAGES) == 0
    assert f"{MESSAGES} messages failed and were sent back; 0 lost" in capfd.readouterr().out


@pytest.mark.xdist_group("functions_host")
def test_on_azure_each_message_that_failed_is_sent_back_and_processed(capfd: pytest.CaptureFixture[str]) -> None:
    assert drill_on_azure(MESSAGES) == 0
    assert f"{MESSAGES} messages failed and were sent back; 0 lost" in capfd.readouterr().out
