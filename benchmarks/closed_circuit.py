"""Prints the microseconds that a rate limit adds to a good record at a batch size: `closed_circuit.py 10`."""

from __future__ import annotations

import sys
import timeit

from subjects import SUBJECTS, Context, event

ROUNDS = 60


def added(size: int) -> float:
    """Return the difference of the best rounds, in one process and in turn: processes differ by more than the figure itself."""
    batch, context = event(size), Context()
    handlers = {name: SUBJECTS[name]() for name in ("ours", "limited")}
    repeats, best = max(2_000 // size, 1), dict.fromkeys(handlers, float("inf"))
    for _ in range(ROUNDS):
        for name, handler in handlers.items():
            took = timeit.timeit(lambda handler=handler: handler(batch, context), number=repeats)  # type: ignore[misc]  # bound now
            best[name] = min(best[name], took / repeats / size * 1e6)
    return best["limited"] - best["ours"]


if __name__ == "__main__":
    print(added(int(sys.argv[1])))  # noqa: T201  # read by bench.py
