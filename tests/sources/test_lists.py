"""Sparse rows in Parquet: two columns of lists are the matrix that was written, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

import onmargin as om
from onmargin.errors import BadFile, BadInput

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(path, X, y, kinds=(None, None), **others):
    at = X.indptr
    lists = [
        pa.array([part[a:b] for a, b in zip(at[:-1], at[1:], strict=True)], kind)
        for part, kind in zip((X.indices, X.data), kinds, strict=True)
    ]
    table = pa.table({"label": y, "indices": lists[0], "values": lists[1], **others})
    pq.write_table(table, path, row_group_size=40)
    return path


@pytest.mark.parametrize("kinds", [(pa.list_(pa.int64()), None), (pa.large_list(pa.uint16()), None)])
def test_lists_are_the_matrix(tmp_path, kinds):
    X = sp.random(150, 60, 0.1, "csr", random_state=3)
    X.indices[X.indptr[7] : X.indptr[8]] = X.indices[X.indptr[7] : X.indptr[8]][::-1]  # in any order
    y = np.where(np.arange(150) % 3, "a", "b")
    path = written(tmp_path / "rows.parquet", X, y, kinds, age=np.arange(150))
    for rows in (1, 40, 1000):
        found = om.sources.parquet.stream(path, rows=rows, columns=60).whole()
        assert found.rows.has_canonical_format and found.rows.shape == (150, 60)
        assert (found.rows != X).nnz == 0 and found.targets.tolist() == y.tolist()
    parts = om.sources.split(path, parts=3)
    assert [part.glance()[1] for part in parts] == [X[:80].indices.max() + 1, X[80:120].indices.max() + 1,
                                                    X[120:].indices.max() + 1]  # fmt: skip
    wide = sp.vstack([block.rows for part in parts for block in part.as_wide(60).blocks(rows=7)])
    assert (wide != X).nnz == 0
    read, labels = om.sources.parquet.read(path)
    assert (read != X[:, : read.shape[1]]).nnz == 0 and labels.tolist() == y.tolist()


BAD = [
    ([1, 1], [2.0, 3.0], r"row 2, column 'indices': \[1, 1\]; wanted every index only once"),
    ([1, -1], [2.0, 3.0], r"row 2, column 'indices': \[1, -1\]; wanted indices from 0 to 8"),
    ([1, 9], [2.0, 3.0], r"row 2, column 'indices': \[1, 9\]; wanted indices from 0 to 8"),
    ([1], [2.0, 3.0], r"row 2, column 'values': \[2.0, 3.0\]; wanted as many values as indices"),
    (None, [2.0, 3.0], r"row 2, column 'indices': None; wanted a list of indices"),
    ([1, 2], None, r"row 2, column 'values': None; wanted a list of values"),
    ([1, 2], [2.0, float("nan")], r"row 2, column 'values': \[2.0, nan\]; wanted finite numbers"),
    ([1, 2], [2.0, None], r"row 2, column 'values': \[2.0, None\]; wanted finite numbers"),
]


@pytest.mark.parametrize(("indices", "values", "told"), BAD)
def test_a_bad_row_is_told_or_left_out(tmp_path, indices, values, told):
    path = tmp_path / "rows.parquet"
    table = {"y": [1, 2, 3], "indices": [[0, 8], indices, []], "values": [[1.0, 2.0], values, []]}
    pq.write_table(pa.table(table), path)
    with pytest.raises(BadFile, match=told):
        om.sources.parquet.stream(path, columns=9).whole()
    source = om.sources.parquet.stream(path, columns=9, on_error="skip")
    found = source.whole()
    assert source.skipped == 1 and found.targets.tolist() == [1, 3]
    assert found.rows.toarray().tolist() == [[1, 0, 0, 0, 0, 0, 0, 0, 2], [0] * 9]


def test_columns_of_other_names_and_kinds(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"y": [1, 2], "at": [[0], [1]], "x": [[1.0], [2.0]]}), path)
    found = om.sources.parquet.stream(path, indices="at", values="x").whole()
    assert found.rows.toarray().tolist() == [[1, 0], [0, 2]]
    with pytest.raises(BadInput, match="there is no column 'y' of lists; the columns are"):
        om.sources.parquet.stream(path, indices="y", values="x")
    with pytest.raises(BadInput, match="columns=3 is for sparse rows, and .* has no lists of indices"):
        om.sources.parquet.stream(path, columns=3)
    pq.write_table(pa.table({"y": [1, 2], "indices": [["a"], ["b"]], "values": [[1.0], [2.0]]}), path)
    with pytest.raises(BadInput, match="the column 'indices' holds lists of object; wanted numbers"):
        om.sources.parquet.stream(path).whole()
    pq.write_table(pa.table({"y": [1, 2], "indices": [1, 2], "values": [3, 4]}), path)  # numbers as others
    assert om.sources.parquet.stream(path, features=None).whole().rows.num_columns == 2
