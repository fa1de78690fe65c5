"""Real sets by name, in the folder that ONMARGIN_DATA names: what there is, and how it is loaded."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from ...errors import BadInput, NoFile, shown
from ..blocks import ROWS, Rows, Source
from ..real import Split, folder

BY = "CC BY 4.0 (UCI)"
RESEARCH = "research use, no explicit licence"
BINARY, MULTI, LABELS = "binary", "multiclass", "multilabel"
NUMBERS, RANKS, WORDS = "regression", "ranking", "binary, raw text"


class Entry(NamedTuple):
    """One set: `rows` to learn from, `test_rows` apart, columns (0: raw text), classes or labels."""

    name: str
    task: str
    rows: int
    test_rows: int
    columns: int
    classes: int
    licence: str
    about: str
    files: tuple[str, ...]
    test_files: tuple[str, ...] = ()
    reads: str = "svmlight"  # how its files are read

    @property
    def is_here(self) -> bool:
        """Are its files in the folder?"""
        return all((folder() / file).exists() for file in (*self.files, *self.test_files))

    @property
    def bytes(self) -> int:
        """Of its files, as far as they are here."""
        return sum(
            path.stat().st_size
            for file in (*self.files, *self.test_files)
            if (path := folder() / file).exists()
        )


class Listing(dict[str, Entry]):
    """Entries by name; printed as a table."""

    def __repr__(self) -> str:
        head = ("name", "task", "rows", "test", "columns", "classes", "here", "licence")
        lines = [head] + [
            (e.name, e.task, f"{e.rows:,}", f"{e.test_rows:,}" if e.test_rows else "-",
             f"{e.columns:,}" if e.columns else "text", str(e.classes or "-"), "yes" if e.is_here else "no",
             e.licence)
            for e in self.values()
        ]  # fmt: skip
        widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _small(name: str, rows: int, columns: int, about: str, classes: int = 2, licence: str = BY) -> Entry:
    task = BINARY if classes == 2 else MULTI
    return Entry(name, task, rows, 0, columns, classes, licence, about, (f"small/{name}.gz",))


def _labelled(name: str, rows: int, test: int, columns: int, classes: int, about: str) -> Entry:
    train, later = ((f"multilabel/{name}/{name}.{part}.gz",) for part in ("train", "test"))
    licence = f"Mulan collection, {RESEARCH}"
    return Entry(name, LABELS, rows, test, columns, classes, licence, about, train, later, "labels")


def _parts(name: str, stem: str) -> tuple[str, ...]:
    return tuple(f"{name}/{stem}{number}.txt.xz" for number in range(1, 6))


VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")
ENTRIES = (
    Entry("a9a", BINARY, 32_561, 16_281, 123, 2, BY, "Adult income, binary coding", ("a9a/a9a.gz",),
          ("a9a/a9a.t.gz",)),
    Entry("a1a", BINARY, 1_605, 0, 123, 2, BY, "the first rows of Adult income", ("a9a/a1a.gz",)),
    Entry("usps", MULTI, 7_291, 2_007, 256, 10, RESEARCH, "handwritten digits, 16 x 16",
          ("usps/zip.train.gz",), ("usps/zip.test.gz",), "usps"),
    Entry("mnist", MULTI, 60_000, 10_000, 784, 10, "CC BY-SA 3.0", "handwritten digits, 28 x 28",
          ("mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"),
          ("mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"), "idx"),
    Entry("rcv1_small", BINARY, 1_000, 500, 47_236, 2, "research use", "Reuters news, CCAT or not, TF-IDF",
          ("rcv1_small/rcv1_ccat_1000.gz",), ("rcv1_small/rcv1_ccat_test_500.gz",)),
    Entry("news20", MULTI, 11_314, 7_532, 130_107, 20, RESEARCH, "20 Newsgroups by date, word counts",
          ("news20/news20_counts.train.svm.xz",), ("news20/news20_counts.test.svm.xz",)),
    Entry("reuters21578", LABELS, 7_770, 3_019, 10_176, 90, "research use (Reuters, Carnegie Group)",
          "newswire, 90 topics, word counts",
          ("reuters21578/r90_counts.train.svm.gz",), ("reuters21578/r90_counts.test.svm.gz",), "labels"),
    _labelled("scene", 1_211, 1_196, 294, 6, "images of scenes"),
    _labelled("yeast", 1_500, 917, 103, 14, "gene function"),
    _labelled("bibtex", 4_880, 2_515, 1_836, 159, "tags of bibliography entries"),
    Entry("mq2008", RANKS, 15_211, 0, 46, 3, "LETOR 4.0 agreement (research use)",
          "documents by query, 784 queries", _parts("mq2008", "S")),
    Entry("mq2007_agg", RANKS, 69_623, 0, 21, 3, "LETOR 4.0 agreement (research use)",
          "ranks by 21 systems, NaN where not listed, 1,692 queries",
          _parts("mq2007_agg", "A"), reads="null"),
    Entry("lightgbm_rank", RANKS, 3_005, 768, 300, 5, "MIT", "ranking demo of LightGBM, 201 and 50 queries",
          ("lightgbm_rank/rank.train.gz", "lightgbm_rank/rank.train.query"),
          ("lightgbm_rank/rank.test.gz", "lightgbm_rank/rank.test.query"), "query"),
    Entry("sms_spam", WORDS, 5_574, 0, 0, 2, BY, "SMS messages, ham or spam",
          ("sms_spam/SMSSpamCollection.gz",), reads="text"),
    Entry("enron_spam", WORDS, 33_715, 0, 0, 2, RESEARCH,
          "e-mails of six mailboxes in time order, ham or spam", ("enron_spam/enron_spam.jsonl.xz",),
          reads="jsonl"),
    Entry("elec2", BINARY, 45_312, 0, 6, 2, "public", "electricity prices in time order, up (1) or not",
          ("elec2/elec.csv.gz",), reads="csv"),
    Entry("abalone", NUMBERS, 4_177, 0, 10, 0, BY, "rings of abalone; sex as three columns M, F, I",
          ("abalone/abalone.data.gz",), reads="abalone"),
    Entry("california", NUMBERS, 20_640, 0, 8, 0, "public", "house prices in dollars",
          ("california/cal_housing.data.gz",), reads="plain csv"),
    Entry("mfeat", MULTI, 2_000, 0, 649, 10, BY, f"Dutch digits, six views side by side: {' '.join(VIEWS)}",
          tuple(f"mfeat/mfeat-{view}.csv.gz" for view in VIEWS), reads="views"),
    _small("ionosphere", 351, 34, "radar returns"),
    _small("sonar", 208, 60, "rocks and mines"),
    _small("diabetes", 768, 8, "Pima, unscaled"),
    _small("breast_cancer_wisconsin", 683, 9, "complete rows"),
    _small("german.numer", 1_000, 24, "German credit, numeric"),
    _small("heart", 270, 13, "unscaled"),
    _small("spambase", 4_601, 57, "spam by word frequencies"),
    _small("magic04", 19_020, 10, "gamma telescope; sorted by class"),
    Entry("svmguide1", BINARY, 3_089, 4_000, 4, 2, "LIBSVM data page", "astroparticles",
          ("small/svmguide1.gz",), ("small/svmguide1.t.gz",)),
    _small("dna_splice", 3_186, 180, "splice junctions, binary coding", 3),
    _small("vehicle", 846, 18, "silhouettes", 4),
)  # fmt: skip


def names() -> Listing:
    """Every set there is, with task, size and licence, whether it is here or not.

    >>> import onmargin as om
    >>> entry = om.datasets.names()["a9a"]
    >>> entry.task, entry.rows, entry.test_rows, entry.licence
    ('binary', 32561, 16281, 'CC BY 4.0 (UCI)')
    """
    return Listing({entry.name: entry for entry in ENTRIES})


class Examples(NamedTuple):
    """Rows and targets of a set without a test set of its own."""

    X: Rows
    y: np.ndarray


class Queries(NamedTuple):
    """Rows, relevances and the query of each row."""

    X: Rows
    y: np.ndarray
    groups: np.ndarray


Loaded = Examples | Split | Queries | Source


def load(name: str, *, part: str | None = None, as_source: bool = False, rows: int = ROWS) -> Loaded:
    """A real set by name: (X, y); (X, y, X_test, y_test) where it has a test set; (X, y, groups) for ranking.

    part : "train" or "test" alone.
    as_source : blocks of `rows` examples instead, in the order of the file (`part`, or "train").

    The files are looked for in the folder that ONMARGIN_DATA names; `om.datasets.names()` lists them.
    """
    entry = entry_of(name)
    if part not in (None, "train", "test") or (part == "test" and not entry.test_files):
        raise BadInput(
            f"part={shown(part)}; {name} has {'train and test' if entry.test_files else 'train only'}"
        )
    if not entry.is_here:
        missing = next(file for file in (*entry.files, *entry.test_files) if not (folder() / file).exists())
        where = os.path.abspath(folder())
        raise NoFile(f"{missing} of {name} is not in {where}; set ONMARGIN_DATA to the folder that has it")
    from .loading import load_part, stream_part

    if as_source:
        return stream_part(entry, entry.test_files if part == "test" else entry.files, rows)
    if entry.test_files and part is None and entry.task != RANKS:
        (X, y, _), (X_test, y_test, _) = (
            load_part(entry, files) for files in (entry.files, entry.test_files)
        )
        return Split(X, y, X_test, y_test)
    X, y, groups = load_part(entry, entry.test_files if part == "test" else entry.files)
    return Examples(X, y) if groups is None else Queries(X, y, groups)


def entry_of(name: str) -> Entry:
    known = names()
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        raise BadInput(f"there is no set {shown(name)}; {hint}")
    return known[name]
