"""Count the threads that Microsoft's Python worker has for plain functions."""

from __future__ import annotations

from collections.abc import Mapping

from recoverable._service_bus.app_settings import find_setting

THREADS = "PYTHON_THREADPOOL_THREAD_COUNT"


def worker_threads(settings: Mapping[str, str], cores: int) -> int:
    """Return how many threads the worker has (azure-functions-runtime, `threadpool.py`; Python, `ThreadPoolExecutor`)."""
    said = find_setting(THREADS, settings) or ""
    return int(said) if said.isdecimal() and int(said) >= 1 else min(32, cores + 4)
