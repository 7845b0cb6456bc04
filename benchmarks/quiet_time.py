"""Measure how long the first failing message after a quiet time takes on Service Bus, with the real SDK on the local namespace.

    PYTHONPATH=tests python benchmarks/quiet_time.py

There is no network between, so connecting is faster here than in Azure.
"""

from __future__ import annotations

import logging
import sys

from azure.quiet_time import QUIET, first_failure


def main() -> None:
    """Print a line for each quiet time and each way to connect."""
    logging.disable(logging.CRITICAL)
    for identity in (False, True):
        for quiet in QUIET:
            cost = first_failure(quiet, identity=identity)
            way = "identity" if identity else "connection string"
            sys.stdout.write(
                f"{way:18} {quiet.total_seconds() / 60:3.0f} min: {cost.runs} run, {cost.copies} copy,"
                f" {cost.connections} connection, {cost.seconds:.2f} s\n"
            )


if __name__ == "__main__":
    main()
