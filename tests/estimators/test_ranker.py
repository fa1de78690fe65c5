"""Ranking by query: against NumPy with the same uniforms, and what users do with it."""

from __future__ import annotations

import lzma
import os
import pickle
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onmargin as om
from onmargin.learn.paired.draws import draw_pairs
from onmargin.models.paired.queries import cut_in_two, queries_of

from ..students import PLAIN

DATA = Path(os.environ.get("ONMARGIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
ONE_PASS = {"max_iter": 1, "tol": None, "shuffle": False}
VARIANTS = (
    {}, {"C": 0.1}, {"average": True}, {"C": np.inf, "margin": 0.7}, {"fit_intercept": False},
    {"intercept_scaling": 3.0, "average": True},
)  # fmt: skip
every_rule = pytest.mark.parametrize("rule", ["auc", "max_violators"])


def drawn(seed=0, queries=12, width=4, noise=0.5):
    """Graded documents of queries of 1 to 7 rows; some of one level, one column is nearly empty."""
    draw = np.random.default_rng(seed)
    qid = np.repeat(draw.permutation(queries) + 100, draw.integers(1, 8, queries))
    X = draw.normal(size=(len(qid), width)) * (draw.random((len(qid), width)) < 0.7)
    scores = X @ draw.normal(size=width) + noise * draw.normal(size=len(qid))
    return X, np.digitize(scores, [0.0, 1.0]), qid


def groups_in_order(qid):
    """The rows of each query, in order of appearance."""
    return [np.flatnonzero(qid == name) for name in dict.fromkeys(qid.tolist())]


def oracle(model, X, y, qid, passes=1):
    """The weights with the constant coordinate last, their mean over the rounds, and how many rounds."""
    X = np.c_[X, np.full(len(X), model.intercept_scaling * model.fit_intercept)]
    luck = iter(model._luck(SimpleNamespace(clock=0), 10_000, np.zeros(0)))
    w, before = np.zeros(X.shape[1]), []
    for rows in groups_in_order(qid) * passes:
        rows = rows[np.argsort(y[rows], kind="stable")]
        pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        for _ in range((len(rows) if model.rule == "auc" else 1) if pairs else 0):
            u = next(luck)
            before.append(w)
            if model.rule == "auc":
                better, worse = pairs[int(u * len(pairs))]
                d, asked = X[better] - X[worse], 2.0 if model.margin is None else model.margin
            else:
                levels = np.unique(y[rows])[1:]
                up = y[rows] >= levels[int(u * len(levels))]
                margin = 1.0 if model.margin is None else model.margin
                low = rows[up][np.argmin(X[rows[up]] @ w)]
                high = rows[~up][np.argmax(X[rows[~up]] @ w)]
                J = [z for z in (X[low], -X[high]) if z @ w < margin]
                d, asked = sum(J, np.zeros(len(w))), len(J) * margin
            if d @ d > 0:
                w = w + np.clip((asked - w @ d) / (d @ d), 0, model.C) * d
    return w, np.mean(before, axis=0), len(before)


@every_rule
@pytest.mark.parametrize("table", [np.asarray, sp.csr_matrix], ids=["dense", "CSR"])
def test_the_weights_are_those_of_the_formulas(rule, table):
    """Graded relevance, several passes, margins, with and without averages and intercept."""
    for seed, more in enumerate(VARIANTS):
        X, y, qid = drawn(seed)
        model = om.PairedRanker(
            rule=rule, random_state=seed, tol=None, shuffle=False, max_iter=3, **PLAIN | more
        )
        model.fit(table(X), y, qid)
        last, mean, rounds = oracle(model, X, y, qid, passes=3)
        wanted = mean if model.average else last
        assert model.t_ == rounds
        assert_allclose(model.coef_[0], wanted[:-1], rtol=1e-9, atol=1e-10)
        scores, theirs = model.predict(table(X)), X @ wanted[:-1]
        assert_allclose(scores - scores[0], theirs - theirs[0], rtol=1e-9, atol=1e-9)
        if rule == "max_violators":
            assert_allclose(model.intercept_[0], wanted[-1] * model.intercept_scaling, atol=1e-10)


@pytest.mark.parametrize(
    "rule",
    ["auc",
     "max_violators"],
)  # fmt: skip
def test_scores_are_those_of_the_weights_shown(rule):
    X, y, qid = drawn()
    model = om.PairedRanker(rule=rule, random_state=0, **ONE_PASS).fit(X, y, qid)
    assert_allclose(model.predict(X), X @ model.coef_[0] + model.intercept_[0], atol=1e-12)


@settings(deadline=None, max_examples=25, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1.0, 100.0, 1e4]))
def test_pairs_never_cross_queries(seed, size):
    """A constant added to all rows of a query cancels in x+ - x-."""
    X, y, qid = drawn(seed)
    shift = size * np.random.default_rng(seed).normal(size=(200, X.shape[1]))
    model = om.PairedRanker(random_state=seed, C=0.3, **ONE_PASS)
    plain = clone(model).fit(X, y, qid).coef_
    assert_allclose(model.fit(X + shift[qid], y, qid).coef_, plain, rtol=1e-6, atol=1e-6)


