"""`make soak`: many messages while hosts are killed and connections drop, on one cloud after the other; exit status 1 if one is lost."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from soak import on_aws, on_azure
from soak.deeds import plan
from soak.running import Begin, soak

CLOUDS: dict[str, Begin] = {"aws": on_aws.begin, "azure": on_azure.begin}
EVERY = 60
"""Runs of the handler between two pranks, on average."""


def main() -> int:
    """Soak, and tell what was found."""
    parser = ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--cloud", choices=list(CLOUDS), help="both when not given")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=30, help="for each cloud")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    lost = 0
    for name in [arguments.cloud] if arguments.cloud else CLOUDS:
        tell(f"\n{name}, seed {arguments.seed}")
        with TemporaryDirectory() as folder:
            found = soak(
                CLOUDS[name],
                Path(folder) / "ledger",
                deeds=plan(arguments.messages, arguments.seed),
                seed=arguments.seed,
                every=EVERY,
                patience=arguments.minutes * 60,
            )
        tell(found.table())
        lost += len(found.lost)
    return 1 if lost else 0


def tell(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
