"""A plugin of the tests: in which order they run, and which of them pytest-xdist gives to one worker."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

ALONE = "slow"
"""The group of slow tests without one: any worker takes any of them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run have an order of its own."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="mix the files, and the tests of each")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put last what takes minutes, or mix the tests as the seed has it, before pytest puts those together that share a fixture with parameters."""
    for item in items:
        if item.get_closest_marker("slow") and not groups(item):
            item.add_marker(pytest.mark.xdist_group(ALONE))
    if config.option.shuffle is not None:
        draw, files = Random(config.option.shuffle), defaultdict(list)
        for item in items:
            files[item.path].append(item)
        mixed = [draw.sample(file, len(file)) for file in draw.sample(list(files.values()), len(files))]
        items[:] = [item for file in mixed for item in file]
    else:
        slow = Counter(groups(item) for item in items if item.get_closest_marker("slow"))
        slow[ALONE,] = 0  # a group is as long as its tests together, so it begins before them
        items.sort(key=lambda item: (groups(item) in slow, -slow[groups(item)]))


def groups(item: pytest.Item) -> tuple[str, ...]:
    """Return the groups that a test is in."""
    return tuple(sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")}))


class ByFile(LoadGroupScheduling):  # type: ignore[misc]  # it ships no types
    """Gives a worker whole files, which set up once what they share; of the slow tests one, or a group."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return nodeid if scope == ALONE else scope.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Let the order stand in which the tests were put."""
    config.option.loadscopereorder = False
    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None