def test_a_large_common_value_cancels_exactly():
    """Whole numbers beside a time stamp that all rows of a query share: the difference has no rounding."""
    X, y, qid = drawn()
    X = np.c_[np.rint(4 * X), np.zeros(len(X))]
    model = om.PairedRanker(random_state=0, C=0.3, **ONE_PASS)
    plain = clone(model).fit(X, y, qid).coef_
    X[:, -1] = 1.7e9 + qid
    assert_allclose(model.fit(X, y, qid).coef_, plain, rtol=1e-3, atol=1e-3)


def test_pairs_are_drawn_uniformly_from_those_of_a_query():
    """Every pair at one of as many evenly spaced uniforms; and by a chi-square test of many draws."""
    y, groups = np.array([2, 0, 1, 0, 1, 1, 0, 2, 2, 0.5]), np.array([0, 1, 0, 0, 1, 0, 0, 1, 0, 0])
    queries = queries_of(y, groups, 2)
    for query in (0, 1):
        rows = np.flatnonzero(groups == query)
        pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        assert queries.pairs()[query] == len(pairs)
        members = np.empty(2 * len(pairs), np.int64)
        evenly = (np.arange(len(pairs)) + 0.5) / len(pairs)
        draw_pairs(queries, np.full(len(pairs), query), evenly, members)
        assert sorted(map(tuple, members.reshape(-1, 2).tolist())) == sorted(pairs)
        many = np.empty(40_000, np.int64)
        draw_pairs(queries, np.full(20_000, query), np.random.default_rng(query).random(20_000), many)
        _, counts = np.unique(many.reshape(-1, 2), axis=0, return_counts=True)
        assert len(counts) == len(pairs) and chisquare(counts).pvalue > 1e-3


def test_a_query_is_cut_at_every_level_but_the_least():
    y, only = np.array([2.0, 0.0, 0.5, 0.0, 2.0]), np.zeros(1, int)
    queries = queries_of(y, np.zeros(5, int), 1)
    cuts = [cut_in_two(queries, only, np.array([u])) for u in (0.0, 0.499, 0.5, 0.999)]
    assert [sorted(rows[up].tolist()) for rows, _, up in cuts] == [[0, 2, 4], [0, 2, 4], [0, 4], [0, 4]]


@settings(deadline=None, max_examples=50, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6), levels=st.integers(2, 6))
def test_queries_are_cut_at_once_as_one_by_one(seed, levels):
    """In any order, some twice; also where the least of one has the grade of another's best."""
    draw = np.random.default_rng(seed)
    groups = draw.permutation(np.repeat(np.arange(9), draw.integers(1, 8, 9)))
    y = np.sort(draw.choice([0.0, 5e-324, 0.5, 1.0, 2.0, 1e308], levels, replace=False))[
        draw.integers(0, levels, len(groups))
    ]
    queries = queries_of(y, groups, 9)
    some = draw.permutation(np.repeat(np.flatnonzero(queries.pairs()), 2))
    uniforms = np.where(draw.random(len(some)) < 0.2, np.nextafter(1.0, 0.0), draw.random(len(some)))
    rows, starts, relevant = cut_in_two(queries, some, uniforms)
    assert starts[0] == 0 and starts[-1] == len(rows) == len(relevant)
    for query, u, (start, stop) in zip(some, uniforms, pairwise(starts), strict=True):
        mine = np.flatnonzero(groups == query)
        mine = mine[np.argsort(y[mine], kind="stable")]
        higher = np.unique(y[mine])[1:]
        assert_array_equal(rows[start:stop], mine)
        assert_array_equal(relevant[start:stop], y[mine] >= higher[int(u * len(higher))])


