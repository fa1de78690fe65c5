"""Data by name, to learn from or to answer: source, features of its format, task of its labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from inspect import signature
from typing import TYPE_CHECKING, cast

import scipy.sparse as sp

from ...errors import BadFile, BadInput, NoFile, shown
from ...features.steps import FeatureStep
from ...sources.blocks import ROWS, Rows, Source, as_wide, height
from ...sources.by_name import ADDRESSES, format_of, module_of, open_source
from ...sources.parts import BYTES, Part, split
from ...sources.peeked import Peeked
from ...sources.reading.opening import Lines, every_file
from ...sources.svmlight import is_zero_based
from .naming import NUMBERS, SETS, require_task, task_of

if TYPE_CHECKING:
    from ...sources.datasets.apart import SetPart

TAKEN = ("paths", "features", "bits", "interactions", "names", "rows", "on_error")  # not options of a source
TABLES = ("csv", "jsonl", "parquet")
TEST = ":test"  # after the name of a set: its test rows
LOOKED_AT = 1000  # lines in which a label with a comma is looked for


class Settled:
    """Features that have nothing to learn, as a source takes them."""

    def __init__(self, features: FeatureStep) -> None:
        self.features = features

    def __repr__(self) -> str:
        return repr(self.features)

    def transform(self, rows: object) -> object:
        """Rows of numbers."""
        return self.features.transform(rows)


class Reading:
    """Data by name, with raw rows, and what makes rows of numbers of them (`features`; None: they are such).

    data : paths, globs, folders, "-", an address, or the name of a set of `om.datasets.names()`.
    format : None: by the ending. options : of the format's `stream`, and of its features (`bits`).
    task : None: found from the first block. cache : keep the rows in a file beside the first of the data.
    apart : others will read the files in parts (`split`); with on_error="skip" files that cannot be read are
        theirs to leave out, and what is found here is found as if they were not there.
    """

    def __init__(
        self,
        data: Sequence[str],
        *,
        format: str | None = None,
        task: str | None = None,
        options: Mapping[str, object] | None = None,
        follow: bool = False,
        on_error: str = "stop",
        cache: bool = False,
        apart: bool = False,
    ) -> None:
        if not data:
            raise BadInput("got no data; wanted a path, a glob, '-' for standard input, or the name of a set")
        if task is not None:
            require_task(task)
        self.data, self.options, self.follow = list(data), dict(options or {}), follow
        self.on_error, self.cache = on_error, cache
        self.named = format is None and len(self.data) == 1 and is_set(self.data[0])
        self.format = "set" if self.named else format_of_data(self.data[0]) if format is None else format
        self.labels: list[float] | None = None
        self.features: FeatureStep | None = None
        self._taken: dict[str, object] = {}  # options of the source
        self.made = False  # are blocks rows of numbers already?
        self._looked_at: list[str] = self.data
        given = dict(self.options)  # (to begin adds what is found)
        try:
            self._begin(task)
        except (BadFile, BadInput) as error:
            if not apart or on_error != "skip" or self.named or not self._is_file():
                raise
            self.options = given
            self._begin_despite(error, task)

    def _begin(self, task: str | None) -> None:
        """Open it, and find from the first block what holds for all."""
        self._sets = not self.named and self.format == "svmlight" and self._has_sets(task)
        self.source = self._opened()
        if self.cache:
            self.source = self._cached(self.source)
        if self.source.again:  # (a thread that waits for a pipe cannot be stopped)
            self.source = self.source.ahead()
        self.peeked = Peeked(self.source)
        block = self.peeked.first
        begins = getattr(self.source.format, "begins", None)
        if begins is not None:  # (of a pipe)
            self.options["zero_based"] = begins == 0
        if block is None:
            raise BadInput(f"{', '.join(map(str, self.data))}: no example in it")
        if self.named and task is None:
            task = _task_of_set(self.data[0].removesuffix(TEST))
        self.task = task_of(block.targets, block.groups) if task is None else task

    def _begin_despite(self, error: Exception, task: str | None) -> None:
        """Begin with the files that can be read, as if there were no others; none: say why."""
        files, rows, why = list[str](), 0, error
        for file in cast("list[str]", every_file(self.data)):
            try:
                alone = Reading([file], format=self.format, task=task, options=self.options, on_error="skip")
            except (BadFile, BadInput) as own:
                why = own if isinstance(own, BadInput) and not isinstance(why, BadInput) else why
                continue
            files.append(file)
            rows += height(alone.peeked.first.rows) if alone.peeked.first is not None else 0
            if rows >= ROWS and alone.labels is None:  # (a first block; all labels of sets are in all files)
                break
        if not files:
            raise why
        self._looked_at = files
        try:
            self._begin(task)
        except (BadFile, BadInput):  # they do not go together: the first says how the others are to be
            self._looked_at = files[:1]
            self._begin(task)

    def _has_sets(self, task: str | None) -> bool:
        """Do lines begin with several labels, `1,3`? (Files are looked at; a pipe's task must be told.)"""
        if task is not None:
            return task == SETS
        for chunk in Lines(self._looked_at) if self._is_file() else ():
            lines = chunk.text.tobytes().split(b"\n", LOOKED_AT)[:LOOKED_AT]
            counts = [_labels_in((line.split(None, 1) or [b""])[0]) for line in lines]
            if any(counts):  # (else no line of it begins with a label)
                return max(counts) > 1
        return False

    def _is_file(self) -> bool:
        """Can it be looked at before it is read?"""
        address = self.data[0].partition("://")[0] in ADDRESSES
        return not address and not self.follow and Lines(self.data).again

    def _opened(self) -> Source:
        if self.named:
            from ...sources.datasets.catalogue import load

            if self.options:
                raise BadInput(
                    f"{self.data[0]} is a set by its name; it has no option {shown(next(iter(self.options)))}"
                )
            name, part = self.data[0].removesuffix(TEST), "test" if self.data[0].endswith(TEST) else None
            source = cast("Source", load(name, part=part, as_source=True))
            self.features, source.features = cast("FeatureStep | None", source.features), None
            if self.features is not None and "names" in self.features.get_params():
                self.features.set_params(names=True)
            return source
        given, own = self.options, source_options(self.format)
        taken = {name: value for name, value in given.items() if name in own}
        if self._sets:
            taken |= {"multilabel": True, "labels": self._all_labels(taken)}
        if self.format == "svmlight" and "zero_based" not in given and self._is_file():
            # other rows of this model are to be read alike, whether or not they have an index 0
            taken["zero_based"] = self.options["zero_based"] = is_zero_based(self._looked_at, self._sets)
        self.features = features_for(
            self.format, {name: value for name, value in given.items() if name not in own}, "text" in taken
        )
        if "features" in signature(module_of(self.format).stream).parameters:
            taken["features"] = None
        paths = self._looked_at[0] if len(self._looked_at) == 1 else self._looked_at
        self._taken = taken
        source = open_source(paths, self.format, follow=self.follow, on_error=self.on_error, **taken)
        if getattr(source.format, "lists", None) is not None:  # (rows of numbers already)
            self.features = None
        return source

    def split(
        self, features: object, *, parts: int | None = None, bytes_per_part: int = BYTES
    ) -> Sequence[Part | SetPart]:
        """The files, or the set, in parts that others read alike; `features` make rows and learn no more."""
        fixed = None if features is None else Settled(nameless(cast("FeatureStep", features)))
        if self.named:
            from ...sources.datasets.apart import split_set

            name, test = self.data[0].removesuffix(TEST), self.data[0].endswith(TEST)
            return split_set(name, test, fixed, parts, bytes_per_part)
        if not self._is_file():
            raise BadInput(f"{shown(self.data[0], 100)} is no file, so that parts of it cannot be read apart")
        taken = dict(self._taken)
        if "features" in taken:
            taken["features"] = fixed
        return split(
            self.data, format=self.format, parts=parts, bytes_per_part=bytes_per_part,
            strict=self.on_error != "skip", on_error=self.on_error, **taken,
        )  # fmt: skip

    def _cached(self, source: Source) -> Source:
        """Rows of numbers are kept; features that learn as they come would be kept for good."""
        if self.features is not None:
            settled = self.format in ("vw", "text") and not getattr(self.features, "idf", False)
            if not settled or getattr(self.features, "names", False) and "names" in self.options:
                raise BadInput(
                    f"{self.format} is made rows by what learns from it, so it cannot be cached; cached are "
                    "svmlight, vw, and text without idf and names"
                )
            self.features.set_params(names=False)
            source.features, self.made = Settled(self.features), True
        if not source.again:
            raise BadInput("a cache lies beside a file, and a pipe is none; leave --cache out")
        return source.cached()

    def _all_labels(self, taken: Mapping[str, object]) -> list[float]:
        """The labels of sets, which the learner must know before the first row."""
        given = taken.get("labels")
        if given is not None:
            self.labels = [float(label) for label in cast("Sequence[float]", given)]
            return self.labels
        once = open_source(self._looked_at, self.format, on_error=self.on_error, multilabel=True)
        if not once.again or self.follow:
            raise BadInput("sets of labels from a pipe: tell which there are, as --labels 1,2,3")
        found: set[float] = set()
        for block in once:
            found.update(*cast("list[tuple[float, ...]]", block.targets))
        self.labels = sorted(found)
        return self.labels


def _labels_in(word: bytes) -> int:
    """Of `1,3` two; of what is no label none: a bad line may begin with anything."""
    try:
        return len([float(label) for label in word.split(b",")])
    except ValueError:
        return 0


def nameless(features: FeatureStep) -> FeatureStep:
    """The same without the names it has kept, which no row needs: small enough to go out with every part."""
    twin = copy(features)
    twin.__dict__.pop("names_", None)
    if "names" in twin.get_params(deep=False):
        twin.set_params(names=False)
    if "texts_" in vars(twin):
        twin.texts_ = {name: nameless(text) for name, text in twin.texts_.items()}
    return twin


def wide_enough(rows: Rows) -> Rows:
    """Rows that are all empty get a column; a table that has none but its target is refused."""
    shape = getattr(rows, "shape", (0, 1))
    if len(shape) < 2 or shape[1]:
        return rows
    if not sp.issparse(rows):
        raise BadInput("the data have no column beside the target; there is nothing to learn from")
    return as_wide(rows, 1)


def _task_of_set(name: str) -> str | None:
    """Numbers that are whole look like classes; the catalogue knows better."""
    from ...sources.datasets import catalogue

    return NUMBERS if catalogue.names()[name].task == catalogue.NUMBERS else None


def format_of_data(path: str) -> str:
    """By its ending; a word that is no path may have been meant as a set's name."""
    try:
        return format_of(path)
    except NoFile:
        if os.sep in path:
            raise
        raise NoFile(
            f"there is no file {shown(path, 100)}, and no set of that name; wanted a path, a glob, '-' for "
            "standard input, or a name that 'onmargin data list' tells"
        ) from None


def is_set(name: str) -> bool:
    """Is it the name of a set, and no path?"""
    if os.path.exists(name) or os.sep in name or name == "-":
        return False
    from ...sources.datasets.catalogue import names

    return name.removesuffix(TEST) in names()


def source_options(format: str) -> list[str]:
    """Names of the options of a format's `stream` that a user may give."""
    return [name for name in signature(module_of(format).stream).parameters if name not in TAKEN]


def feature_options(format: str, text: bool = False) -> list[str]:
    """Names of the parameters of a format's features."""
    kind = _kind(format, text)
    return [] if kind is None else list(signature(kind.__init__).parameters)[1:]


def _kind(format: str, text: bool) -> type[FeatureStep] | None:
    if format == "svmlight":
        return None
    from ...features.namespaces import Namespaces
    from ...features.table import Table
    from ...features.text import Text

    if format == "vw":
        return Namespaces
    return Text if format == "text" or text else Table


def features_for(format: str, given: Mapping[str, object], text: bool = False) -> FeatureStep | None:
    """What makes rows of a format's raw ones, names of features kept; None where they are numbers already."""
    kind = _kind(format, text)
    known = feature_options(format, text)
    for name in given:
        if name not in known:
            has = [*source_options(format), *known]
            raise BadInput(
                f"neither the algorithm nor {format} has an option {shown(name)}; {format} has "
                f"{', '.join(has)}"
            )
    if kind is None:
        return None
    chosen = dict(given)
    if isinstance(chosen.get("interactions"), str):
        chosen["interactions"] = (chosen["interactions"],)
    if "interactions" in chosen and format in TABLES:
        chosen["interactions"] = [
            str(one).split("*") for one in cast("Sequence[object]", chosen["interactions"])
        ]
    if "names" in known:
        chosen = {"names": True, **chosen}
    made: FeatureStep = kind(**chosen)
    if "text" in known and "text" not in chosen:
        from ...features.text import Text

        made.set_params(text=Text(names=True))
    return made
