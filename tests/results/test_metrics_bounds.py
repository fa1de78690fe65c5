"""What the metrics obey: bounds, invariances, the edges, one line for bad input."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan, nan

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from onmargin.errors import BadInput
from onmargin.results import metrics

often = settings(deadline=None, max_examples=60, derandomize=True, database=None)
SLACK = 1e-12
seeds = st.integers(0, 2**32 - 1)

LISTS = ["mean_average_precision", "ndcg", "coverage", "ranking_loss", "one_error", "lrap"]
AREAS = ["auc", "auc_all_pairs", "auc_one_vs_all"]


def inputs(name, draw, rows=40, columns=4):
    """A truth and scores with ties that the metric takes."""
    if name in LISTS:
        return draw.integers(0, 2, (rows, columns)), draw.integers(-4, 5, (rows, columns)) / 2
    if name == "auc":
        return np.arange(rows) % 2, draw.integers(-4, 5, rows) / 2
    return np.arange(rows) % columns, draw.integers(-4, 5, (rows, columns)) / 2


@often
@given(seed=seeds, shift=st.floats(-2, 2))
def test_auc_error_is_at_most_the_sum_of_class_errors(seed, shift):
    """D3: for any threshold b; pairs and samples on the border count as errors."""
    draw = np.random.default_rng(seed)
    y = np.r_[0, 1, draw.integers(0, 2, 18)]
    scores = (draw.normal(size=20) + shift * y).round(draw.integers(0, 3))
    error = 1 - metrics.auc(y, scores, strict=True)
    assert 1 - metrics.auc(y, scores) <= error + SLACK
    for b in np.r_[-inf, np.unique(scores), np.unique(scores) + 0.005, inf]:
        assert error <= np.mean(scores[y == 1] <= b) + np.mean(scores[y == 0] >= b) + SLACK


def test_the_bound_on_auc_is_reached_with_all_errors_on_one_side():
    """Half the positives below every negative, the threshold at the highest of those: both sides are 1/2."""
    y, scores = [1, 1, 0, 0, 1, 1], [0, 1, 2, 3, 4, 5]
    assert 1 - metrics.auc(y, scores) == 0.5
    assert np.mean(np.array([0, 1, 4, 5]) <= 3.5) + np.mean(np.array([2, 3]) >= 3.5) == 0.5


@often
@given(seed=seeds, K=st.integers(2, 5))
def test_all_pairs_error_is_at_most_the_weighted_class_errors(seed, K):
    """D4: 1/K sum_k (E_k[M_k] + 1/(K-1) sum_{l != k} E_l[M_k]), a threshold for each classifier."""
    draw = np.random.default_rng(seed)
    y = np.r_[np.arange(K), draw.integers(0, K, 15)]
    scores = draw.normal(size=(len(y), K)).round(1) + draw.uniform(0, 3) * np.eye(K)[y].round(1)
    borders = draw.choice(scores.ravel(), K)
    right = 0.0
    for k in range(K):
        missed = np.mean(scores[y == k, k] <= borders[k])
        false = [np.mean(scores[y == other, k] >= borders[k]) for other in range(K) if other != k]
        right += (missed + np.mean(false)) / K
    assert 1 - metrics.auc_all_pairs(y, scores) <= right + SLACK


@often
@given(seed=seeds, K=st.integers(2, 6))
def test_losses_below_one_separate_the_labels_theorem_8(seed, K):
    """Losses of 0 leave a gap of 2: shaking the scores by less than 1 brings no labels out of order."""
    draw = np.random.default_rng(seed)
    Y = draw.integers(0, 2, (10, K))
    Y[:, 0] |= ~Y.any(axis=1)
    signs = 2 * Y - 1
    low, none = signs * draw.uniform(1e-9, 3, Y.shape), signs * draw.uniform(1, 3, Y.shape)
    assert (1 - signs * low < 1).all() and (1 - signs * none <= 0).all()
    for scores in (low, none, none + draw.uniform(-0.999, 0.999, Y.shape)):
        assert metrics.ranking_loss(Y, scores) == metrics.one_error(Y, scores) == 0
        assert (
            metrics.lrap(Y, scores)
            == metrics.mean_average_precision(Y, scores)
            == metrics.ndcg(Y, scores)
            == 1
        )
        assert metrics.coverage(Y, scores) == pytest.approx(Y.sum(axis=1).mean())
    mixed = (Y == 0).any(axis=1)
    if mixed.any():
        wrong, row = low.copy(), np.argmax(mixed)
        wrong[row, np.argmax(Y[row])] = low[row].min()  # a tie is enough
        assert metrics.ranking_loss(Y, wrong) > 0 and metrics.lrap(Y, wrong) < 1
        assert metrics.coverage(Y, wrong) > metrics.coverage(Y, low)


@pytest.mark.parametrize("name", LISTS + AREAS)
@pytest.mark.parametrize(
    "transform",
    [lambda s: 3 * s + 7, lambda s: s**3, np.exp, np.arctan, lambda s: np.where(s == 2, inf, s),
     lambda s: (4 * s).astype(int), lambda s: s.astype(np.float32), lambda s: s.tolist()],
)  # fmt: skip
def test_only_the_order_of_the_scores_matters(name, transform):
    metric = getattr(metrics, name)
    for seed in range(3):
        truth, scores = inputs(name, np.random.default_rng(seed))
        best = np.eye(4)[truth] if name in AREAS[1:] else truth
        assert metric(truth, transform(scores)) == metric(truth, scores) != metric(truth, best)


@often
@given(seed=seeds)
def test_the_areas_know_each_other(seed):
    draw = np.random.default_rng(seed)
    y, scores = inputs("auc", draw)
    value = metrics.auc(y, scores)
    assert metrics.auc(y, -scores) == metrics.auc(1 - y, scores) == pytest.approx(1 - value)
    two = np.column_stack([-scores, scores])
    assert metrics.auc_all_pairs(y, two) == metrics.auc_one_vs_all(y, two) == pytest.approx(value)
    classes, table = inputs("auc_all_pairs", draw)
    pairs, rest = metrics.auc_all_pairs(classes, table), metrics.auc_one_vs_all(classes, table)
    assert pairs == pytest.approx(rest)  # classes of one size
    Y, S = inputs("ranking_loss", draw)
    strict = [1 - metrics.auc(row, s, strict=True) for row, s in zip(Y, S, strict=True)]
    assert metrics.ranking_loss(Y, S) == pytest.approx(np.mean(np.nan_to_num(strict)))


@pytest.mark.parametrize("name", [*LISTS, "auc"])
def test_queries_have_any_names_and_any_order(name):
    metric, draw = getattr(metrics, name), np.random.default_rng(7)
    y, scores, qid = draw.integers(0, 2, 60), draw.integers(0, 4, 60) / 2, draw.integers(0, 9, 60)
    value = metric(y, scores, qid=qid)
    grouped = np.argsort(qid, kind="stable")
    assert metric(y[grouped], scores[grouped], qid=qid[grouped]) == value != metric(y, scores)
    days = np.datetime64("2020-01-01") + qid
    mixed = [(0, "a"), "a", 1, 2.5, None, Fraction(1, 3), b"a", "1", frozenset()]
    named = [qid.tolist(), -qid, qid / 3, qid.astype(str), qid.astype(object), days, [(q, "x") for q in qid],
             [f"q{q}" for q in qid], [mixed[q] for q in qid]]  # fmt: skip
    for names in named:
        assert metric(y, scores, qid=names) == pytest.approx(value, rel=1e-12)


def test_frames_and_series_are_taken():
    import pandas as pd
    import polars as pl

    y, scores, qid = [1, 0, 1, 0], [0.5, 0.7, 0.9, 0.1], ["a", "a", "b", "b"]
    for series in (pd.Series, pl.Series):
        assert metrics.auc(series(y), series(scores), qid=series(qid)) == 0.5
    assert metrics.coverage(pd.DataFrame([[1, 0]]), pd.DataFrame([[0.1, 0.2]])) == 2.0
    assert metrics.auc_one_vs_all(pd.Series(["u", "v"]), [[1, 0], [0, 1]], labels=pd.Index(["u", "v"])) == 1.0


def test_the_edges():
    assert all(isnan(metrics.auc(y, [1, 2], qid=qid)) for y in ([0, 0], ["a", "a"]) for qid in (None, [0, 1]))
    assert (
        isnan(metrics.auc([0, 1], [1, 2], qid=[0, 1]))
        and metrics.auc([0, 1, 1], [1, 2, 0], qid=[0, 0, 1]) == 1
    )
    for metric in (metrics.auc_all_pairs, metrics.auc_one_vs_all):
        assert isnan(metric(["a", "a"], [[1], [2]])) and isnan(
            metric([3, 3], [[1, 2], [2, 1]], labels=[3, 4])
        )
        assert metric([3, 1], [[1, 0, 2], [0, 0, 3]], labels=[3, 2, 1]) == 1
    none, every, scores = [[0, 0, 0]], [[1, 1, 1]], [[0.1, 0.3, 0.2]]
    values = {name: [getattr(metrics, name)(Y, scores) for Y in (none, every)] for name in LISTS}
    assert values == {
        "mean_average_precision": [0, 1], "ndcg": [0, 1], "coverage": [0, 3], "ranking_loss": [0, 0],
        "one_error": [1, 0], "lrap": [1, 1],
    }  # fmt: skip
    assert isnan(metrics.mean_average_precision(none, scores, skip_empty=True))
    assert metrics.mean_average_precision(none + every, scores * 2, skip_empty=True) == 1
    assert metrics.one_error([[0, 1]], [[0.5, 0.5]]) == 1 and metrics.one_error([[1, 0]], [[0.5, 0.5]]) == 0
    assert metrics.auc([0, 1, 1], [-inf, inf, -inf]) == 0.75 and metrics.auc([0, 1], [0.0, -0.0]) == 0.5
    assert metrics.ndcg([900, 0], [0, 1]) == pytest.approx(np.log(2) / np.log(3))
    assert metrics.coverage(sp.csr_matrix((2, 3)), np.ones((2, 3))) == 0


@pytest.mark.parametrize("name", LISTS + AREAS)
def test_bad_input_is_refused_in_one_line(name):
    metric = getattr(metrics, name)
    truth, scores = inputs(name, np.random.default_rng(0), rows=12)
    holed, worded = scores.copy(), scores.astype(str)
    holed.flat[5] = nan
    wrong = [
        ([], [], "shape"), (truth[:0], scores[:0], "shape"), (truth, scores[:-1], "shape"),
        (truth, 0.5, "shape"), (truth, scores[:, None, None], "shape"), (truth, worded, "numbers"),
        (truth, holed, "y_score has a NaN in row"), (truth, [[1], [1, 2]], "different lengths"),
        (truth, scores * 1j, "numbers"),
        (truth, [None] * 12, "NaN"), (truth, [{}] * 12, "numbers"), (truth, [10**400] * 12, "numbers"),
    ]  # fmt: skip
    for y, s, said in wrong:
        with pytest.raises(BadInput, match=said) as caught:
            metric(y, s)
        assert "\n" not in str(caught.value)
    for k in (0, -1, 2.5, True, "3"):
        with pytest.raises(BadInput, match="k="):
            metric(truth, scores, k=k)
    if name not in ("ndcg", "mean_average_precision"):
        with pytest.raises(BadInput, match=f"k= has no meaning for {name}"):
            metric(truth, scores, k=3)
    if name != "auc":
        with pytest.raises(BadInput, match="qid= has no meaning|leave qid= out"):
            metric(truth, scores, qid=np.zeros(12))


@pytest.mark.parametrize("name", LISTS)
def test_a_relevance_is_a_number_of_zero_or_more(name):
    metric = getattr(metrics, name)
    for wrong, said in (
        (-1, "negative in row 1"),
        (nan, "NaN in row 1"),
        (inf, "infinite in row 1"),
        ("a", "num"),
    ):
        with pytest.raises(BadInput, match=said):
            metric([1, wrong], [0.1, 0.2])
        with pytest.raises(BadInput, match=f"{said}, column 0" if said != "num" else said):
            metric([[1, 0], [wrong, 0]], [[0.1, 0.2], [0.1, 0.2]])
    with pytest.raises(BadInput, match="negative in row 0, column 1"):
        metric(sp.csr_matrix([[1, -1]]), [[0.1, 0.2]])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.auc([0, 1, 2], [1, 2, 3]), "3 kinds of labels"),
        (lambda m: m.auc([0, nan], [1, 2]), "y_true has a NaN in row 1"),
        (lambda m: m.auc(np.array([0, "a"], object), [1, 2]), "cannot be ordered"),
        (lambda m: m.auc([0, None], [1, 2]), "cannot be ordered"),
        (lambda m: m.auc([[0, 1]], [[1, 2]]), r"shape \(1, 2\)"),
        (lambda m: m.auc([0, 1], [1, 2], qid=[1]), "1 values for 2 rows"),
        (lambda m: m.auc([0, 1], [1, 2], qid=[[1], [1]]), "unhashable"),
        (lambda m: m.auc([0, 1], [1, 2], qid=3), "not iterable"),
        (lambda m: m.lrap([0, 1], [1, 2], qid=[1, nan]), "qid has a NaN"),
        (lambda m: m.lrap([0, 1], [1, 2], qid=np.array([1, nan])), "qid has a NaN"),
        (lambda m: m.ndcg([0, 1], [1, 2], gain="squared"), "gain='squared'"),
        (lambda m: m.ndcg([0, 1], [1, 2], discount="log"), "discount='log'"),
        (lambda m: m.ndcg([0, 2000], [1, 2]), "relevance of 2000, too large for gain='exponential'"),
        (lambda m: m.ndcg([1e308] * 9, range(9), gain="linear"), "too large for gain='linear'"),
        (lambda m: m.auc_all_pairs([0, 1], [[1, 2, 3], [1, 2, 3]]), "3 columns for 2 labels"),
        (lambda m: m.auc_one_vs_all([0, 1], [[1, 2], [1, 2]], labels=[0, 1, 2]), "2 columns for 3 labels"),
        (lambda m: m.auc_one_vs_all([0, 5], [[1, 2], [1, 2]], labels=[0, 1]), "the label 5"),
        (lambda m: m.auc_all_pairs([0, 1], [[1, 2], [1, 2]], labels=[0, 0]), "names a label twice"),
        (lambda m: m.auc_all_pairs([0, 1], [1, 2]), r"shape \(2,\) for 2 labels"),
    ],
)  # fmt: skip
def test_what_else_is_refused(call, said):
    with pytest.raises(BadInput, match=said) as caught:
        call(metrics)
    assert "\n" not in str(caught.value)
