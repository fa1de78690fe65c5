"""The engine is the mixing of the paper, bit for bit; its theorem; and the same whatever the workers do."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st

import onmargin as om
from onmargin.cluster import mixing as workers_side
from onmargin.cluster.mixing import Job, Stretch, in_tree, learn, mix
from onmargin.cluster.parcel import packed, unpacked
from onmargin.cluster.partitions import Partition, Reader
from onmargin.cluster.report import Epoch, Line, Report
from onmargin.interface.apart import Known, begun, finished
from tests.cluster.plain_mixing import perceptrons, reduced
from tests.soaking import either

DRAW = np.random.default_rng(18)
X = DRAW.normal(size=(300, 4))
Y = np.where(X @ [1.0, -1.0, 0.5, 0.2] + 0.3 + 0.4 * DRAW.normal(size=300) > 0, 1, -1)
THREE = np.digitize(X[:, 0] + 0.2 * DRAW.normal(size=300), [-0.5, 0.5])
SETS = (X @ DRAW.normal(size=(4, 3)) + 0.3 > 0).astype(int)
PLAIN: dict[str, Any] = {"fit_intercept": False, "average": False, "random_state": 5}


def cut(X: Any, y: Any, sizes: list[int]) -> list[tuple[Any, Any]]:
    """Partitions of these sizes."""
    ends = np.cumsum([0, *sizes])
    return [(X[a:b], y[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def delayed(parts: list[tuple[Any, ...]]) -> list[Any]:
    return [dask.delayed(part) for part in parts]


SIZES = [70, 10, 0, 60, 1, 90, 69]


@pytest.mark.parametrize("mixing", ["uniform", "updates", "examples"])
def test_the_engine_is_the_plain_mixing_bit_for_bit(client, mixing):
    """Perceptrons: their updates do not hang on the order in which a score is summed."""
    parts = cut(X, Y, SIZES)
    done = om.cluster.run(
        om.Perceptron(**PLAIN), delayed(parts), client=client, epochs=3, mixing=mixing, rows=32, sample=0
    )
    weights, updates = perceptrons(parts, 3, mixing, seed=5, rows=32)
    assert np.array_equal(done.model.coef_[0], weights[:-1])
    by_epoch = [[line.updates for line in epoch.lines] for epoch in done.report.epochs]
    assert by_epoch == updates and done.report.epochs[0].sums.rounds == 300


def test_an_averaged_run_is_the_mean_of_all_weights_that_predicted(client):
    """Beside plain NumPy: w and its mean are mixed, and the rounds so far are the mean of all partitions'."""
    sizes = [100, 60, 140]
    parts = cut(X, Y, sizes)
    found = om.cluster.fit(
        om.Perceptron(fit_intercept=False, random_state=5), delayed(parts), client=client, epochs=3,
        shuffle=False,
    )  # fmt: skip
    w, mean, rounds = np.zeros(4), np.zeros(4), 0
    for _ in range(3):
        learned = []
        for rows, y in parts:
            own, average, t = w.copy(), mean.copy(), rounds
            for x, label in zip(rows, y, strict=True):
                average, t = (t * average + own) / (t + 1), t + 1
                if label * (own @ x) <= 0:
                    own = own + label * x
            learned.append((own, average, t))
        w, mean = (sum(model[i] for model in learned) / 3 for i in (0, 1))
        rounds = round(sum(t for *_, t in learned) / 3)
    np.testing.assert_allclose(found.coef_[0], mean, rtol=1e-10, atol=1e-12)
    assert found.t_ == rounds and np.abs(mean - w).max() > 0.01


@pytest.mark.parametrize(
    ("learner", "shuffles"),
    [
        (om.Perceptron(**PLAIN), True),
        (om.Perceptron(**PLAIN, shuffle=False), False),
        (om.Pegasos(lam=0.01, random_state=5), True),
        (om.Pegasos(lam=0.01, order="cyclic", random_state=5), False),
    ],
)
def test_rows_are_shuffled_where_fit_would(client, learner, shuffles):
    """Unless told: the estimator says so itself, and a cluster asks for nothing twice."""
    found, told, other = (
        om.cluster.fit(learner, delayed(cut(X, Y, SIZES)), client=client, epochs=2, **asked).coef_
        for asked in ({}, {"shuffle": shuffles}, {"shuffle": not shuffles})
    )
    assert np.array_equal(found, told) and not np.array_equal(found, other)


