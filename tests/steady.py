"""Run tests several times in different orders, and name those that were not green each time: `make steady`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", "4", "--dist", "loadgroup"]
BUSY = [sys.executable, "-c", "while True: pass"]
GREEN = 0


def red_tests(tests: list[str], seed: int) -> list[str]:
    """Run the tests in the order of a seed, and return those that are red; the run itself where none is and it ended badly."""
    with TemporaryDirectory() as folder:
        ended = subprocess.run([*PYTEST, "--shuffle", str(seed), "-o", f"cache_dir={folder}", *tests], check=False)
        failed = Path(folder, "v", "cache", "lastfailed")
        red: dict[str, bool] = json.loads(failed.read_text()) if failed.exists() else {}
    return list(red) or [f"the run, which ended with {ended.returncode}"] * (ended.returncode != GREEN)


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep so many processes busy beside what is run."""
    with ExitStack() as running:
        for _ in range(number):
            process = running.enter_context(subprocess.Popen(BUSY))
            running.callback(process.kill)
        yield


def main(arguments: list[str]) -> int:
    """Run the tests, and return 1 if one was red."""
    parser = argparse.ArgumentParser(prog="steady", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1, help="of the first order; the next has the next")
    parser.add_argument("tests", nargs="*", help="for pytest")
    chosen, options = parser.parse_known_args(arguments)
    seeds: dict[str, list[int]] = defaultdict(list)
    for seed in range(chosen.seed, chosen.seed + chosen.times):
        start = time.monotonic()
        with busy(chosen.busy):
            red = red_tests([*chosen.tests, *options], seed)
        for test in red:
            seeds[test].append(seed)
        print(f"seed {seed}: {len(red)} red, {(time.monotonic() - start) / 60:.1f} min", flush=True)  # noqa: T201  # what it is for
    for test, reds in sorted(seeds.items()):
        print(f"red {len(reds)} of {chosen.times}: {test} (seed {', '.join(map(str, reds))})")  # noqa: T201  # what it is for
    return 1 if seeds else GREEN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
