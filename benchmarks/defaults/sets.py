"""The real sets as tasks: rows, targets, and how they are split, scaled and ordered."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from onmargin.sources import real

from ..datasets import ROOT

KEPT = ROOT / "out" / "defaults" / "sets"  # hashed texts: read once, out of git
HASHED = 2**18
MNIST_ROWS = 10_000
SPLITS = 3
LARGE = 1_000_000  # entries
SHARE = 0.7  # of the rows are learned where no test set is given

CLASSES, LABEL_SETS, NUMBERS, QUERIES = "classes", "label sets", "numbers", "queries"


class Part(NamedTuple):
    """Rows to learn from and rows to be judged on; a stream has no second ones."""

    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: Any = None
    qid: Any = None
    qid_test: Any = None


class Set(NamedTuple):
    """A task. `splits` are given (then shuffled only), or None: drawn at random."""

    kind: str
    X: Any
    y: np.ndarray
    splits: list[Part] | None = None
    scaled: bool = False
    ordered: bool = False  # a stream whose order means something
    stream_only: bool = False  # its rows are another set's
    qid: Any = None


def _taken(X: Any, rows: np.ndarray) -> Any:
    return X[rows]


def _standardised(part: Part) -> Part:
    """By the rows learned from, as a user would."""
    scaler = StandardScaler().fit(part.X)
    test = None if part.X_test is None else scaler.transform(part.X_test)
    return part._replace(X=scaler.transform(part.X), X_test=test)


def _drawn(data: Set, rng: np.random.Generator) -> Part:
    """A random split; queries stay whole."""
    if data.qid is None:
        order = rng.permutation(len(data.y))
        cut = int(SHARE * len(order))
        train, test = order[:cut], order[cut:]
        return Part(_taken(data.X, train), data.y[train], _taken(data.X, test), data.y[test])
    queries = rng.permutation(np.unique(data.qid))
    learned = np.isin(data.qid, queries[: int(SHARE * len(queries))])
    qid, qid_test = data.qid[learned], data.qid[~learned]
    return Part(data.X[learned], data.y[learned], data.X[~learned], data.y[~learned], qid, qid_test)


def _shuffled(part: Part, rng: np.random.Generator) -> Part:
    if part.qid is not None:
        return part
    order = rng.permutation(len(part.y))
    return part._replace(X=_taken(part.X, order), y=part.y[order])


def split(data: Set, number: int) -> Part:
    """Train and test number 0, 1, ...: the given test set, train rows shuffled; or a random 70/30 split."""
    rng = np.random.default_rng(number)
    if data.splits is None:
        part = _drawn(data, rng)
    else:
        part = _shuffled(data.splits[number % len(data.splits)], rng)
    return _standardised(part) if data.scaled else part


def stream(data: Set, number: int) -> Part:
    """All rows to learn from, shuffled anew for every number; in their own order where it means something."""
    part = Part(data.X, data.y)
    if data.scaled:
        part = _standardised(part)
    return part if data.ordered else _shuffled(part, np.random.default_rng(number))


def runs(data: Set, job: str, wanted: int | None = None) -> int:
    """How many splits or orders; large sets vary little and take long, and one order is one."""
    if job == "online" and data.ordered:
        return 1
    entries = data.X.nnz if sp.issparse(data.X) else data.X.size
    return wanted or (1 if entries > LARGE or (job == "online" and len(data.y) > 10_000) else SPLITS)


# Loaders


def _given(found: real.Split, kind: str = CLASSES, **options: Any) -> Set:
    part = Part(found.X, found.y, found.X_test, found.y_test)
    return Set(kind, found.X, found.y, [part], **options)


def _mnist() -> Set:
    tables = []
    for name, rows in (("train", MNIST_ROWS), ("t10k", 10_000)):
        with real.opened(f"mnist/{name}-images-idx3-ubyte.gz") as file:
            X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:rows] / 255.0
        with real.opened(f"mnist/{name}-labels-idx1-ubyte.gz") as file:
            y = np.frombuffer(file.read(), np.uint8, offset=8)[:rows].astype(int)
        tables += [sp.csr_matrix(X), y]
    return _given(real.Split(*tables))


def _rcv1() -> Set:
    parts = [real.svmlight(f"rcv1_small/rcv1_ccat_{name}.gz", 47_236) for name in ("1000", "test_500")]
    (X, y), (X_test, y_test) = parts
    return _given(real.Split(X, y.astype(int), X_test, y_test.astype(int)))


def _weighted(found: real.Split) -> real.Split:
    words = TfidfTransformer(sublinear_tf=True).fit(found.X)
    return found._replace(X=words.transform(found.X), X_test=words.transform(found.X_test))


def _news20(tfidf: bool) -> Set:
    return _given(_weighted(real.news20()) if tfidf else real.news20())


def _reuters() -> Set:
    return _given(_weighted(real.reuters()), LABEL_SETS)


def _hashed(name: str, read: Callable[[], tuple[list[str], np.ndarray]]) -> tuple[Any, np.ndarray]:
    """Counts of words hashed into 2^18 columns; kept, as hashing mails takes half a minute."""
    path = KEPT / f"{name}.npz"
    if not path.exists():
        texts, y = read()
        X = HashingVectorizer(n_features=HASHED, alternate_sign=False, norm=None).transform(texts)
        KEPT.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{name}.{np.random.default_rng().integers(1 << 40):x}.npz")
        np.savez(draft, data=X.data, indices=X.indices, indptr=X.indptr, y=y)
        draft.replace(path)
    with np.load(path) as kept:
        X = sp.csr_matrix((kept["data"], kept["indices"], kept["indptr"]), shape=(len(kept["y"]), HASHED))
        return X, kept["y"]


def _sms_texts() -> tuple[list[str], np.ndarray]:
    with real.opened("sms_spam/SMSSpamCollection.gz") as file:
        lines = [line.rstrip("\n").split("\t", 1) for line in file.read().decode("utf-8").split("\n") if line]
    return [text for _, text in lines], np.array([int(label == "spam") for label, _ in lines])


def _mails() -> tuple[list[str], np.ndarray]:
    """Six mailboxes, one after the other, each in order of time."""
    with real.opened("enron_spam/enron_spam.jsonl.xz") as file:
        mails = [json.loads(line) for line in file]
    return [mail["text"] for mail in mails], np.array([int(mail["label"] == "spam") for mail in mails])


def _formed(X: Any, form: str) -> Any:
    """Counts as they are, as 0 and 1, as log(1 + count), with rows of length 1, or TF-IDF."""
    if form == "tfidf":
        return TfidfTransformer(sublinear_tf=True).fit_transform(X)
    X = X.copy()
    if form == "binary":
        X.data[:] = 1.0
    if form == "log":
        X.data = np.log1p(X.data)
    return normalize(X) if form == "unit" else X


def _sms(form: str) -> Set:
    X, y = _hashed("sms", _sms_texts)
    return Set(CLASSES, _formed(X, form), y)


def _enron(form: str, ordered: bool = False) -> Set:
    X, y = _hashed("enron", _mails)
    return Set(CLASSES, _formed(X, form), y, ordered=ordered, stream_only=ordered)


def _table(name: str, skip: int = 1) -> tuple[np.ndarray, np.ndarray]:
    with real.opened(name) as file:
        D = np.loadtxt(file, delimiter=",", skiprows=skip)
    return D[:, :-1], D[:, -1]


def _against_rest(name: str, label: int) -> Set:
    """A rare class: one of several against all others."""
    data = load(name)
    given = data.splits and [
        part._replace(y=_is(part.y, label), y_test=_is(part.y_test, label)) for part in data.splits
    ]
    return data._replace(kind=CLASSES, y=_is(data.y, label), splits=given)


def _is(y: np.ndarray, label: int) -> np.ndarray:
    return y[:, label] if y.ndim == 2 else (y == label).astype(int)


def _elec2() -> Set:
    X, y = _table("elec2/elec.csv.gz")
    return Set(CLASSES, X, y.astype(int), ordered=True)


def _mfeat(view: str) -> Set:
    X, y = _table(f"mfeat/mfeat-{view}.csv.gz")
    return Set(CLASSES, X, y.astype(int), scaled=True)


def _small(name: str, columns: int, scaled: bool) -> Set:
    X, y = real.svmlight(f"small/{name}.gz", columns)
    X, y = X.toarray(), y.astype(int)
    if name != "svmguide1":
        return Set(CLASSES, X, y, scaled=scaled)
    X_test, y_test = real.svmlight("small/svmguide1.t.gz", columns)
    return _given(real.Split(X, y, X_test.toarray(), y_test.astype(int)), scaled=scaled)


def _multilabel(name: str, columns: int, labels: int, scaled: bool) -> Set:
    found: list[Any] = []
    for part in ("train", "test"):
        X, own = real.svmlight(f"multilabel/{name}/{name}.{part}.gz", columns, multilabel=True)
        y = np.zeros((len(own), labels), int)
        for row, which in enumerate(own):
            y[row, np.asarray(which, int)] = 1
        found += [X.toarray() if scaled else X, y]
    return _given(real.Split(*found), LABEL_SETS, scaled=scaled)


def _abalone(scaled: bool) -> Set:
    with real.opened("abalone/abalone.data.gz") as file:
        lines = [line.strip().split(",") for line in file.read().decode().splitlines()]
    X = [[float(sex == line[0]) for sex in "MFI"] + [float(v) for v in line[1:-1]] for line in lines]
    return Set(NUMBERS, np.array(X), np.array([float(line[-1]) for line in lines]), scaled=scaled)


def _california(scaled: bool) -> Set:
    """Prices in 100,000 dollars, as scikit-learn has them; raw: in dollars."""
    X, y = _table("california/cal_housing.data.gz", 0)
    return Set(NUMBERS, X, y / 1e5 if scaled else y, scaled=scaled)


def _mq2008() -> Set:
    """Fold k: train on three parts, test on the last of the five, going round."""
    parts = real.mq2008()
    folds = []
    for first in range(SPLITS):
        turn = [parts[(first + k) % 5] for k in range(5)]
        X, y, qid = (np.concatenate([part[k] for part in turn[:3]]) for k in range(3))
        folds.append(Part(X, y, turn[4][0], turn[4][1], qid, turn[4][2]))
    return Set(QUERIES, folds[0].X, folds[0].y, folds, qid=folds[0].qid)


def _lightgbm_rank() -> Set:
    found = []
    for part in ("train", "test"):
        X, y = real.svmlight(f"lightgbm_rank/rank.{part}.gz", 300)
        sizes = np.loadtxt(real.folder() / f"lightgbm_rank/rank.{part}.query", dtype=int)
        found.append((X.toarray(), y, np.repeat(np.arange(len(sizes)), sizes)))
    (X, y, qid), (X_test, y_test, qid_test) = found
    return Set(QUERIES, X, y, [Part(X, y, X_test, y_test, qid, qid_test)], qid=qid)


def _mq2007_agg() -> Set:
    """Ranks by 21 search systems, as 1 / rank; 0 where a page was not listed."""
    X, y, qid = [], [], []
    for number in range(1, 6):
        with real.opened(f"mq2007_agg/A{number}.txt.xz") as file:
            for line in file.read().decode().splitlines():
                grade, query, *ranks = line.split("#")[0].split()
                y.append(float(grade))
                qid.append(int(query[4:]))
                X.append(
                    [0.0 if r.endswith("NULL") else 1.0 / max(1.0, float(r.split(":")[1])) for r in ranks]
                )
    return Set(QUERIES, np.array(X), np.array(y), qid=np.array(qid))


SMALL = {
    "ionosphere": ("ionosphere", 34), "sonar": ("sonar", 60), "diabetes": ("diabetes", 8),
    "breast": ("breast_cancer_wisconsin", 9), "german": ("german.numer", 24), "heart": ("heart", 13),
    "spambase": ("spambase", 57), "magic04": ("magic04", 10), "svmguide1": ("svmguide1", 4),
    "dna": ("dna_splice", 180), "vehicle": ("vehicle", 18),
}  # fmt: skip
VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")

GROUPS: dict[str, dict[str, Callable[[], Set]]] = {
    "text": {
        "rcv1": _rcv1,
        "news20": partial(_news20, True),
        "news20.counts": partial(_news20, False),
        "sms": partial(_sms, "tfidf"),
        "sms.counts": partial(_sms, "counts"),
        "enron": partial(_enron, "unit"),
        "enron.time": partial(_enron, "unit", ordered=True),
    },
    "forms": {f"enron.{form}": partial(_enron, form) for form in ("counts", "binary", "log", "tfidf")},
    "rare": {
        "usps.8": partial(_against_rest, "usps", 8),
        "mfeat.zer.0": partial(_against_rest, "mfeat.zer", 0),
        "news20.19": partial(_against_rest, "news20", 19),
        **{f"reuters.{label}": partial(_against_rest, "reuters", label) for label in (26, 86, 2)},
    },
    "dense": {
        "a9a": lambda: _given(real.adult()),
        "usps": lambda: _given(real.usps()),
        "mnist": _mnist,
        "elec2": _elec2,
        **{f"mfeat.{view}": partial(_mfeat, view) for view in VIEWS},
    },
    "small": {name: partial(_small, *where, True) for name, where in SMALL.items()},
    "raw": {f"{name}.raw": partial(_small, *where, False) for name, where in SMALL.items()},
    "labels": {
        "scene": partial(_multilabel, "scene", 294, 6, True),
        "yeast": partial(_multilabel, "yeast", 103, 14, True),
        "bibtex": partial(_multilabel, "bibtex", 1836, 159, False),
        "reuters": _reuters,
    },
    "numbers": {
        "abalone": partial(_abalone, True),
        "abalone.raw": partial(_abalone, False),
        "california": partial(_california, True),
        "california.raw": partial(_california, False),
    },
    "queries": {"mq2008": _mq2008, "lightgbm_rank": _lightgbm_rank, "mq2007_agg": _mq2007_agg},
}
SETS = {name: make for group in GROUPS.values() for name, make in group.items()}
KIND_OF_GROUP = {"labels": LABEL_SETS, "numbers": NUMBERS, "queries": QUERIES}  # others: classes
ASIDE = ("forms", "rare")  # groups that are measured only when asked for


def names(wanted: list[str] | None = None, kind: str | None = None) -> list[str]:
    """Sets by name or by group; None: all of a kind but those aside."""
    if wanted is None:
        groups = [g for g in GROUPS if g not in ASIDE and kind in (None, KIND_OF_GROUP.get(g, CLASSES))]
        return [name for group in groups for name in GROUPS[group]]
    found = []
    for word in wanted:
        if word not in GROUPS and word not in SETS:
            raise SystemExit(f"no set or group {word!r}; known are {', '.join([*GROUPS, *SETS])}")
        found += list(GROUPS.get(word, [word]))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=3)
def load(name: str) -> Set:
    """The set, read from the folder that ONMARGIN_DATA names."""
    return SETS[name]()


def where() -> Path:
    """The folder; a clear end where it is absent."""
    if not real.folder().is_dir():
        raise SystemExit(f"{real.folder()} is not there; set ONMARGIN_DATA to the folder of real sets")
    return real.folder()