@every_rule
def test_queries_of_one_level_are_skipped_and_counted(rule):
    X, y, qid = drawn(1)
    flat = [name for name in np.unique(qid) if len(np.unique(y[qid == name])) == 1]
    assert flat
    model = om.PairedRanker(rule=rule, random_state=0, **ONE_PASS)
    all_of_them = clone(model).fit(X, y, qid)
    assert all_of_them.n_skipped_ == len(flat)
    kept = ~np.isin(qid, flat)
    without = model.fit(X[kept], y[kept], qid[kept])
    assert without.n_skipped_ == 0 and without.t_ == all_of_them.t_
    assert_array_equal(without.coef_, all_of_them.coef_)


@every_rule
def test_rows_of_a_query_need_not_lie_together(rule):
    """Dealt out in turns, which keeps the order of queries and of the rows in each; names do not matter."""
    X, y, qid = drawn(2)
    turn = np.concatenate([np.arange(len(rows)) for rows in groups_in_order(qid)])
    dealt = np.argsort(turn, kind="stable")
    model = om.PairedRanker(rule=rule, random_state=4, average=True, max_iter=3, tol=None)
    together = clone(model).fit(X, y, qid)
    for names in (qid, qid.astype(str), qid - 0.5, qid.astype(object)):
        apart = clone(model).fit(X[dealt], y[dealt], names[dealt])
        assert_array_equal(apart.coef_, together.coef_)
        assert_array_equal(apart.predict(X), together.predict(X))


@every_rule
@settings(deadline=None, max_examples=15, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6))
def test_any_split_between_queries_is_one_pass(rule, seed):
    X, y, qid = drawn(seed)
    draw = np.random.default_rng(seed)
    model = om.PairedRanker(rule=rule, random_state=seed, average=bool(seed % 2), **ONE_PASS)
    whole = clone(model).fit(X, y, qid)
    ends = np.flatnonzero(np.diff(qid)) + 1
    cuts = [0, *np.sort(draw.choice(ends, draw.integers(0, len(ends)), replace=False)), len(qid)]
    for start, stop in pairwise(cuts):
        model.partial_fit(X[start:stop], y[start:stop], qid[start:stop])
    assert_array_equal(model.coef_, whole.coef_)
    assert_array_equal(model.predict(X), whole.predict(X))
    assert model.t_ == whole.t_


def test_a_pass_of_many_rounds_is_not_seen_to_be_cut():
    """More rounds than are played at a time: as two calls of fewer."""
    X, y, qid = drawn(8, queries=1800)
    half = np.flatnonzero(np.diff(qid))[900] + 1
    model = om.PairedRanker(random_state=0, C=0.1, average=True, **ONE_PASS)
    whole = clone(model).fit(X, y, qid)
    assert whole.t_ > 4096 > whole.t_ * 0.6
    for some in (slice(half), slice(half, None)):
        model.partial_fit(X[some], y[some], qid[some])
    assert_array_equal(model.coef_, whole.coef_)


@every_rule
@pytest.mark.parametrize("random_state", [3, None])
def test_a_stream_goes_on_from_a_file(rule, random_state, tmp_path):
    """Saved or pickled in the middle; also where the draws have no seed."""
    X, y, qid = drawn(3)
    half = np.flatnonzero(np.diff(qid))[5] + 1
    model = om.PairedRanker(rule=rule, random_state=random_state, average=True)
    model.partial_fit(X[:half], y[:half], qid[:half])
    om.save(model, tmp_path / "ranker.onm")
    twins = [om.load(tmp_path / "ranker.onm"), pickle.loads(pickle.dumps(model))]
    for learner in (model, *twins):
        learner.partial_fit(X[half:], y[half:], qid[half:])
    for twin in twins:
        assert type(twin) is om.PairedRanker and twin.get_params() == model.get_params()
        assert_array_equal(twin.coef_, model.coef_)
        assert_array_equal(twin.predict(X), model.predict(X))


