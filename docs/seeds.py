"""docs/seeds.md from docs/seeds.toml: what the seeds describe, and what shows each item of it."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import onmargin as om

HERE = Path(__file__).parent
ROOT = HERE.parent
LISTED, PAGE = HERE / "seeds.toml", HERE / "seeds.md"
BOUNDS = ROOT / "src" / "onmargin" / "protocols" / "bounds"
TITLES = {
    "S0": "slides: online Passive-Aggressive algorithms",
    "S1": "draft: paired Passive-Aggressive rounds",
    "S2": "talk: online learning",
    "S3": "note: Pegasos",
    "S4": "report: active Passive-Aggressive learning",
}
HEAD = """# The seeds, item by item

Written by `make docs` from `docs/seeds.toml`; a test follows every link. `reproduce NAME` is
`onmargin reproduce NAME`, `row ID` a row of `om.certificate`; the rest are names of the package,
tests, commands and pages.
"""


def items() -> dict[str, dict[str, list[str]]]:
    """Seed -> number -> what it is, then what shows it."""
    found: dict[str, dict[str, list[str]]] = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    return found


def leads_somewhere(link: str) -> bool:
    """Is there what the link names?"""
    kind, _, name = link.partition(" ")
    if kind == "reproduce":
        from onmargin.experiments import NAMES

        return name in NAMES
    if kind == "row":
        return name in _rows()
    if kind == "onmargin":
        return (ROOT / "src" / "onmargin" / "cli" / f"{name}.py").is_file()
    if link.startswith("om."):
        found: object = om
        for part in link.split(".")[1:]:
            found = getattr(found, part, None)
        return found is not None
    path, _, test = link.partition("::")
    return (ROOT / path).is_file() and (not test or test in _tests(path))


@cache
def _tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@cache
def _rows() -> set[str]:
    """Ids of the rows that certificates have: texts in the modules of the bounds."""
    found = set()
    for path in BOUNDS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


def page() -> str:
    """A table for each seed."""
    every = items()
    lines = [HEAD, f"{sum(map(len, every.values()))} items.\n"]
    for seed, numbered in every.items():
        lines += [f"\n## {seed}, {TITLES[seed]}\n", "| item | what | shown by |", "| --- | --- | --- |"]
        lines += [
            f"| {seed}.{number} | {what} | {', '.join(map(_shown, links))} |"
            for number, (what, *links) in numbered.items()
        ]
    return "\n".join(lines) + "\n"


def _shown(link: str) -> str:
    if link.startswith("docs/"):
        return f"[{link.removeprefix('docs/')}]({link.removeprefix('docs/')})"
    path, _, test = link.partition("::")
    if path.startswith("tests/"):
        return f"[{test or Path(path).name}](../{path})"
    return f"`{link}`"
