"""What pytest learns from `recoverable`: the fixture `sqs_world`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .aws.world import SqsWorld


@pytest.fixture
def sqs_world() -> SqsWorld:
    """SQS and Lambda in virtual time, empty; see `recoverable.testing.SqsWorld`."""
    from .aws.world import SqsWorld  # noqa: PLC0415  # every pytest run imports this file, few need the world

    return SqsWorld()
