"""`make soak`: many messages while hosts are killed and connections drop, on one cloud after the other; exit status 1 if one is lost."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory

from soak import on_aws, on_azure
from soak.deeds import QUICK_SHARES, SHARES, plan
from soak.running import Begin, soak
from soak.tally import Tally

CLOUDS: dict[str, Begin] = {"aws": on_aws.begin, "azure": on_azure.begin}


def main() -> int:
    """Soak, and print what was found."""
    arguments = read_arguments()
    logging.disable(logging.CRITICAL)
    lost = 0
    for name in [arguments.cloud] if arguments.cloud else CLOUDS:
        print_now(f"\n{name}, seed {arguments.seed}")
        found = soaked(CLOUDS[name], arguments)
        print_now(found.table())
        lost += len(found.lost)
    return 1 if lost else 0


def read_arguments() -> Namespace:
    """Return what the command line asks for."""
    parser = ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--cloud", choices=list(CLOUDS), help="both when not given")
    parser.add_argument("--quick", action="store_true", help="few messages, many of which fail: as in `make test`")
    parser.add_argument("--messages", type=int, help="10,000 when not given; 80 for a quick one")
    parser.add_argument("--minutes", type=float, default=30, help="for each cloud")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    return parser.parse_args()


def soaked(begin: Begin, arguments: Namespace) -> Tally:
    """Soak one cloud."""
    shares, every, usual = (QUICK_SHARES, 30, 80) if arguments.quick else (SHARES, 60, 10_000)
    with TemporaryDirectory() as folder:
        return soak(
            begin,
            Path(folder) / "ledger",
            deeds=plan(arguments.messages or usual, arguments.seed, shares),
            seed=arguments.seed,
            every=every,
            timeout=arguments.minutes * 60,
        )


def print_now(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
