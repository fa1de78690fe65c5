"""Entries of a CSR matrix, copied row by row."""

from __future__ import annotations

import numpy as np

from .parts import specialise


@specialise
def copy_entries(values, indices, starts, rows, ends, into_values, into_indices):
    """The entries of these rows, one row after the other; ends[i]: where those of rows[i] end."""
    at = 0
    for i in range(rows.size):
        first = starts[rows[i]]
        for j in range(ends[i] - at):
            into_values[np.uint64(at + j)] = values[np.uint64(first + j)]
            into_indices[np.uint64(at + j)] = indices[np.uint64(first + j)]
        at = ends[i]
    return at
