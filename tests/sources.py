"""The package's own source as syntax trees: what a file imports, and under which condition."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import recoverable
import recoverable_local
import recoverable_operate

PACKAGE = Path(recoverable.__file__).parent
LOCAL = Path(recoverable_local.__file__).parent
OPERATE = Path(recoverable_operate.__file__).parent
RUNTIME_FOLDERS = {
    "_flow", "_ladder", "_observe", "_outgoing", "_rate_limit", "_service_bus", "_sqs", "aws", "azure", "circuits",
    "extensions", "nservicebus", "powertools", "timeouts",
}  # fmt: skip
"""The subpackages of the runtime, and no others."""

PUBLIC = {
    "recoverable", "recoverable.aws", "recoverable.azure", "recoverable.circuits", "recoverable.extensions",
    "recoverable.headers",
    "recoverable.hosting", "recoverable.powertools", "recoverable.timeouts",
}  # fmt: skip
"""The modules of the runtime whose names anybody may import."""

DEAR = {"asyncio", "concurrent.futures", "dataclasses", "decimal", "email", "inspect", "traceback"}
"""Modules of the standard library that are dear at cold start: a message that succeeds imports none of them."""

GATEWAY_NAMES = {
    "recoverable_operate": {
        "_sqs": {
            "BatchOperation", "CHANGE_VISIBILITY", "DELETE", "Entry", "LONGEST_DELAY", "MAX_ENTRIES", "MAX_SIZE", "NAME",
            "Queue", "S3_BODY_KEY", "Sender", "Sent", "UNREADABLE_HEADERS", "Wire", "batch_failures", "batches", "call_batch",
            "call_failure", "changed", "config", "destination", "entry_of", "is_answer", "is_attribute", "pointer_of",
            "queue_from_arn", "size", "typed", "wire_of",
        },
        "_service_bus": {
            "Broker", "CALLS_PER_CORE", "ConnectionString", "Copy", "Failure", "HostOptions", "Kind", "LOCK_DURATION", "app_settings", "broker",
            "changed", "connection", "duration", "failure_of", "find_setting", "host_file", "in_milliseconds", "is_connection_string", "parse_json", "proxy", "read_host_json", "resolved",
            "origin_of", "shown", "transport_of", "values_of",
        },
    },
    "recoverable_local": {
        "_sqs": {"RenewingClient", "wire_of"},
        "_service_bus": {
            "Broker", "CALLS_PER_CORE", "CORES", "ConnectionString", "HostOptions", "Identity", "LOCK_DURATION", "PREFIXES",
            "connection", "credential_for", "duration", "find_setting", "is_connection_string", "parse_json", "read_host_json",
            "resolved",
        },
    },
}  # fmt: skip
"""What operate and local import from the runtime's gateways: what a broker's answers, addresses and messages mean."""

INNER_NAMES = {
    "recoverable_operate": {
        "_ladder": {"Changes", "content_headers", "EXCEPTION_MESSAGE", "STACK_TRACE", "faults"},
        "_limits": {"MAX_DELAYED"},
        "_variables": {"Variables", "read_parts"},
        "azure": {"ARRAYS"},
        "timeouts": {"DISPATCHED", "Selection", "WAITING", "to_send_request"},
    },
    "recoverable_local": {
        "_flow": {"TIME_IS_UP"},
        "_ladder": {"faults", "text_of"},
        "_limits": {"checked_count"},
        "aws": {"MAX_CONCURRENCY", "REDELIVER_AFTER"},
        "extensions": {"COUNTERS", "metrics_of"},
        "timeouts": {
            "CANCELLED", "Claim", "DISPATCHED", "HELD", "KEEP_FINISHED", "Kept", "MAX_PAGE", "MIGRATED", "PAGE", "Selection", "Shard",
            "Unreadable", "VERSION", "WAITING", "dump_message", "load_timeout",
            "recoverable.timeouts._shards", "to_microseconds",
        },
    },
}  # fmt: skip
"""What they import besides that is neither public nor of a gateway; no name may be added."""


@dataclass(frozen=True)
class Import:
    """One imported module.

    Args:
        module: its name.
        for_types: whether only type checkers see it.
        in_function: whether it is imported when a function is called.
        names: what is imported from it; none where it is imported whole.
        candidates: the module, and what may be modules below it.
    """

    module: str
    for_types: bool
    in_function: bool
    names: frozenset[str] = frozenset()
    candidates: frozenset[str] = frozenset()

    @property
    def top(self) -> str:
        """Return the name of the top-level package."""
        return self.module.partition(".")[0]


@cache
def tree(path: Path) -> ast.Module:
    """Return the file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    """Return the file's path within its package."""
    return path.relative_to(root_of(path)).as_posix()


def root_of(path: Path) -> Path:
    """Return the package that the file is of."""
    return next(root for root in (PACKAGE, OPERATE, LOCAL) if path.is_relative_to(root))


def runtime() -> list[Path]:
    """Return all files of the runtime: what a function carries."""
    return sorted(PACKAGE.rglob("*.py"))


def operate() -> list[Path]:
    """Return all files of what an operator runs."""
    return sorted(OPERATE.rglob("*.py"))


def local_cloud() -> list[Path]:
    """Return all files of the local cloud."""
    return sorted(LOCAL.rglob("*.py"))


def pure() -> list[Path]:
    """Return the files that decide, and the data that they decide about."""
    rate_limit = [PACKAGE / "_rate_limit" / name for name in ("settings.py", "state.py")]
    return [*sorted((PACKAGE / "_ladder").glob("*.py")), *rate_limit]


def module_of(path: Path) -> str:
    """Return the module's full name."""
    parts = path.relative_to(root_of(path).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def runtime_modules() -> set[str]:
    """Return the full names of the runtime's modules, for tests that assert that one is not imported: it has to exist."""
    return {module_of(path) for path in runtime()}


def is_for_types(node: ast.AST) -> bool:
    """True if the node is the block that only type checkers see."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(node: ast.AST, *, for_types: bool = False, in_function: bool = False) -> Iterator[Import]:
    """Yield all imports below the node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, for_types, in_function, candidates=frozenset({alias.name}))
        elif isinstance(child, ast.ImportFrom):
            module = child.module or ""
            below = {f"{module}.{alias.name}" for alias in child.names}
            names = frozenset(alias.name for alias in child.names)
            yield Import(module, for_types, in_function, names, frozenset({module, *below}))
        else:
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(child, for_types=for_types or is_for_types(child), in_function=in_function or function)


@cache
def lines_of_code(path: Path) -> int:
    """Count the lines that hold code to run: no blanks, comments or docstrings, nor what only type checkers see."""
    source = path.read_text(encoding="utf-8")
    idle = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in idle:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree(path)):
        if is_for_types(node) or is_docstring(node):
            assert isinstance(node, ast.stmt)
            held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def is_docstring(node: ast.AST) -> bool:
    """True if the node is a text that nothing uses."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