def test_balanced_weights_are_those_of_one_machine(client):
    """n / (K n_y) of all rows: one partition, and `fit` without a cluster."""
    learner = om.PassiveAggressiveClassifier(class_weight="balanced", C=0.01, average=False, shuffle=False)
    alone = learner.clone().set_params(max_iter=2, tol=None).fit(X, THREE)
    model = om.cluster.fit(learner, delayed([(X, THREE)]), client=client, epochs=2, shuffle=False)
    assert np.array_equal(model.coef_, alone.coef_)
    apart = om.cluster.fit(learner, delayed(cut(X, THREE, SIZES)), client=client, epochs=2, shuffle=False)
    by_hand = {c: 300 / (3 * int(np.sum(c == THREE))) for c in range(3)}
    given = learner.clone().set_params(class_weight=by_hand)
    same = om.cluster.fit(given, delayed(cut(X, THREE, SIZES)), client=client, epochs=2, shuffle=False)
    assert np.array_equal(apart.coef_, same.coef_)


def test_the_constant_coordinate_is_fixed_by_the_whole_set(client):
    """Its value is 0.3 times the median length of all rows, as `fit` has it: partitions differ much."""
    parts = cut(X * np.where(np.arange(300) < 150, 1.0, 100.0)[:, None], Y, [150, 150])
    model = om.cluster.fit(
        om.Perceptron(average=False, random_state=0), delayed(parts), client=client, epochs=2, shuffle=False
    )
    whole = np.vstack([part for part, _ in parts])
    constant = 0.3 * np.sqrt(np.median(np.square(whole).sum(axis=1)))
    assert model.intercept_scaling_ == pytest.approx(constant, rel=1e-12)
    assert model.intercept_scaling_ == om.Perceptron().fit(whole, Y).intercept_scaling_
    weights, _ = perceptrons(parts, 2, shuffle=False, constant=model.intercept_scaling_)
    assert np.array_equal(model.coef_[0], weights[:-1])
    assert model.intercept_[0] == weights[-1] * model.intercept_scaling_


EVERY: dict[str, tuple[Any, Any]] = {
    "averaged": (om.PassiveAggressiveClassifier(random_state=1), Y),
    "always averaged": (om.Perceptron(average=True, random_state=1), Y),
    "pegasos": (om.Pegasos(random_state=1), Y),
    "several classes": (om.PassiveAggressiveClassifier(C=0.1, random_state=1), THREE),
    "sets": (om.Perceptron(random_state=1), SETS),
    "numbers": (om.PassiveAggressiveRegressor(random_state=1), X[:, 1] * 3),
    "second order": (om.AROW(random_state=1), Y),
    "ftrl": (om.FTRLClassifier(random_state=1), Y),
    "balanced": (om.PassiveAggressiveClassifier(class_weight="balanced", random_state=1), THREE),
}


