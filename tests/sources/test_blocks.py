"""Blocks are cut and joined without a change; a source gives blocks of one size, never narrower."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

from onmargin.errors import BadInput
from onmargin.sources.blocks import Block, Source, cut, height, is_source, joined, regrouped


class Given:
    """Pieces that are there already."""

    again, live, skipped, bytes_read, bytes_total, files = True, False, 0, 0, None, ()

    def __init__(self, pieces: list[Block], live: bool = False) -> None:
        self.given, self.live = pieces, live

    def key(self) -> None:
        return None

    def pieces(self) -> Iterator[Block]:
        return iter(self.given)


def pieces(sizes: list[int], sparse: bool = True) -> list[Block]:
    draw = np.random.default_rng(0)
    made = []
    for width, size in enumerate(sizes):
        X = sp.random(size, 5 + width, 0.4, "csr", rng=draw)
        y = draw.standard_normal(size)
        made.append(Block(X if sparse else X.toarray()[:, :5], y, y + 1))
    return made


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 7, 100])
@pytest.mark.parametrize("first", [0, 3, 11, 50])
def test_blocks_of_one_size(rows, first, sparse):
    given = pieces([4, 0, 9, 1, 13], sparse)
    whole = joined(given)
    assert height(whole.rows) == 27
    source = Source(Given(given), rows=rows)
    blocks = list(source.blocks(first))
    sizes = [height(block.rows) for block in blocks]
    assert sum(sizes) == max(27 - first, 0) and all(size == rows for size in sizes[:-1])
    assert source.seen == first + sum(sizes)
    widths = [block.rows.shape[1] for block in blocks]
    assert widths == sorted(widths)
    if not blocks:
        return
    found, wanted = joined(blocks), cut(whole, first, 27)
    dense = [rows.toarray() if sparse else rows for rows in (found.rows, wanted.rows)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(found.targets, wanted.targets)
    np.testing.assert_array_equal(found.weights, wanted.weights)
    assert found.groups is None and found.ids is None


def test_stacked_matrices_are_scipys():
    given = pieces([4, 0, 9])
    stacked = joined(given).rows
    wide = [sp.csr_matrix((b.rows.data, b.rows.indices, b.rows.indptr), (b.rows.shape[0], 7)) for b in given]
    assert (stacked != sp.vstack(wide)).nnz == 0
    stacked.check_format(full_check=True)
    cut(joined(given), 2, 9).rows.check_format(full_check=True)


def test_what_is_alive_does_not_wait():
    sizes = [height(block.rows) for block in regrouped(pieces([2, 9, 1]), 4, at_once=True)]
    assert sizes == [2, 4, 4, 1, 1]


def test_lists_texts_and_frames_are_joined():
    one = Block([(1.0,), ()], np.array(["a", "bcd"]))
    two = Block([(2.0, 3.0)], np.array([1.5]))
    both = joined([one, two])
    assert both.rows == [(1.0,), (), (2.0, 3.0)] and list(both.targets) == ["a", "bcd", 1.5]
    pd = pytest.importorskip("pandas")
    frames = [Block(pd.DataFrame({"x": [1, 2]}), None), Block(pd.DataFrame({"x": [3]}), None)]
    assert list(cut(joined(frames), 1, 3).rows["x"]) == [2, 3]
    pa = pytest.importorskip("pyarrow")
    tables = [Block(pa.table({"x": [1, 2]}), None), Block(pa.table({"x": [3]}), None)]
    assert cut(joined(tables), 1, 3).rows.to_pydict() == {"x": [2, 3]}


class Twice:
    """Features that learn."""

    def __init__(self) -> None:
        self.rows = 0

    def partial_fit(self, rows: np.ndarray) -> None:
        self.rows += len(rows)

    def transform(self, rows: np.ndarray) -> np.ndarray:
        return rows * 2


def test_features_see_every_block_before_it_goes_out():
    source = Source(Given([Block(np.ones((5, 2)), None)]), rows=2, features=Twice())
    assert [float(block.rows[0, 0]) for block in source] == [2.0, 2.0, 2.0] and source.features.rows == 5
    source.learns = False
    list(source)
    assert source.features.rows == 5


def test_refusals():
    with pytest.raises(BadInput, match="rows=0"):
        Source(Given([]), rows=0)
    with pytest.raises(BadInput, match="no example"):
        Source(Given([])).whole()
    assert is_source(Source(Given([]))) and not is_source(np.ones(3))
