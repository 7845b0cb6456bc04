"""The rules that keep the package small and its parts apart, as far as the source itself shows whether they are kept."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from sources import (
    GATEWAY_NAMES,
    INNER_NAMES,
    LOCAL,
    OPERATE,
    PACKAGE,
    PUBLIC,
    RUNTIME_FOLDERS,
    imports,
    lines_of_code,
    local_cloud,
    module_of,
    name,
    operate,
    pure,
    root_of,
    runtime,
    tree,
)

SDKS = {"aiobotocore", "aioboto3", "azure", "boto3", "botocore"}
MOST_LINES = 400
"""Lines of code of one module: more than that is two ideas."""

IMPURE = {
    "asyncio", "contextvars", "io", "logging", "os", "pathlib", "random", "secrets", "select", "signal",
    "socket", "subprocess", "sys", "tempfile", "threading", "time", "uuid",
}  # fmt: skip
IMPURE_CALLS = {"input", "now", "open", "print", "sleep", "time", "today", "urandom", "utcnow"}

every_pure_file = pytest.mark.parametrize("path", pure(), ids=name)
every_file = [*runtime(), *operate(), *local_cloud()]
"""For tests that look at all of them: a test for each file would cost more than to look at it."""


def test_there_are_files_to_check() -> None:
    assert {"_ladder/policy.py", "_ladder/decision.py"} <= {name(path) for path in pure()}
    assert {"_flow/flow.py", "aws/_endpoint.py", "_sqs/broker.py"} <= {name(path) for path in runtime()}
    assert {"testing/plugin.py", "service_bus/emulator.py"} <= {name(path) for path in local_cloud()}


def test_the_runtime_has_the_folders_of_the_layout_and_no_others() -> None:
    folders = {path.relative_to(PACKAGE).parts[0] for path in runtime() if path.parent != PACKAGE}

    assert folders == RUNTIME_FOLDERS


def test_the_runtime_imports_neither_of_the_other_distributions() -> None:
    others = {LOCAL.name, OPERATE.name}
    importing = {name(path) for path in runtime() for each in imports(tree(path)) if each.top in others}

    assert importing == set()


@pytest.mark.parametrize("package", [operate(), local_cloud()], ids=[OPERATE.name, LOCAL.name])
def test_the_other_distributions_import_public_names_and_what_is_listed_of_the_gateways(package: list[Path]) -> None:
    distribution = root_of(package[0]).name
    borrowed = names_by_room(package, PACKAGE.name)
    gateways = {room: borrowed.pop(room, set()) for room in GATEWAY_NAMES[distribution]}
    added = {room: names - INNER_NAMES[distribution].get(room, set()) for room, names in borrowed.items()}

    assert gateways == GATEWAY_NAMES[distribution]
    assert {room: names for room, names in added.items() if names} == {}


def test_the_local_cloud_imports_the_face_of_what_an_operator_runs_alone() -> None:
    assert names_by_room(local_cloud(), OPERATE.name) == {}


def names_by_room(package: list[Path], distribution: str) -> dict[str, set[str]]:
    """Return the names that files import from a distribution's private modules, by the first part of the module's name."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in (each for path in package for each in imports(tree(path)) if each.top == distribution):
        parts = each.module.split(".")
        private = {name for name in each.names if name.startswith("_")}
        if each.module in FACES:
            found[parts[-1]] |= private
        else:
            found[parts[1]] |= each.names or {each.module}
    return {room: names for room, names in found.items() if names}


FACES = PUBLIC | {OPERATE.name} | {f"{OPERATE.name}.{face}" for face in ("errors", "rules", "templates")}


def test_a_module_holds_one_idea() -> None:
    assert {name(path): lines for path in every_file if (lines := lines_of_code(path)) > MOST_LINES} == {}


CHOSEN = {"circuits", "extensions", "powertools", "timeouts"}
"""The rooms of what only some users choose; the core is the rest of the runtime."""

MOST = {"core": (102, 8_648), "runtime": (128, 10_972)}
"""Files and lines of code of the core, and of the whole runtime, which a function carries: what they are. A cut lowers them in its commit."""


def test_core_and_runtime_are_as_small_as_they_are() -> None:
    sizes = {
        name: (len(files), sum(map(lines_of_code, files))) for name, files in (("core", core()), ("runtime", runtime()))
    }

    assert sizes == MOST


DOORS = {
    "_flow/flow.py": ["recoverable._flow.drive_async", "recoverable._flow.settle"],
    "_message.py": ["recoverable._outgoing.outbox"],
    "_rate_limit/__init__.py": ["recoverable._rate_limit.limiter"],
    "aws/_batch.py": ["recoverable.aws._hosted"],
    "aws/_records.py": ["recoverable.aws._restoring"],
    "aws/_settings.py": ["recoverable.aws._options"],
    "azure/_processor.py": ["recoverable.azure._settling"],
}
"""The imports of ours that wait until they are needed, because a message that comes for the first time and succeeds needs none of them: what
awaits, what fails, what sends, what limits, and the settings that most endpoints leave out. Behind a door all is imported at the top."""


