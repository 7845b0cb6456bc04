"""Name the distributions, and build each into a wheel and an sdist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
SECONDS = 300
"""How long one command may take."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of this repository.

    Args:
        name: its name on the index.
        folder: where its pyproject.toml is, below the repository's root.
        source: the folder of its package, below that.
        program: Python that must run where only this distribution, and what it needs, is installed.
        alone: True if it needs others than those of this repository, so that it is installed without them.
    """

    name: str
    folder: str
    source: str
    program: str
    alone: bool = False

    @property
    def package(self) -> str:
        """Return the name under which it is imported."""
        return self.source.rpartition("/")[2]

    @property
    def root(self) -> Path:
        """Return the folder of its pyproject.toml."""
        return ROOT / self.folder


DISTRIBUTIONS = (
    Distribution(
        "recoverable",
        ".",
        "adapters/recoverable",
        "from recoverable.aws import SqsEndpoint; SqsEndpoint(print)({'Records': [{'messageId': '1', 'receiptHandle': 'r',"
        " 'body': '{}', 'attributes': {'ApproximateReceiveCount': '1'}, 'messageAttributes': {}, 'eventSource': 'aws:sqs',"
        " 'eventSourceARN': 'arn:aws:sqs:eu-central-1:123456789012:orders', 'awsRegion': 'eu-central-1'}]}, None)",
    ),
    Distribution(
        "recoverable-operate",
        "infra/operate",
        "recoverable_operate",
        "from recoverable_operate.errors import Filter; print(Filter())",
    ),
    Distribution(
        "recoverable-local",
        "infra/local",
        "recoverable_local",
        "from recoverable.aws import SqsEndpoint; from recoverable_local.testing import SqsWorld; world = SqsWorld();"
        " world.serve('orders', SqsEndpoint(lambda message: None)); world.send('orders', 'x'); world.run(); print(world.queue('orders'))",
    ),
    Distribution(
        "recoverable-cdk",
        "infra/cdk",
        "recoverable_cdk",
        "from recoverable_cdk.numbers import Numbers; print(Numbers(5, 3, fifo=False).max_receive_count)",
        alone=True,  # CDK and Node are large; `make cdk` runs it with them
    ),
)


@dataclass(frozen=True, slots=True)
class Built:
    """The files of one distribution that would be published."""

    distribution: Distribution
    wheel: Path
    sdist: Path


def build_all(into: Path, distributions: Iterable[Distribution] = DISTRIBUTIONS) -> tuple[Built, ...]:
    """Build each distribution into a folder, and return what was built."""
    return tuple(build(distribution, into) for distribution in distributions)


def build(distribution: Distribution, into: Path) -> Built:
    """Build one distribution into a folder."""
    run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(into), cwd=distribution.root
    )
    stem = f"{distribution.name.replace('-', '_')}-{version_of(distribution)}"
    [wheel], [sdist] = into.glob(f"{stem}-*.whl"), into.glob(f"{stem}.tar.gz")
    return Built(distribution, wheel, sdist)


def version_of(distribution: Distribution) -> str:
    """Return the version that a distribution's pyproject.toml states."""
    return str(project(distribution)["version"])


def project(distribution: Distribution) -> dict[str, Any]:
    """Return the table `project` of a distribution's pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((distribution.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def with_version(text: str, old: str, new: str) -> str:
    """Return the text of a pyproject.toml with another version of its own, and of the other distributions where it pins them."""
    own = re.sub(rf'^version = "{re.escape(old)}"$', f'version = "{new}"', text, count=1, flags=re.MULTILINE)
    return re.sub(rf'(recoverable[\w-]*(?:\[[\w,-]+\])?)=={re.escape(old)}"', rf'\1=={new}"', own)


def run(*command: str, cwd: Path = ROOT) -> str:
    """Run a command, and return what it printed.

    Raises:
        RuntimeError: it failed; with all that it printed.
    """
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
