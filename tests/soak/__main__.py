"""`make soak`: many messages while hosts are killed and connections drop, on one cloud after the other; exit status 1 if one is lost."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from soak import on_aws, on_azure
from soak.deeds import QUICK_SHARES, SHARES, plan
from soak.running import Begin, soak

CLOUDS: dict[str, Begin] = {"aws": on_aws.begin, "azure": on_azure.begin}
EVERY, QUICK_EVERY = 60, 30
"""Runs of the handler between two pranks, on average."""


def main() -> int:
    """Soak, and tell what was found."""
    parser = ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--cloud", choices=list(CLOUDS), help="both when not given")
    parser.add_argument(
        "--quick", action="store_true", help="few messages, many of which fail: as in `make test`"
    )
    parser.add_argument("--messages", type=int, help="10,000 when not given; 80 for a quick one")
    parser.add_argument("--minutes", type=float, default=30, help="for each cloud")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    messages = arguments.messages or (80 if arguments.quick else 10_000)
    deeds = plan(messages, arguments.seed, QUICK_SHARES if arguments.quick else SHARES)
    lost = 0
    for name in [arguments.cloud] if arguments.cloud else CLOUDS:
        tell(f"\n{name}, seed {arguments.seed}")
        with TemporaryDirectory() as folder:
            found = soak(
                CLOUDS[name],
                Path(folder) / "ledger",
                deeds=deeds,
                seed=arguments.seed,
                every=QUICK_EVERY if arguments.quick else EVERY,
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