def test_the_core_has_these_doors_and_imports_all_else_at_the_top() -> None:
    found: dict[str, list[str]] = {}
    for path in core():
        late = {each.module for each in imports(tree(path)) if each.in_function and each.top == PACKAGE.name}
        if late:
            found[name(path)] = sorted(late)

    assert found == DOORS
    assert sum(map(len, DOORS.values())) <= 8


def core() -> list[Path]:
    """Return the modules of the runtime that every endpoint needs."""
    return [path for path in runtime() if path.relative_to(PACKAGE).parts[0] not in CHOSEN]


def definitions_by_room() -> dict[str, Counter[str]]:
    """Return how often each function and class is defined at the top of a module, by the room it is in."""
    found: dict[str, Counter[str]] = {}
    for path in runtime():
        room = path.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else ""
        defined = (
            each.name
            for each in tree(path).body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        )
        found.setdefault(room, Counter()).update(name for name in defined if not name.startswith("__"))
    return found


def test_within_a_room_a_name_is_defined_once() -> None:
    twice = {
        room: [name for name, count in names.items() if count > 1] for room, names in definitions_by_room().items()
    }

    assert {room: names for room, names in twice.items() if names} == {}


SHARED = {
    "Batch": "the messages of one invocation",
    "Broker": "the calls to a broker, with its client",
    "Copy": "a new broker message that is ready to be sent",
    "Hosted": "those who take part in an invocation beside its handlers",
    "Failure": "why a broker did not take a call, and what that means",
    "Letter": "what is known of one message while it is sent",
    "Report": "the result of one run of a scheduled function",
    "Sender": "sends a message for its caller",
    "changed": "the message's headers or properties with the changes of a copy",
    "copy_of": "make the copy of a forwarding",
    "delete": "delete what was handled",
    "delivery_of": "the delivery of a message, made from what the platform gave",
    "identity": "the derived identity of a copy or an outgoing message",
    "is_source": "is this name the queue that a message came from?",
    "send_all": "send what handlers sent, all of it",
    "send_outgoing": "send what the handlers of a group sent, and settle their messages",
    "settle_on_receipt": "the settlement of what needs no handler",
    "to_item": "as an item of a table",
    "typed": "a value with the type that the broker gives it",
    "with_error_queue": "settings whose error queue is resolved",
}
"""Names that two rooms define, and what they mean in both."""


def test_two_rooms_share_a_name_only_where_it_means_the_same() -> None:
    rooms = Counter(name for names in definitions_by_room().values() for name in names)

    assert {name for name, count in rooms.items() if count > 1} == SHARED.keys()
    assert len(SHARED) <= 20


@every_pure_file
def test_what_decides_imports_the_standard_library_its_own_folder_and_the_data_of_the_root(path: Path) -> None:
    own = {module_of(each) for each in (*pure(), *PACKAGE.glob("*.py"))}
    foreign = {
        each.module
        for each in imports(tree(path))
        if each.module not in own and each.top not in sys.stdlib_module_names
    }

    assert foreign == set()


@every_pure_file
def test_what_decides_has_no_clock_no_log_and_no_chance(path: Path) -> None:
    imported = {each.top for each in imports(tree(path)) if not each.for_types}

    assert (imported & IMPURE, set(called(tree(path))) & IMPURE_CALLS) == (set(), set())


def called(module: ast.Module) -> Iterator[str]:
    """Yield the names of all that is called."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_the_gateway_of_service_bus_knows_no_ladder() -> None:
    known = {"recoverable._frozen", "recoverable._limits", "recoverable.headers"}
    others = {
        (name(path), each.module)
        for path in (PACKAGE / "_service_bus").glob("*.py")
        for each in imports(tree(path))
        if each.top == "recoverable"
        and not each.module.startswith("recoverable._service_bus")
        and each.module not in known
    }

    assert others == set()


@pytest.mark.parametrize(("platform", "other"), [("aws", "azure"), ("azure", "aws")])
def test_the_platforms_do_not_import_each_other(platform: str, other: str) -> None:
    reaching_over = {
        (name(path), each.module)
        for path in (PACKAGE / platform).rglob("*.py")
        for each in imports(tree(path))
        if each.module.startswith(f"recoverable.{other}")
    }

    assert reaching_over == set()


def test_the_gateway_of_sqs_imports_nothing_but_what_stands_left_of_the_ladder() -> None:
    rooms = {
        (name(path), each.module)
        for path in (PACKAGE / "_sqs").glob("*.py")
        for each in imports(tree(path))
        if each.top == "recoverable" and not each.module.startswith("recoverable._sqs") and not each.for_types
    }

    assert {module for _, module in rooms} <= {
        f"recoverable.{left}" for left in ("_errors", "_frozen", "_limits", "headers")
    }


@pytest.mark.parametrize(
    "package", [runtime(), operate(), local_cloud()], ids=["recoverable", "recoverable_operate", "recoverable_local"]
)
def test_no_two_modules_import_each_other(package: list[Path]) -> None:
    """Imports in functions count; those for types do not, nor those of an `__init__` that lists public names: neither runs anything."""
    modules = {module_of(path) for path in package} - {"recoverable"}
    graph = {module_of(path): imported_modules(path) & modules - {module_of(path)} for path in package}

    assert circles(graph) == []


def imported_modules(path: Path) -> set[str]:
    """Return all that the file imports when it runs: `from a import b` may import the module a.b."""
    return {name for each in imports(tree(path)) if not each.for_types for name in each.candidates}


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules that lead back to themselves: what remains when those without imports are taken out, again and again."""
    remaining = dict(graph)
    while ready := [module for module, imported in remaining.items() if not imported & remaining.keys()]:
        for module in ready:
            del remaining[module]
    return sorted(remaining)


