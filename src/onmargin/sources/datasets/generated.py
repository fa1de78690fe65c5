"""Generated streams whose best linear rule is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import BadInput

Seed = int | Sequence[int] | None


class Stream(NamedTuple):
    """Examples, their labels, and a comparator that the generator knows: its rule, or the best one."""

    X: np.ndarray
    y: np.ndarray
    comparator: np.ndarray


def ellipses(
    n: int = 4000, *, label_noise: float = 0.0, instance_noise: float = 0.0, seed: Seed = 0
) -> Stream:
    """Two elongated Gaussians: x = y (1, 1) + N(0, diag(0.2, 2)), y a fair coin.

    `instance_noise` adds N(0, sigma^2 I) to x; `label_noise` is the chance that the label is flipped.

    >>> stream = ellipses(5, seed=1)
    >>> stream.X.shape, sorted(set(stream.y.tolist()))
    ((5, 2), [-1, 1])
    """
    if n < 1 or not 0 <= label_noise <= 1 or instance_noise < 0:
        raise BadInput("wanted n >= 1, label_noise in [0, 1] and instance_noise >= 0")
    draw = np.random.default_rng(seed)
    y = np.where(draw.random(n) < 0.5, 1, -1)
    X = y[:, None] + draw.standard_normal((n, 2)) * np.sqrt([0.2, 2.0])
    X += instance_noise * draw.standard_normal((n, 2))
    shown = np.where(draw.random(n) < label_noise, -y, y)
    variances = np.array([0.2, 2.0]) + instance_noise**2
    return Stream(X, shown, 1.0 / variances)


def sparse_words(
    n: int = 1000, d: int = 10_000, words: int = 50, *, label_noise: float = 0.05, seed: Seed = 0
) -> Stream:
    """Bags of words with Zipf frequencies (CSR), labelled by a hidden weight per word.

    >>> stream = sparse_words(4, 100, 5, seed=1)
    >>> stream.X.shape, stream.X.nnz
    ((4, 100), 20)
    """
    import scipy.sparse as sp

    if n < 1 or not 1 <= words <= d or not 0 <= label_noise <= 1:
        raise BadInput("wanted n >= 1, words in [1, d] and label_noise in [0, 1]")
    draw = np.random.default_rng(seed)
    chance = np.cumsum(1.0 / np.arange(1, d + 1))
    columns = np.empty((n, words), np.int32)
    for row in range(n):
        own: set[int] = set()
        while len(own) < words:
            more = np.searchsorted(chance, chance[-1] * draw.random(words - len(own)))
            own.update(int(column) for column in more)
        columns[row] = sorted(own)
    X = sp.csr_matrix(
        (draw.random(n * words) + 0.5, columns.ravel(), np.arange(0, n * words + 1, words, dtype=np.int32)),
        shape=(n, d),
    )
    hidden = draw.standard_normal(d)
    y = np.where(X @ hidden >= 0, 1, -1)
    return Stream(X, np.where(draw.random(n) < label_noise, -y, y), hidden)


def separable(
    n: int = 1000, d: int = 10, *, margin: float = 0.1, label_noise: float = 0.0, seed: Seed = 0
) -> Stream:
    """Points in the unit ball, y <u, x> >= `margin`, |u| = 1: a Perceptron errs at most 1 / margin^2 times.

    `label_noise` is the chance that a label is flipped; then no u separates them.

    >>> stream = separable(50, 3, margin=0.2, seed=1)
    >>> bool((stream.y * (stream.X @ stream.comparator)).min() >= 0.2)
    True
    """
    if n < 1 or d < 1 or not 0 < margin < 1 or not 0 <= label_noise <= 1:
        raise BadInput("wanted n >= 1, d >= 1, margin in (0, 1) and label_noise in [0, 1]")
    draw = np.random.default_rng(seed)
    u = draw.standard_normal(d)
    u /= np.linalg.norm(u)
    y = np.where(draw.random(n) < 0.5, 1, -1)
    along = margin + (1.0 - margin) * draw.random(n)
    across = draw.standard_normal((n, d))
    across -= np.outer(across @ u, u)
    lengths = np.linalg.norm(across, axis=1)
    room = np.sqrt(1.0 - along**2) * draw.random(n) / np.where(lengths > 0, lengths, 1.0)
    along = np.nextafter(along, 1.0) * (1.0 + 1e-12)  # (what rounding takes away stays on the right side)
    X = (y * along)[:, None] * u + across * room[:, None]
    return Stream(X, np.where(draw.random(n) < label_noise, -y, y), u)


def circle(n: int = 10_000, *, seed: Seed = 0) -> Stream:
    """Uniform points of the unit circle, P[y = 1] = (1 + <u, x>) / 2, |u| = 1.

    >>> stream = circle(4, seed=1)
    >>> stream.X.shape, round(float(np.linalg.norm(stream.comparator)), 12)
    ((4, 2), 1.0)
    """
    if n < 1:
        raise BadInput(f"n={n}; wanted a whole number of at least 1")
    draw = np.random.default_rng(seed)
    angles, toward = draw.uniform(0, 2 * np.pi, n), draw.uniform(0, 2 * np.pi)
    y = np.where(draw.random(n) < (1 + np.cos(angles - toward)) / 2, 1, -1)
    return Stream(np.c_[np.cos(angles), np.sin(angles)], y, np.array([np.cos(toward), np.sin(toward)]))


def imbalanced(
    n: int = 5000,
    d: int = 10,
    *,
    share: float = 0.02,
    shift: float = 0.35,
    offset: float = 0.5,
    seed: Seed = 0,
) -> Stream:
    """Few positives: x = N((offset + shift y) 1, I), a share of +1. The comparator's last entry is its bias.

    It has the smallest sum of the two classes' errors: equal chances halfway between the means.

    >>> stream = imbalanced(1000, seed=1)
    >>> float((stream.y == 1).mean()), stream.comparator.shape
    (0.016, (11,))
    """
    if n < 1 or d < 1 or not 0 < share < 1:
        raise BadInput("wanted n >= 1, d >= 1 and share in (0, 1)")
    draw = np.random.default_rng(seed)
    y = np.where(draw.random(n) < share, 1, -1)
    X = draw.normal(offset + shift * y[:, None], 1.0, (n, d))
    return Stream(X, y, 2 * shift * np.r_[np.ones(d), -d * offset])