def by_hand(estimator: Any, parts: list[Any], known: Known, epochs: int, rows: int = 8192) -> Any:
    """The same with `om.progressive` and `om.merge`, one partition after the other."""
    mixed = begun(estimator, known)
    for epoch in range(1, epochs + 1):
        models = []
        for number, (rows_of, y) in enumerate(parts):
            model = mixed.clone(include_attributes=True)
            for place, at in enumerate(range(0, len(rows_of), rows)):
                some = np.arange(at, min(at + rows, len(rows_of)))
                order = np.random.default_rng([1, epoch, number, place]).permutation(len(some))
                om.progressive(model, rows_of[some[order]], y[some[order]], trace="sums")
            models.append((model, float(len(rows_of) > 0)))
        while len(models) > 1:
            groups = [models[at : at + 4] for at in range(0, len(models), 4)]
            groups = [[(m, s) for m, s in group if s] for group in groups]
            models = [
                (om.merge([m for m, _ in g], [s for _, s in g], rounds="mean"), sum(s for _, s in g))
                for g in groups
            ]
        mixed = models[0][0]
    return finished(mixed, estimator, epochs)


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_learner_is_mixed_as_by_hand(client, name):
    estimator, y = EVERY[name]
    parts = cut(X, y, SIZES)
    found = om.cluster.fit(estimator, delayed(parts), client=client, epochs=2, rows=50)
    labels, counts = np.unique(y, return_counts=True) if y.dtype.kind == "i" else (np.zeros(0), np.zeros(0))
    if y.ndim == 2:
        labels, counts = np.arange(3), np.zeros(3)
    known = Known(
        300, float(np.median(np.square(X).sum(axis=1))), 4, labels=tuple(labels.tolist()),
        counts=tuple(counts.astype(int).tolist()), sets=y.ndim == 2,
    )  # fmt: skip
    hand = by_hand(estimator, parts, known, 2, 50)
    assert np.array_equal(found.coef_, hand.coef_) and np.array_equal(found.intercept_, hand.intercept_)
    assert np.array_equal(found.predict(X), hand.predict(X))
    assert found.get_params() == estimator.get_params() and found.n_iter_ == 2
    assert not hasattr(estimator, "n_iter_")
    if name == "pegasos":
        assert found.lam_ == 1 / 300
    found.partial_fit(X, y)  # a learner like any other
    assert np.isfinite(found.coef_).all()


def test_one_partition_is_the_learner_itself(client):
    model = om.cluster.fit(
        om.PassiveAggressiveClassifier(average=False),
        delayed([(X, Y)]),
        client=client,
        epochs=3,
        shuffle=False,
    )
    alone = om.PassiveAggressiveClassifier(average=False, shuffle=False, max_iter=3, tol=None).fit(X, Y)
    assert np.array_equal(model.coef_, alone.coef_) and np.array_equal(model.intercept_, alone.intercept_)


