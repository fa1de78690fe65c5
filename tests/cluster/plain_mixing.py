"""Iterative parameter mixing in a few lines of NumPy, written from the paper: McDonald, Hall & Mann 2010."""

from __future__ import annotations

import numpy as np


def order_of(count: int, seed: int, epoch: int, number: int, place: int, shuffle: bool) -> np.ndarray:
    """The order of the rows of a block."""
    if not shuffle:
        return np.arange(count)
    return np.random.default_rng([seed, epoch, number, place]).permutation(count)


def reduced(vectors: list[np.ndarray | None], shares: list[float]) -> np.ndarray:
    """The mean, four at a time, in the order of the partitions; None has seen nothing."""
    while len(vectors) > 1:
        groups = [range(at, min(at + 4, len(vectors))) for at in range(0, len(vectors), 4)]
        vectors = [mean([vectors[i] for i in group], [shares[i] for i in group]) for group in groups]
        shares = [sum(shares[i] for i in group) for group in groups]
    assert vectors[0] is not None
    return vectors[0]


def mean(vectors: list[np.ndarray | None], shares: list[float]) -> np.ndarray | None:
    """Of several vectors in shares, as steps from the first; where nobody has a share, all have the same."""
    some = [(v, share) for v, share in zip(vectors, shares, strict=True) if v is not None]
    if not some:
        return None
    each = np.array([share for _, share in some])
    each = each / each.sum() if each.any() else np.ones(len(some)) / len(some)
    first = some[0][0]
    return np.asarray(first + sum(share * (v - first) for share, (v, _) in zip(each, some, strict=True)))


def perceptrons(
    parts: list[tuple[np.ndarray, np.ndarray]], epochs: int, mixing: str = "uniform", *, seed: int = 0,
    rows: int = 8192, shuffle: bool = True, constant: float = 0.0,
) -> tuple[np.ndarray, list[list[int]]]:  # fmt: skip
    """The mixed weights (of the constant coordinate last), and the updates of each partition by epoch."""
    width = parts[0][0].shape[1] + 1
    mixed, updates = np.zeros(width), []
    for epoch in range(1, epochs + 1):
        vectors, counts, sizes = [], [], []
        for number, (X, y) in enumerate(parts):
            w, moves = mixed.copy(), 0
            for place, at in enumerate(range(0, len(X), rows)):
                block = np.arange(at, min(at + rows, len(X)))
                for i in block[order_of(len(block), seed, epoch, number, place, shuffle)]:
                    x = np.append(X[i], constant)
                    if y[i] * (w @ x) <= 0:
                        w, moves = w + y[i] * x, moves + 1
            vectors.append(w if len(X) else None)
            counts.append(moves)
            sizes.append(len(X))
        updates.append(counts)
        shares = {"uniform": [1.0] * len(parts), "updates": counts, "examples": sizes}[mixing]
        mixed = reduced(
            vectors, [float(share) if size else 0.0 for share, size in zip(shares, sizes, strict=True)]
        )
        if not sum(counts):
            break
    return mixed, updates
