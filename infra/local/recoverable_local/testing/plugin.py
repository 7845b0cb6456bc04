"""Give pytest the fixtures `sqs_world` and `service_bus_world`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from recoverable_local.testing.aws.world import SqsWorld
    from recoverable_local.testing.azure.world import ServiceBusWorld


@pytest.fixture
def sqs_world() -> SqsWorld:
    """Return an empty world of SQS and Lambda in virtual time; see `recoverable_local.testing.SqsWorld`."""
    from recoverable_local.testing.aws.world import SqsWorld  # every pytest run imports this file, few need the world

    return SqsWorld()


@pytest.fixture
def service_bus_world() -> ServiceBusWorld:
    """Return an empty world of Service Bus and Functions in virtual time; see `recoverable_local.testing.ServiceBusWorld`."""
    from recoverable_local.testing import ServiceBusWorld  # as above; this way it says what to install

    return ServiceBusWorld()
