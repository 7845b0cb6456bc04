"""A plugin of the tests: what hangs or dies ends the run with the test's name, and none finds an account."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Generator, MutableMapping
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key as stderr

from deadlines import LONGEST_TEST

OF_AN_ACCOUNT = ("AWS_", "AZURE_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
LOOPBACK = "127.0.0.1,localhost"


def leave_the_account_alone(environment: MutableMapping[str, str]) -> None:
    """Take away whatever names or opens an account of whoever runs the tests, and let no proxy take calls to loopback."""
    for name in [name for name in environment if name.startswith(OF_AN_ACCOUNT)]:
        del environment[name]
    environment["AWS_CONFIG_FILE"] = environment["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    if any(environment.get(name) or environment.get(name.lower()) for name in PROXIES):
        for name in ("NO_PROXY", "no_proxy"):
            environment[name] = ",".join(filter(None, [environment.get(name), LOOPBACK]))


leave_the_account_alone(os.environ)  # before a test is collected, for clients are made at import too


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process of a test that hangs and show where: not by SIGALRM, which is the package's own."""
    watch(item)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Watch on after a failure, at which pytest stops it: what is torn down then may hang."""
    if isinstance(node, pytest.Item) and not node.config.option.usepdb:
        watch(node)


def watch(item: pytest.Item) -> None:
    """Show what each thread does and end the process, unless the test ends before."""
    faulthandler.dump_traceback_later(LONGEST_TEST, exit=True, file=item.config.stash[stderr])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """End the run when a worker died: pytest-xdist starts another, which may wait for ever for the rest of a group."""
    if error:
        session: Any = node.config.pluginmanager.getplugin("dsession")
        crashed = session.sched.remove_node(node)
        if crashed:
            session.handle_crashitem(crashed, node)
        pytest.exit(f"the worker {node.gateway.id} died: {error}. It ran {crashed or 'no test'}", returncode=1)