def test_the_score_is_the_mean_ndcg_of_the_queries():
    X, y, qid = drawn(4)
    model = om.PairedRanker(random_state=0).fit(X, y, qid)
    assert model.score(X, y, qid) == om.metrics.ndcg(y, model.predict(X), qid=qid)
    assert model.score(X, y) == om.metrics.ndcg(y, model.predict(X), qid=np.zeros(len(y)))
    assert_allclose(model.score(X, y, qid, sample_weight=np.full(len(y), 3.0)), model.score(X, y, qid))
    twice = np.r_[np.arange(len(y)), np.flatnonzero(qid == qid[0])]  # the first query, again as another
    names = np.r_[qid, np.zeros(len(twice) - len(qid))]
    wanted = model.score(X[twice], y[twice], names)
    assert_allclose(model.score(X, y, qid, sample_weight=1.0 + (qid == qid[0])), wanted)
    one = clone(model).fit(X, y, np.zeros(len(y)))
    assert_array_equal(clone(model).fit(X, y).coef_, one.coef_)


def test_letor_text_is_read_by_scikit_learn(tmp_path):
    X, y, qid = drawn(5)
    path = str(tmp_path / "train.txt")
    dump_svmlight_file(X, y, path, query_id=qid, zero_based=False, comment="LETOR")
    table, grades, queries = load_svmlight_file(path, query_id=True, n_features=X.shape[1])
    model = om.PairedRanker(random_state=0, **ONE_PASS)
    read, plain = clone(model).fit(table.toarray(), grades, queries), clone(model).fit(X, y, qid)
    assert_allclose(read.coef_, plain.coef_, rtol=1e-6, atol=1e-9)


@every_rule
def test_a_fold_of_mq2008(rule):
    """Train on three parts, test on another. Queries without a relevant document count as 0."""
    if not (DATA / "mq2008").exists():
        pytest.skip(f"{DATA / 'mq2008'} is not there; set ONMARGIN_DATA to the folder of real sets")

    def part(number):
        with lzma.open(DATA / "mq2008" / f"S{number}.txt.xz") as file:
            table, grades, queries = load_svmlight_file(file, n_features=46, query_id=True)
        return table.toarray(), grades, queries

    tables, grades, queries = zip(*(part(number) for number in (1, 2, 3)), strict=True)
    model = om.PairedRanker(rule=rule, C=0.1, average=True, random_state=0)
    model.fit(np.concatenate(tables), np.concatenate(grades), np.concatenate(queries))
    X, y, qid = part(5)
    assert om.metrics.mean_average_precision(y, model.predict(X), qid=qid) > 0.42


def test_groups_of_queries_are_left_out_in_turn():
    """Without metadata routing `fit` gets qid by its step's name, and a fold's score is that of one list."""
    X, y, qid = drawn(6, queries=30)
    ranker, folds = om.PairedRanker(random_state=0, average=True), GroupKFold(3)
    pipe = make_pipeline(StandardScaler(), ranker)
    with pytest.warns(UserWarning, match="no qid inside a search"):  # (its score has none)
        got = cross_val_score(pipe, X, y, groups=qid, cv=folds, params={"pairedranker__qid": qid})
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(ranker).set_fit_request(qid=True).set_score_request(qid=True)
        options = {"params": {"qid": qid, "groups": qid}, "cv": folds, "error_score": "raise"}
        routed = cross_validate(make_pipeline(StandardScaler(), asking), X, y, **options)["test_score"]
        assert (cross_validate(asking, X, y, **options)["test_score"] > 0.6).all()
    for number, (some, others) in enumerate(folds.split(X, y, qid)):
        assert not set(qid[some]) & set(qid[others])
        model = clone(pipe).fit(X[some], y[some], pairedranker__qid=qid[some])
        assert got[number] == model.score(X[others], y[others])
        assert routed[number] == om.metrics.ndcg(y[others], model.predict(X[others]), qid=qid[others])


def test_a_search_without_queries_is_warned_of_once():
    table = np.random.default_rng(0).normal(size=(40, 3))
    grades = (table[:, 0] > 0).astype(int)
    with pytest.warns(UserWarning, match="no qid inside a search: all rows are one query") as said:
        cross_val_score(om.PairedRanker(max_iter=1), table, grades)
    assert len(said) == 1
    om.PairedRanker(max_iter=1).fit(table, grades).score(table, grades)  # one query is meant here
