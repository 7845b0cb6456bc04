"""Build the site: copy the pages with their links as the site needs them, run Zensical on them, add what programs read.

    python infra/site/make_site.py

`README.md` is the front. A link out of docs/ becomes an address in the repository, which `pyproject.toml` names.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LINK = re.compile(r'(\]\(|(?:src|srcset)=")(?!https?:)([^)#":\s]+)(#[^)\s]+)?')
TABS = re.compile(r"^<!-- tabs -->\n(.*?)^<!-- /tabs -->\n", re.MULTILINE | re.DOTALL)


def repository() -> str:
    """Return the address of the repository, which stands in one place."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return str(urls["Homepage"]).rstrip("/")


def for_site(text: str, source: str, base: str) -> str:
    """Return a page as the site has it: links by where the pages lie there, headings between two marks as tabs.

    Args:
        text: the page, as it is in the repository.
        source: its path in the repository, such as "docs/use/order.md".
        base: the address of the repository.
    """
    own = place(source)

    def link(found: re.Match[str]) -> str:
        """Return a link, or the beginning of one, with its target as the site has it."""
        target = normpath(PurePosixPath(source).parent / found[2])
        there = place(target)
        to = relpath(there, PurePosixPath(own).parent) if there else f"{base}/blob/main/{target}"
        return f"{found[1]}{to}{found[3] or ''}"

    return TABS.sub(lambda found: tabs(found[1]), LINK.sub(link, text))


def place(path: str) -> str:
    """Return where the site has a file of the repository, or nothing if it is not on it."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/") if path.startswith("docs/") else ""


def tabs(text: str) -> str:
    """Return headings of the third level and what stands below each as tabs."""
    _, *parts = re.split(r"^### (.+)\n", text, flags=re.MULTILINE)
    bodies = (re.sub(r"^(?=.)", "    ", body, flags=re.MULTILINE) for body in parts[1::2])
    return "".join(f'=== "{name}"\n{body}' for name, body in zip(parts[::2], bodies, strict=True))


def pages(nav: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return title and path of each page, in the order of the navigation."""
    return [
        each
        for entry in nav
        for title, below in entry.items()
        for each in ([(title, below)] if isinstance(below, str) else pages(below))
    ]


def llms_txt(config: dict[str, Any], base: str) -> str:
    """Return the list of pages for programs that read text, each with the address of its Markdown."""
    project = config["project"]
    lines = [f"- [{title}]({base}/docs/{path})" for title, path in pages(project["nav"])]
    return f"# {project['site_name']}\n\n> {project['site_description']}\n\n" + "\n".join(lines) + "\n"


def build(into: Path) -> None:
    """Build the site into a folder, made anew."""
    shutil.rmtree(into, ignore_errors=True)
    base = repository()
    text = (HERE / "zensical.toml").read_text(encoding="utf-8").replace("REPOSITORY", base)
    shutil.copytree(ROOT / "docs", into / "pages")
    for source in ["README.md", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]:
        made = for_site((ROOT / source).read_text(encoding="utf-8"), source, base)
        (into / "pages" / place(source)).write_text(made, encoding="utf-8")
    (into / "zensical.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    subprocess.run(command, cwd=into, check=True)
    shutil.copytree(into / "pages", into / "site", dirs_exist_ok=True)
    (into / "site" / "llms.txt").write_text(llms_txt(tomllib.loads(text), base), encoding="utf-8")


if __name__ == "__main__":
    build(ROOT / "dist" / "docs")