def test_the_number_of_workers_changes_nothing(client):
    """One worker with four threads, and two processes: files of the same bytes."""
    data = (da.from_array(X, chunks=(40, -1)), da.from_array(THREE, chunks=40))
    estimator = om.PassiveAggressiveClassifier(random_state=3)
    here = om.cluster.fit(estimator, data, client=client, epochs=3, mix_every=1, rows=16)
    with (
        LocalCluster(n_workers=1, threads_per_worker=4, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as other,
    ):
        there = om.cluster.fit(estimator, data, client=other, epochs=3, mix_every=1, rows=16)
    assert np.array_equal(here.coef_, there.coef_) and np.array_equal(here.intercept_, there.intercept_)


def test_mixing_every_so_many_blocks_is_mixing_shorter_epochs(client):
    """Partitions that end early are left out of later mixings."""
    parts = cut(X, Y, [64, 32, 96])
    found = om.cluster.run(
        om.Perceptron(**PLAIN), delayed(parts), client=client, epochs=1, mix_every=2, rows=16, shuffle=False,
        sample=0,
    )  # fmt: skip
    mixed = np.zeros(5)
    for at in range(0, 96, 32):
        some = [(a[at : at + 32], b[at : at + 32]) for a, b in parts if len(a) > at]
        vectors = []
        for rows, y in some:
            w = mixed.copy()
            for x, label in zip(rows, y, strict=True):
                if label * (w[:-1] @ x) <= 0:
                    w[:-1] += label * x
            vectors.append(w)
        mixed = reduced(vectors, [1.0] * len(vectors))
    assert np.array_equal(found.model.coef_[0], mixed[:-1])
    assert found.report.epochs[0].sums.rounds == 192


# ---- the theorem, by what workers call, without a cluster


def mixed_here(parts: list[Any], epochs: int, mixing: str) -> tuple[Any, list[list[int]]]:
    """The leaves and the branches of the tree, called one after the other."""
    known = Known(sum(len(y) for _, y in parts), 1.0, parts[0][0].shape[1], labels=(-1, 1), counts=(1, 1))
    model, updates = begun(om.Perceptron(**PLAIN), known), []
    job = Job("here", mixing, 8192, None, True, 5)
    for epoch in range(1, epochs + 1):
        base = packed(model)
        layer = [
            learn(Partition(n, "", waits=[0]), [part], base, job, Stretch(epoch))
            for n, part in enumerate(parts)
        ]
        updates.append([learned.lines[0].updates for learned in layer])
        for groups in in_tree(len(layer)):
            layer = [mix(base, [layer[i] for i in group]) for group in groups]
        model = unpacked(layer[0].parcel, base)
        if not sum(updates[-1]):
            break
    return model, updates


@given(
    st.integers(0, 2**31), st.lists(st.integers(1, 25), min_size=1, max_size=7),
    st.sampled_from(["uniform", "updates"]), st.floats(0.05, 0.5),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_i1_mixed_updates_are_at_most_the_radius_over_the_margin_squared(seed, sizes, mixing, least):
    """sum over epochs of sum_s mu_s k_s <= R^2 / gamma^2; and separable data converge."""
    draw = np.random.default_rng(seed)
    u = draw.normal(size=5)
    u /= np.linalg.norm(u)
    rows = draw.normal(size=(sum(sizes), 5))
    y = np.where(rows @ u >= 0, 1, -1)
    rows += (y * np.maximum(0.0, least - y * (rows @ u)))[:, None] * u  # a margin of at least so much
    margin, radius = float((y * (rows @ u)).min()), float(np.linalg.norm(rows, axis=1).max())
    parts = cut(rows, y, sizes)
    epochs = int((radius / margin) ** 2) * len(sizes) + 2
    model, updates = mixed_here(parts, min(epochs, either(400, 4000)), mixing)
    shares = [
        np.ones(len(k)) / len(k) if mixing == "uniform" or not sum(k) else np.array(k) / sum(k)
        for k in updates
    ]
    mixed = sum(float(share @ k) for share, k in zip(shares, updates, strict=True))
    assert mixed <= (radius / margin) ** 2 + 1e-9
    assert not sum(updates[-1]) and (model.predict(rows) == y).all()
    weights, counts = perceptrons(parts, len(updates), mixing, seed=5)
    assert counts == updates and np.array_equal(model.coef_[0], weights[:-1])


def test_separable_data_converge_and_the_run_ends(client):
    y = np.where(X @ [1.0, -1.0, 0.5, 0.2] > 0, 1, -1)
    parts = cut(X + 0.3 * y[:, None] * np.array([1.0, -1.0, 0.5, 0.2]), y, [100, 120, 80])
    done = om.cluster.run(om.Perceptron(**PLAIN), delayed(parts), client=client, epochs=200, sample=100)
    assert 1 < len(done.report.epochs) < 200 and done.report.error == 0.0
    assert all((done.model.predict(rows) == labels).all() for rows, labels in parts)
    assert done.report.sample is not None and done.report.sample.rows == 102
    text = str(done.report)
    assert "in sequence" in text and all(len(line) <= 80 for line in text.splitlines())
    assert set(done.report.by_worker()) <= {"0", "1"} and len(done.report.by_partition()) == 3


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize(
    "estimator",
    [om.Perceptron(**PLAIN), om.PassiveAggressiveClassifier(random_state=0), om.SecondOrderPerceptron()],
)
def test_the_first_epoch_without_an_update_is_the_last(client, estimator, count):
    """Though thirds and fifths are rounded: what all partitions left as it was is the same after mixing."""
    y = np.where(X @ [1.0, -1.0, 0.5, 0.2] > 0, 1, -1)
    rows = X + 3.0 * y[:, None] * np.array([1.0, -1.0, 0.5, 0.2])
    parts = [(rows[some], y[some]) for some in np.array_split(np.arange(300), count)]
    done = om.cluster.run(estimator.clone().set_params(random_state=0), delayed(parts), client=client,
                          epochs=60, sample=0)  # fmt: skip
    updates = [epoch.sums.updates for epoch in done.report.epochs]
    assert updates[-1] == 0 and all(updates[:-1]) and 1 < len(updates) < 60
    assert all((done.model.predict(rows) == y).all() for rows, y in parts)


def test_weights_that_fade_without_an_update_are_learned_on(client):
    """Pegasos' shrink in every round, so that there may be an update to come."""
    y = np.where(X[:, 0] > 0, 1, -1)
    parts = cut(X + 50.0 * y[:, None] * np.eye(4)[0], y, [150, 150])
    learner = om.Pegasos(lam=0.1, average=False, fit_intercept=False, random_state=5)
    done = om.cluster.run(learner, delayed(parts), client=client, epochs=4, sample=0)
    assert [epoch.sums.updates for epoch in done.report.epochs][1:] == [0, 0, 0]


def test_what_no_partition_moved_is_not_sent_after_mixing_either():
    """Of thousands of weights that are not 0, three partitions move some: so much goes to the next branch."""
    draw = np.random.default_rng(4)
    known = Known(9, 1.0, 20_000, labels=(-1, 1), counts=(4, 5))
    begun_with = begun(om.Perceptron(**PLAIN), known)
    begun_with.partial_fit(draw.normal(size=(1, 20_000)), [-1])
    base = packed(begun_with)
    parts = []
    for number in range(3):
        rows = sp.csr_matrix((np.ones(9), draw.integers(0, 20_000, 9), [0, 9]), shape=(1, 20_000))
        y = -begun_with.predict(rows)  # (a mistake)
        job = Job("here", "uniform", 8192, None, True, 5)
        parts.append(learn(Partition(number, "", waits=[0]), [(rows, y)], base, job, Stretch(1)))
    mixed = mix(base, parts)
    assert mixed.parcel.size < 4_000 < base.size / 20
    moved = np.flatnonzero(unpacked(mixed.parcel, base).coef_ != begun_with.coef_)
    assert 20 < len(moved) <= 27


def test_a_report_of_many_workers_is_short():
    """A line for some of them, without an error for who had nothing to learn."""
    found = Report("labels", ["0"] * 30, "uniform")
    lines = [Line(n, "", f"w{n:02}", 10 * (n > 0), n > 0, n > 0, 0.0, 0.1, 1) for n in range(30)]
    found.epochs = [Epoch(1, tuple(lines), 0.5, 0)]
    text = str(found).splitlines()
    assert text[2:4] == ["worker w00: 0 examples, 0.1 s", "worker w01: 10 examples, error 0.1000, 0.1 s"]
    assert text[-1] == "and 10 workers more (by_worker() has all)" and len(text) == 23
    assert str(Report.restored(found.state())) == str(found)


def test_a_worker_lets_go_of_what_it_reads_no_further(monkeypatch):
    """Partitions that others went on with, of earlier epochs, of runs that are over, and above a number."""
    found: dict[Any, Any] = {}
    monkeypatch.setattr(workers_side, "_OPEN", found)
    monkeypatch.setattr(workers_side, "MOST_OPEN", 4)
    reader = Reader(Partition(0, ""), [(X, Y)], 10, None)
    for number in range(3):
        workers_side._leave_open(("a", 1, number), reader)
    workers_side._leave_open(("b", 1, 0), reader)
    assert len(found) == 4
    workers_side._leave_open(("a", 2, 1), reader)
    assert list(found) == [("b", 1, 0), ("a", 2, 1)]
    for number in range(5):
        workers_side._leave_open(("c", 1, number), reader)
    assert list(found) == [("c", 1, number) for number in range(4)]  # (the last would only take turns)
    workers_side.forget("c")
    assert not found


def test_equal_models_are_mixed_to_the_same():
    """`om.merge(rounds="mean")`: no round is counted twice, so that mixing may go on and on."""
    for estimator, y in EVERY.values():
        model = estimator.clone().fit(X, y) if estimator.kind == "numbers" else estimator.clone().fit(X, y)
        same = om.merge([model, model], rounds="mean")
        assert same.t_ == model.t_
        np.testing.assert_allclose(same.coef_, model.coef_, rtol=1e-10, atol=1e-12)
        answers = om.merge([model, estimator.clone().fit(X[:200], y[:200])], rounds="mean")
        expected = om.merge([model, estimator.clone().fit(X[:200], y[:200])])
        np.testing.assert_allclose(answers.coef_, expected.coef_, rtol=1e-10, atol=1e-12)