def test_nothing_is_imported_by_a_text() -> None:
    """A module that is named in a text hides from the check of circles."""
    hiding = {name(path) for path in every_file if {"import_module", "__import__"} & set(called(tree(path)))}

    assert hiding == LOADS_WHAT_USERS_NAME


LOADS_WHAT_USERS_NAME = {
    "_lazy.py", "functions_host/worker/worker_process.py", "lambda_host/runtime/in_process.py",
}  # fmt: skip
"""Import public names when they are first used, which each package also imports for type checkers; the function that a template names;
and Microsoft's runtime, whose name depends on the Python version."""


def test_sdks_are_imported_by_gateways_and_named_stores_alone_and_when_they_are_called() -> None:
    found = ((path, each) for path in runtime() for each in imports(tree(path)))
    sdks = [(path, each) for path, each in found if each.top in SDKS and not each.for_types]

    assert [(name(path), each) for path, each in sdks if not (talks_to_a_service(path) and each.in_function)] == []


def talks_to_a_service(path: Path) -> bool:
    """True if the file is of a gateway, or one of those beside them that call a service."""
    return name(path).startswith(GATEWAYS) or path.name.endswith("store.py") or name(path) in BESIDE_THE_GATEWAYS


GATEWAYS = ("_sqs/", "_service_bus/")
BESIDE_THE_GATEWAYS = {
    "azure/_blueprint.py",
    "circuits/_dynamodb.py",
    "circuits/_table.py",
    "timeouts/_dynamodb_table.py",
}


CHANGERS = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert",
    "pop", "popitem", "popleft", "remove", "setdefault", "update",
}  # fmt: skip


def test_nothing_at_module_level_changes() -> None:
    changing = {name(path): changed_at_module_level(tree(path)) for path in runtime()}

    assert {file: names for file, names in changing.items() if names} == {}


def changed_at_module_level(module: ast.Module) -> set[str]:
    """Return the names of the module's own level that something changes, or that a function declares global."""
    named = {target.id for node in module.body for target in targets(node) if isinstance(target, ast.Name)}
    declared = {name for node in ast.walk(module) if isinstance(node, ast.Global) for name in node.names}
    return set(changed(module)) & named | declared


def targets(node: ast.AST) -> list[ast.expr]:
    """Return what a statement assigns to."""
    match node:
        case ast.Assign(targets=assigned) | ast.Delete(targets=assigned):
            return [part for each in assigned for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def changed(module: ast.Module) -> Iterator[str]:
    """Yield the names whose content is changed in place."""
    for node in ast.walk(module):
        for target in targets(node):
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                yield target.value.id
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=verb)) if verb in CHANGERS:
                yield owner


PER_INSTANCE = {
    "_flow/event_loop.py: runner",
    "extensions/_metrics.py: instruments",
    "azure/_messages.py: log_ambiguous_fields",
    "azure/_waiting.py: warn_once",
}
"""Caches outside clients and stores, which keep what an instance of the function has anyway: its event loop, parsed names, and
which warnings were given."""


def test_only_clients_and_stores_and_what_is_named_here_keep_anything() -> None:
    keeping = {
        f"{name(path)}: {node.name}"
        for path in runtime()
        if not talks_to_a_service(path)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and any(keeps_for_good(each) for each in node.decorator_list)
    }

    assert keeping == PER_INSTANCE


def keeps_for_good(decorator: ast.expr) -> bool:
    """True if a decorator keeps what a function returns for longer than the object that it is a property of."""
    dumped = ast.dump(decorator)
    return "cache" in dumped and "cached_property" not in dumped


def test_there_is_one_context_variable_and_it_holds_the_test_world() -> None:
    holding = [name(path) for path in runtime() for each in called(tree(path)) if each == "ContextVar"]

    assert holding == ["hosting.py"]


LASTING = {"SqsEndpoint", "SqsProcessor", "ServiceBusEndpoint"}
"""The classes whose objects outlive an invocation. Powertools' processor is one too, and keeps an invocation's context as its base class does."""


def test_endpoints_keep_nothing_of_an_invocation() -> None:
    classes = [node for path in runtime() for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    lasting = [each for each in classes if each.name in LASTING]
    kept = [
        f"{each.name}.{method.name}: {ast.unparse(target)}"
        for each in lasting
        for method in each.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
        for node in ast.walk(method)
        for target in targets(node)
        if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self"
    ]

    assert ({each.name for each in lasting}, kept) == (LASTING, [])
