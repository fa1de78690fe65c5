"""What a model's file says of how the model was learned: data, command, passes, rows, versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version

from ... import __version__
from ...errors import BadFile, BadInput, shown
from ...results.tally import Tally
from ...sources.reading.opening import every_file

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
UNKNOWN = -1  # bytes
ENDS = 1 << 16  # bytes at the beginning and at the end of a file by which it is known again
KINDS: dict[str, type | tuple[type, ...]] = {
    "data": list, "format": str, "options": dict, "task": str, "algorithm": str, "command": str, "begun": str,
    "ended": str, "seconds": float, "passes": int, "finished": int, "row": int, "rows": int, "skipped": int,
    "unlabelled": int, "sizes": list, "digests": list, "tally": dict, "earlier": list, "versions": dict,
}  # fmt: skip


def now() -> str:
    """The time, as files say it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Of what learns."""
    found = {"onmargin": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@dataclass
class Record:
    """A run of learning, as far as it got.

    finished : whole passes; row : rows learned of the pass at hand; rows : of all passes.
    sizes, digests : bytes of each file, glob or folder, and how its files begin and end, to know it again.
    earlier : the average and examples of each whole pass.
    """

    data: list[str]
    format: str
    options: dict[str, object]
    task: str
    algorithm: str
    passes: int = 1
    command: str = ""
    begun: str = field(default_factory=now)
    ended: str = ""
    seconds: float = 0.0
    finished: int = 0
    row: int = 0
    rows: int = 0
    skipped: int = 0
    unlabelled: int = 0
    sizes: list[int] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    earlier: list[dict[str, float]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=versions)

    def __post_init__(self) -> None:
        self.sizes = self.sizes or [_size(path) for path in self.data]
        self.digests = self.digests or [_digest(path) for path in self.data]

    @property
    def is_whole(self) -> bool:
        """Are all its passes learned?"""
        return self.finished >= self.passes

    @property
    def last(self) -> Tally:
        """Of the pass at hand."""
        return self.tally

    def end_pass(self) -> None:
        """All rows of this one were learned."""
        self.earlier.append({"examples": self.tally.count, self.tally.word: self.tally.average})
        self.finished, self.row = self.finished + 1, 0

    def facts(self) -> dict[str, object]:
        """Plain values for a file."""
        held = self.tally
        self.tally = Tally()
        found = asdict(self)
        self.tally = held
        return found | {"tally": held.state()}

    @classmethod
    def from_facts(cls, facts: Mapping[str, object] | None, path: object) -> Record:
        """What a file says; refused where it says nothing, or what cannot be."""
        if facts is None or "finished" not in facts:
            raise BadFile(
                f"{path} does not say how it was learned, so it cannot be resumed; start from it with --start"
            )
        known = {"digests": [""]} | {name: value for name, value in facts.items() if name in KINDS}
        fits = known.keys() == KINDS.keys() and all(
            isinstance(value, KINDS[name]) for name, value in known.items()
        )
        numbers = [known.get(name) for name in ("passes", "finished", "row", "rows", "skipped", "unlabelled")]
        if not fits or any(not isinstance(number, int) or number < 0 for number in numbers):
            raise BadFile(f"{path} has a record of learning that is none; use another copy")
        try:
            tally = Tally.from_state(known.pop("tally"))
        except BadInput:
            raise BadFile(f"{path} has a record of learning that is none; use another copy") from None
        made: Callable[..., Record] = cls
        return made(**known, tally=tally)

    def check_same(self, other: Record, path: object) -> None:
        """Refuse to go on with other data, or otherwise read, than a run began with."""
        for name in ("data", "format", "options", "task"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise BadInput(
                    f"{path} was learned with {name} {shown(mine, 80)}, and now it is {shown(theirs, 80)}; "
                    "give the same, or start from it with --start"
                )
        for name, mine, theirs in zip(self.data, self.sizes, other.sizes, strict=True):
            if mine not in (theirs, UNKNOWN):
                raise BadInput(
                    f"{shown(name, 100)} had {mine} bytes when learning began and has {theirs} now; give "
                    f"the same file, or start from {path} with --start"
                )
        for name, had, has in zip(self.data, self.digests, other.digests, strict=False):
            if had and has and had != has:
                raise BadInput(
                    f"{shown(name, 100)} does not begin and end as it did when learning began; give the same "
                    f"file, or start from {path} with --start"
                )


def first_column(options: object) -> int:
    """The number of the first column where columns have numbers: 1 in svmlight files that begin there."""
    return int(isinstance(options, Mapping) and options.get("zero_based") is False)


def _files(path: str) -> list[str]:
    """All that a path, a glob or a folder means."""
    return [file for file in every_file(path) if isinstance(file, str) and os.path.isfile(file)]


def _size(path: str) -> int:
    """Bytes of a file, or of all that a glob or a folder means; -1: nobody knows."""
    try:
        files = _files(path)
        return sum(map(os.path.getsize, files)) if files else UNKNOWN
    except (OSError, BadFile):
        return UNKNOWN


def _digest(path: str) -> str:
    """How each of these files begins and ends, in a few letters; empty: nobody knows."""
    found = blake2b(digest_size=8)
    try:
        files = _files(path)
        for name in files:
            with open(name, "rb") as file:
                found.update(file.read(ENDS))
                file.seek(max(0, os.path.getsize(name) - ENDS))
                found.update(file.read(ENDS))
    except (OSError, BadFile):
        return ""
    return found.hexdigest() if files else ""
