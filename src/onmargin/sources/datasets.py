"""Generated streams whose best linear rule is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import BadInput


class Stream(NamedTuple):
    """Examples, labels -1 and +1, and a comparator u that the generator knows."""

    X: np.ndarray
    y: np.ndarray
    comparator: np.ndarray


def ellipses(
    n: int = 4000, *, label_noise: float = 0.0, instance_noise: float = 0.0, seed: int | None = 0
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
    n: int = 1000, d: int = 10_000, words: int = 50, *, label_noise: float = 0.05, seed: int | None = 0
) -> Stream:
    """Bags of words with Zipf frequencies (CSR), labelled by a hidden weight per word.

    >>> stream = sparse_words(4, 100, 5, seed=1)
    >>> stream.X.shape, stream.X.nnz
    ((4, 100), 20)
    """
    import scipy.sparse as sp

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
