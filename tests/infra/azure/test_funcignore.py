"""What `.funcignore` leaves out, and what it leaves."""

from __future__ import annotations

import pytest
from pathspec import GitIgnoreSpec

from infra.azure.bicep import ROOT
from infra.azure.published import denied, patterns, published

NEEDED = {
    "function_app.py", "functions/aws/shop.py", "functions/azure/orders_endpoint.py", "functions/azure/stamping.py", "host.json",  # the app
    "requirements.txt", "pyproject.toml", "README.md", "LICENSE",  # the first requires the packages, which are made of the rest
}  # fmt: skip


def test_the_app_and_the_package_are_published_and_nothing_else() -> None:
    packages = (path for folder in ("adapters/recoverable", "infra/operate") for path in (ROOT / folder).rglob("*"))
    source = {
        path.relative_to(ROOT).as_posix() for path in packages if path.is_file() and "__pycache__" not in path.parts
    }

    assert published() == NEEDED | source


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".git/config", ".venv/bin/python", ".venv-fuzz/x", ".mypy_cache/x.json", ".aws-sam/build/x", ".python_packages/lib/x.py",
        "__pycache__/function_app.pyc", "adapters/recoverable/__pycache__/config.pyc", "adapters/recoverable/azure/__pycache__/client.pyc",
        "dist/recoverable.whl", "docs/internals/proof.md", "functions/aws/orders.py", "functions/azure/__pycache__/x.pyc", "infra/azure/main.bicep",
        "local.settings.example.json", "local.settings.json", "requirements-dev.txt", "samconfig.toml", "template.yaml", "tests/builders.py",
    ],
)  # fmt: skip
def test_what_may_lie_around_is_left_out_however_the_file_is_read(path: str) -> None:
    """`func` has a reading of its own; other tools read `.funcignore` as git reads `.gitignore`."""
    assert (denied(patterns())(path), GitIgnoreSpec.from_lines(patterns()).match_file(path)) == (True, True)


def test_other_tools_publish_the_same() -> None:
    assert [path for path in published() if GitIgnoreSpec.from_lines(patterns()).match_file(path)] == []
