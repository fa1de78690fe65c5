"""One experiment as an object: what it says, how it is run and drawn, what its result rests on."""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ..sources.datasets.catalogue import entry_of
from ..sources.real import folder
from . import NAMES
from .outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
ABOVE = ("cli", "demo.py", "warm.py", "experiments")  # of the package: what no result rests on
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


class Animation(NamedTuple):
    """A figure, and what draws its frame of a number."""

    figure: Figure
    draw: Callable[[int], None]
    frames: int


class Experiment:
    """A module of this folder by its name; `quick`: in its short form."""

    def __init__(self, name: str, quick: bool = False) -> None:
        self.name, self.quick, self.line = name, quick, NAMES[name]

    @cached_property
    def module(self) -> ModuleType:
        """Where it is written."""
        return import_module(f"{__package__}.{self.name}")

    def text(self, constant: str) -> str:
        """ANSWERS, PROTOCOL, STAND_IN: what it says of itself; "" where it says nothing."""
        return str(getattr(self.module, constant, ""))

    @property
    def data(self) -> tuple[str, ...]:
        """The sets it needs; (): all is generated."""
        return tuple(self.module.DATA)

    @property
    def seeds(self) -> int:
        """How often it is repeated."""
        return int(self.module.QUICK if self.quick else self.module.SEEDS)

    @property
    def seconds(self) -> float:
        """About what the full run takes on one core."""
        return float(getattr(self.module, "SECONDS", 30.0))

    def run(self) -> Outcome:
        """Do it."""
        outcome: Outcome = self.module.run(range(self.seeds), quick=self.quick)
        return Outcome.from_json(outcome.json())  # as it comes back from a file

    def figure(self, outcome: Outcome) -> Figure:
        """What came out, in the seed's axes."""
        drawn: Figure = self.module.figure(outcome)
        return drawn

    def animations(self, outcome: Outcome) -> dict[str, Animation]:
        """By the names of their files; most have none."""
        make = getattr(self.module, "animations", None)
        return {} if make is None else dict(make(outcome))

    def key(self) -> str:
        """All that the result rests on, as a digest.

        Its source and that of the experiments it uses, the library's, versions, the bytes of its data, its
        seeds.
        """
        told = hashlib.sha256(f"{self.name} {self.seeds} {self.quick} {_library()}".encode())
        for path in _reached(HERE / f"{self.name}.py"):
            told.update(path.read_bytes())
        for name in self.data:
            entry = entry_of(name)
            for file in (*entry.files, *entry.test_files):
                told.update(f"{file} {_content(folder() / file)}".encode())
        return told.hexdigest()[:20]


def _reached(path: Path) -> list[Path]:
    """A file of this folder and those of its neighbours that it imports, directly or through others."""
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        at = waiting.pop()
        if at in found or not at.exists():
            continue
        found[at] = None
        waiting += [HERE / f"{name}.py" for name in _neighbours(at)]
    return list(found)


def _neighbours(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else [alias.name for alias in node.names]


@cache
def _library() -> str:
    """The library below the experiments, and what it stands on."""
    package = HERE.parent
    told = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in ABOVE:
            told.update(f"{name.as_posix()} ".encode() + path.read_bytes())
    return f"{told.hexdigest()} {' '.join(f'{name} {number}' for name, number in versions().items())}"


def versions() -> dict[str, str]:
    """Of Python and the packages that numbers depend on."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _content(path: Path) -> str:
    """The digest of a file; "absent" where there is none."""
    if not path.exists():
        return "absent"
    told = path.stat()
    return _digest(path, told.st_size, told.st_mtime_ns)
