"""Generated streams beyond one fixed rule: many classes, several views, rules that change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import BadInput
from .generated import Seed, Stream


class Views(NamedTuple):
    """Several views of the same examples, their classes, and which views tell anything of them."""

    X: list[np.ndarray]
    y: np.ndarray
    informative: np.ndarray


def views(
    n: int = 1000,
    views: int = 20,
    classes: int = 5,
    *,
    informative: int = 4,
    d: int = 10,
    noise: float = 1.0,
    seed: Seed = 0,
) -> Views:
    """Views for learning with many kernels: in the informative ones a class has a mean, the others are noise.

    >>> seen = views(20, 6, 3, informative=2, seed=1)
    >>> len(seen.X), seen.X[0].shape, int(seen.informative.sum())
    (6, (20, 10), 2)
    """
    if n < 1 or d < 1 or classes < 2 or not 0 <= informative <= views or noise < 0:
        raise BadInput("wanted n and d >= 1, classes >= 2, informative in [0, views] and noise >= 0")
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=n)
    telling = np.zeros(views, bool)
    telling[draw.permutation(views)[:informative]] = True
    X = []
    for tells in telling:
        means = draw.standard_normal((classes, d)) if tells else np.zeros((classes, d))
        X.append(means[y] + noise * draw.standard_normal((n, d)))
    return Views(X, y, telling)


def keyword_patterns(
    n: int = 100_000,
    classes: int = 9,
    words: int = 400,
    *,
    own: int = 20,
    length: int = 20,
    label_noise: float = 0.05,
    seed: Seed = 0,
) -> Stream:
    """Bags of words of `classes` topics, rows of length about 1: a quarter are keywords of the topic.

    `label_noise` is the chance that a label is drawn anew. The comparator has a row for each class, 1 at its
    keywords.

    >>> stream = keyword_patterns(5, seed=1)
    >>> stream.X.shape, stream.comparator.shape
    ((5, 400), (9, 400))
    """
    import scipy.sparse as sp

    if n < 1 or classes < 2 or classes * own >= words or not 4 <= length <= 4 * own:
        raise BadInput("wanted n >= 1, classes >= 2, classes * own < words and length in [4, 4 own]")
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=n)
    keys = length // 4
    mine = y[:, None] * own + draw.random((n, own)).argsort(axis=1)[:, :keys]
    columns = np.c_[mine, draw.integers(classes * own, words, size=(n, length - keys))]
    starts = np.arange(0, columns.size + 1, length)
    X = sp.csr_matrix((np.full(columns.size, length**-0.5), columns.ravel(), starts), shape=(n, words))
    X.sum_duplicates()
    wrong = draw.random(n) < label_noise
    comparator = np.zeros((classes, words))
    for k in range(classes):
        comparator[k, k * own : (k + 1) * own] = 1.0
    return Stream(X, np.where(wrong, draw.integers(classes, size=n), y), comparator)


def switching(times: int = 8, every: int = 1000, d: int = 20, *, seed: Seed = 0) -> Stream:
    """A rule that changes every so many rounds: unit rows, y = sign <u_k, x>; the comparator has rows u_k.

    >>> stream = switching(2, 3, 4, seed=1)
    >>> stream.X.shape, stream.comparator.shape
    ((6, 4), (2, 4))
    """
    if times < 1 or every < 1 or d < 1:
        raise BadInput("wanted times, every and d of at least 1")
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(every * times, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    targets = draw.normal(size=(times, d))
    y = np.where(np.einsum("ij,ij->i", X, np.repeat(targets, every, axis=0)) > 0, 1, -1)
    return Stream(X, y, targets)


def drifting_classes(
    n: int = 10_000, classes: int = 5, d: int = 20, *, turn: float = 1e-3, noise: float = 0.3, seed: Seed = 0
) -> Stream:
    """Classes whose means turn slowly, `turn` radians a round; the comparator has the means at the end.

    >>> stream = drifting_classes(6, 3, 4, seed=1)
    >>> stream.X.shape, stream.comparator.shape
    ((6, 4), (3, 4))
    """
    if n < 1 or classes < 2 or d < 2 or noise < 0:
        raise BadInput("wanted n >= 1, classes >= 2, d >= 2 and noise >= 0")
    draw = np.random.default_rng(seed)
    start, toward = draw.standard_normal((2, classes, d))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    toward -= (toward * start).sum(axis=1, keepdims=True) * start
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    y = draw.integers(classes, size=n)
    angle = turn * np.arange(n)[:, None]
    X = np.cos(angle) * start[y] + np.sin(angle) * toward[y] + noise * draw.standard_normal((n, d))
    return Stream(X, y, np.cos(turn * n) * start + np.sin(turn * n) * toward)


def related_tasks(
    n: int = 1000,
    few: int = 50,
    d: int = 20,
    *,
    apart: float = 0.3,
    label_noise: float = 0.05,
    seed: Seed = 0,
) -> tuple[Stream, Stream]:
    """Two tasks for transfer: n rows labelled by u, and a few by u + something of length `apart` |u|.

    >>> source, target = related_tasks(30, 5, 4, seed=1)
    >>> source.X.shape, target.X.shape
    ((30, 4), (5, 4))
    """
    if n < 1 or few < 1 or d < 1 or apart < 0 or not 0 <= label_noise <= 1:
        raise BadInput("wanted n, few and d >= 1, apart >= 0 and label_noise in [0, 1]")
    draw = np.random.default_rng(seed)
    u, away = draw.standard_normal((2, d))
    found = []
    for rows, rule in ((n, u), (few, u + apart * np.linalg.norm(u) / np.linalg.norm(away) * away)):
        X = draw.standard_normal((rows, d))
        y = np.where(X @ rule >= 0, 1, -1)
        found.append(Stream(X, np.where(draw.random(rows) < label_noise, -y, y), rule))
    return found[0], found[1]
