"""Page-Hinkley and River's detectors on a run: alarms, resets, every kind of learner, refusals.

Learners of many kinds as plain Python, in another process (see `tests.uncompiled`).
"""

from __future__ import annotations

import copy
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from river import drift
from tests.uncompiled import Comparisons

import onmargin as om
from onmargin.errors import BadInput

COMPARISONS = Comparisons("tests.protocols.test_drift")
BROKEN = Comparisons("tests.protocols.test_drift")  # by bugs
LINES = ("scores", "predictions", "losses", "steps", "queried", "counted")
ROWS, SWITCH = 1100, 500  # more than one piece
draw = np.random.default_rng(4)
X, u = draw.normal(size=(ROWS, 3)), draw.normal(size=3)
SCORES = X @ u * np.where(np.arange(ROWS) < SWITCH, 1, -1)
Y = np.where(SCORES > 0, 1, -1)
LEARNERS = {
    "linear": om.Perceptron(),
    "rbf": om.Perceptron(kernel="rbf", gamma=0.5, dtype="float64"),
    "sampler": om.SelectiveSampler(om.Perceptron(), random_state=0),
    "paired": om.PairedClassifier(random_state=0, reservoir=5),
    "bandit": om.Banditron(random_state=0, gamma=0.3),
    "pegasos": om.Pegasos(),
}
FORMS = {
    "array": X,
    "csr": sp.csr_matrix(X),
    "csc": sp.csc_matrix(X),
    "frame": pd.DataFrame(X, columns=list("abc")),
}


def quiet():
    return om.PageHinkley(threshold=1e9)


def loud(action="reset"):
    return om.PageHinkley(threshold=10.0, action=action)


def page_hinkley(losses, delta=0.005, threshold=50.0, patience=30):
    """Rounds of alarms, every sum spelled out; all starts anew after an alarm."""
    alarms, first = [], 0
    for t in range(len(losses)):
        x = np.asarray(losses[first : t + 1], float)
        means = np.cumsum(x) / np.arange(1, len(x) + 1)
        sums = np.cumsum(x - means - delta)
        if len(x) >= patience and sums[-1] - min(0.0, sums.min()) > threshold:
            alarms.append(t)
            first = t + 1
    return alarms


def by_hand(model, rows, y, alarms, **options):
    """Learn up to each alarm, then a fresh learner that knows the classes."""
    runs, first = [], 0
    labels = {} if model.kind != "labels" else {"classes": sorted(set(y.tolist()))}
    for stop in [*(alarm + 1 for alarm in alarms), len(y)]:
        part = rows.iloc[first:stop] if hasattr(rows, "iloc") else rows[first:stop]
        cut = {name: values[first:stop] for name, values in options.items()}
        learner = copy.deepcopy(model)
        runs.append(om.progressive(learner, part, y[first:stop], **labels, **cut))
        first = stop
    return runs, learner


