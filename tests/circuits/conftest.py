"""The servers that shared circuits are tested on, and the queues of a trigger that is paused."""

from __future__ import annotations

from aws.conftest import error, orders
from azure.conftest import bus
from circuits.azure.azurite import azurite
from servers.fixtures import moto, new_queue, proxy, sqs

__all__ = ["azurite", "bus", "error", "moto", "new_queue", "orders", "proxy", "sqs"]