@pytest.mark.parametrize(
    "told",
    [{}, {"threshold": 5.0}, {"threshold": 3.0, "delta": 0.1}, {"threshold": 2.0, "patience": 90},
     {"threshold": 0.0, "delta": 0.0, "patience": 1}],
    ids=str,
)  # fmt: skip
def test_page_hinkley_is_the_oracle(told):
    for seed in range(3):
        local = np.random.default_rng(seed)
        losses = local.random(300) < np.where(np.arange(300) // 100 % 2, 0.8, 0.1)
        if seed == 2:
            losses = np.round(local.exponential(size=300), 1) + losses
        detector = om.PageHinkley(**told)
        found = [t for t, loss in enumerate(losses) if detector.update(float(loss)).drift_detected]
        assert found == page_hinkley(losses, **told)
        assert found or not told


def test_a_detector_can_be_put_back():
    detector = loud()
    first = [detector.update(float(loss)).drift_detected for loss in Y[400:600] != 1]
    detector.reset()
    assert first == [detector.update(float(loss)).drift_detected for loss in Y[400:600] != 1]


def test_alarms_are_events():
    """The learner goes on; nothing else differs from a plain run."""
    plain, run = (om.progressive(om.Perceptron(), X, Y, drift=which) for which in (None, loud("none")))
    for name in LINES:
        assert_array_equal(getattr(run, name), getattr(plain, name))
    assert run.totals == plain.totals and plain.drifts == []
    assert_array_equal(run.model.coef_, plain.model.coef_)
    assert run.drifts == page_hinkley(plain.predictions != Y, threshold=10.0)
    assert run.drifts and SWITCH < run.drifts[0] < SWITCH + 60


def test_a_reset_is_a_fresh_learner():
    weight = draw.uniform(0.5, 2.0, ROWS)
    run = om.progressive(om.Perceptron(), X, Y, drift=loud(), sample_weight=weight)
    runs, learner = by_hand(om.Perceptron(), X, Y, run.drifts, sample_weight=weight)
    for name in LINES:
        assert_array_equal(getattr(run, name), np.concatenate([getattr(part, name) for part in runs]))
    assert run.drifts == page_hinkley(run.predictions != Y, threshold=10.0) and len(run.drifts) >= 1
    assert_array_equal(run.model.coef_, learner.coef_)
    assert run.model.t_ == ROWS - 1 - run.drifts[-1] and run.rounds == ROWS
    assert run.mistakes == sum(part.mistakes for part in runs) == (run.predictions != Y).sum()


def test_a_learner_that_was_taught_is_reset_too():
    model = om.Perceptron(classes=(-1, 1)).partial_fit(X[:50], Y[:50])
    run = om.progressive(model, X, Y, drift=loud())
    assert run.model is model and model.t_ == ROWS - 1 - run.drifts[-1]
    fresh = om.Perceptron(classes=(-1, 1)).partial_fit(X[run.drifts[-1] + 1 :], Y[run.drifts[-1] + 1 :])
    assert_array_equal(model.coef_, fresh.coef_)


@pytest.mark.parametrize(
    "detector",
    [lambda: drift.ADWIN(delta=0.3, clock=1), lambda: drift.PageHinkley(threshold=10.0), drift.binary.DDM],
)
def test_detectors_of_river(detector):
    """Alone: events; with "reset": the learner starts anew."""
    alone = om.progressive(om.Perceptron(), X, Y, drift=detector())
    twin, wanted = detector(), []
    for t, wrong in enumerate(alone.predictions != Y):
        twin.update(float(wrong))
        wanted += [t] * twin.drift_detected
    assert alone.drifts == wanted and alone.model.t_ == ROWS
    run = om.progressive(om.Perceptron(), X, Y, drift=(detector(), "reset"))
    runs, learner = by_hand(om.Perceptron(), X, Y, run.drifts)
    assert run.drifts[0] == alone.drifts[0]
    assert_array_equal(run.scores, np.concatenate([part.scores for part in runs]))
    assert_array_equal(run.model.coef_, learner.coef_)


@COMPARISONS.each(*LEARNERS, "regressor")
def every_learner_can_be_watched(name):
    """An alarm that never comes changes nothing; a reset is a fresh learner."""
    model = om.PassiveAggressiveRegressor() if name == "regressor" else LEARNERS[name]
    y = SCORES if name == "regressor" else Y
    plain, watched = (om.progressive(copy.deepcopy(model), X, y, drift=which) for which in (None, quiet()))
    assert watched.drifts == []
    for line in LINES:
        yield getattr(watched, line), getattr(plain, line)
    yield watched.totals, plain.totals
    yield watched.model.t_, plain.model.t_
    alarm = om.PageHinkley(threshold=1.0, action="reset") if name == "regressor" else loud()
    run = om.progressive(copy.deepcopy(model), X, y, drift=alarm)
    assert run.drifts, name
    runs, _ = by_hand(model, X, y, run.drifts)
    for line in LINES:
        yield getattr(run, line), np.concatenate([getattr(part, line) for part in runs])


@COMPARISONS.each(*FORMS)
def tables_of_every_form(form):
    run = om.progressive(om.Perceptron(), FORMS[form], Y, drift=loud())
    dense = om.progressive(om.Perceptron(), X, Y, drift=loud())
    yield run.scores, dense.scores
    yield run.drifts, dense.drifts
    yield run.model.coef_, dense.model.coef_
    if form == "frame":
        yield run.model.feature_names_in_ == list("abc"), np.ones(3, bool)
    else:
        yield (
            by_hand(om.Perceptron(), FORMS[form].tocsr() if "cs" in form else X, Y, run.drifts)[1].coef_,
            dense.model.coef_,
        )


@COMPARISONS.each()
def sets_of_labels():
    marks = np.c_[Y > 0, Y < 0, X[:, 0] > 0].astype(int)
    plain, watched = (om.progressive(om.Perceptron(), X, marks, drift=which) for which in (None, quiet()))
    for line in LINES:
        yield getattr(watched, line), getattr(plain, line)


def test_all_agree(tmp_path):
    """In one test, so that one worker runs the program."""
    written = COMPARISONS.run(tmp_path / "pairs.npz")
    for name in COMPARISONS.entries:
        COMPARISONS.compare(name, written)


# ---- refusals


@pytest.mark.parametrize(
    "given",
    [{"delta": -1}, {"delta": np.nan}, {"threshold": -0.1}, {"threshold": "x"}, {"threshold": True},
     {"threshold": None}, {"action": "stop"}, {"action": None}, {"patience": 0}, {"patience": 2.5}],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_named(given):
    with pytest.raises(BadInput, match=next(iter(given))) as caught:
        om.PageHinkley(**given)
    assert "\n" not in str(caught.value)


def refuses(said="drift", rows=X, y=Y, model=None, **options):
    """One line of our own, and the learner as it was."""
    model = model or om.Perceptron()
    with pytest.raises((BadInput, ValueError), match=said or None) as caught:
        om.progressive(model, rows, y, **({"drift": quiet()} | options))
    assert "\n" not in str(caught.value)
    assert model._model is None


@pytest.mark.parametrize("detector", ["adwin", 5, False, om.PageHinkley, (), (None, "reset"), {}], ids=str)
def test_what_is_no_detector(detector):
    refuses(drift=detector)


def test_what_does_not_go_together():
    refuses("delay", delay=3)
    refuses("action", drift=(drift.ADWIN(), "stop"))
    refuses("arrays", rows=({0: 1.0}, 1), y=None)
    with pytest.raises(BadInput, match="arrays"):
        om.progressive(om.Perceptron(), iter([({"a": 1.0}, 1)]), drift=quiet())


def test_a_class_of_river_is_no_detector():
    refuses(drift=drift.ADWIN)


def test_a_list_is_refused_in_one_line():
    refuses(drift=[drift.ADWIN(), "reset"])


@pytest.mark.parametrize("action", ["reset", "stop"])
def test_our_detector_in_a_pair(action):
    if action == "stop":
        refuses("action", drift=(loud("none"), "stop"))
    run = om.progressive(om.Perceptron(), X, Y, drift=(loud("none"), "reset"))
    assert run.model.t_ < ROWS


def test_a_bad_row_in_a_later_piece_leaves_the_learner_as_it_was():
    refuses("row 1050", rows=np.where(np.arange(ROWS)[:, None] == 1050, np.nan, X))


@pytest.mark.parametrize("name", ["y", "sample_weight", "chance"])
@pytest.mark.parametrize("length", [1050, 2000])
def test_one_entry_per_row(name, length):
    values = np.resize(Y, length) if name == "y" else np.full(length, 0.5)
    refuses("", **{name: values})


def test_balls_have_no_labels():
    assert om.progressive(om.PassiveAggressiveUniclass(), X, drift=quiet()).rounds == ROWS


@BROKEN.each()
def a_budget_does_not_outlive_a_reset():
    """So the two are refused together."""
    model = om.SelectiveSampler(om.Perceptron(), budget=60, random_state=0)
    try:
        om.progressive(model, X, Y, drift=om.PageHinkley(threshold=3.0, action="reset", patience=5))
    except BadInput as error:
        yield "budget" in str(error), True
    else:
        yield False, True


@BROKEN.each()
def a_piece_is_played_again_with_the_same_coins():
    """The copy is taken before the entropy of random_state=None is drawn."""
    run = om.progressive(om.Banditron(gamma=0.5), X, Y, drift=om.PageHinkley(threshold=3.0, action="reset"))
    yield run.drifts == page_hinkley(run.predictions != Y, threshold=3.0), True


@BROKEN.each()
def the_width_of_a_kernel_is_that_of_a_plain_run():
    """gamma="scale" is found from the first piece, without drift= from all rows."""
    plain, run = (om.progressive(om.Perceptron(kernel="rbf"), X, Y, drift=which) for which in (None, quiet()))
    yield run.model.gamma_, plain.model.gamma_


@BROKEN.each()
def labels_stay_as_open_as_without():
    """They are announced, which closes them."""
    model = om.Perceptron()
    om.progressive(model, X, Y, drift=quiet())
    try:
        model.learn_one({0: 1.0}, 7)
    except BadInput:
        yield False, True
    else:
        yield model.classes_, [-1, 1, 7]


@BROKEN.each()
def frames_of_polars_keep_their_names():
    """np.asarray(X) loses them."""
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = om.progressive(om.Perceptron(), frame, Y, drift=quiet()).model
    yield getattr(model, "feature_names_in_", np.zeros(3)) == list("abc"), np.ones(3, bool)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return BROKEN.run(tmp_path_factory.mktemp("drift") / "broken.npz")


@pytest.mark.parametrize("name", BROKEN.entries)
def test_others_agree(name, written):
    BROKEN.compare(name, written)


def test_labels_keep_their_kind():
    labels = ["a" if label < 0 else 1 for label in Y.tolist()]
    assert om.progressive(om.Perceptron(), X, labels, drift=quiet()).model.classes_.tolist() == (
        om.progressive(om.Perceptron(), X, labels).model.classes_.tolist()
    )


def test_sums_only():
    assert om.progressive(om.Perceptron(), X, Y, drift=quiet(), trace="sums").losses is None


if __name__ == "__main__":
    np.seterr(over="ignore")  # uniforms are mixed modulo 2^64
    (BROKEN if "broken" in sys.argv[1] else COMPARISONS).write(sys.argv[1])
