"""PairedClassifier in streams: pieces, kinds of tables, copies and files, seeds, late labels, memory."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import onmargin as om
from onmargin.errors import BadFile
from onmargin.models.paired import pairing
from onmargin.models.paired.pool import SLACK
from onmargin.protocols.saving import container as saved

from ..students import PLAIN
from .test_paired_classifier import FULL, SETS, SPARSE, THREE, TWO, WEIGHT, X, paired

TARGETS = {"two": (TWO, ("common", "rare")), "three": (THREE, (0, 1, 2)), "sets": (SETS, None)}
each_target = pytest.mark.parametrize("kind", TARGETS)
VECTORS = {"kernel": "rbf", "gamma": 0.3}
DOUBLE = {**VECTORS, "dtype": "float64"}


def fresh(kind, **more):
    """A learner that knows its labels, averaged."""
    classes = TARGETS[kind][1]
    return paired(**({"classes": classes, "random_state": 4, "average": True, "rule": "dca"} | more))


def table_for(kind):
    """Dense for two classes, CSR for several: what is compiled anyway."""
    return X if kind == "two" else SPARSE


def learn_in(model, table, y, places, weight=WEIGHT):
    """One call for each piece."""
    for some in map(slice, (0, *places), (*places, len(y))):
        model.partial_fit(table[some], y[some], sample_weight=None if weight is None else weight[some])
    return model


def learn_dicts(model, rows, y, weight):
    """The loop of learn_one; column numbers are the names."""
    for row, label, w in zip(rows.tolist(), y.tolist(), weight.tolist(), strict=True):
        label = dict(enumerate(map(bool, label))) if isinstance(label, list) else label
        model.learn_one(dict(enumerate(row)), label, w)
    return model


def inside(model):
    """Everything that rounds to come depend on."""
    arrays = model._model.state()[1]
    return model.t_, {name: array.copy() for name, array in arrays.items()}


def same(first, second):
    """Bit for bit."""
    (clock, arrays), (other, theirs) = inside(first), inside(second)
    assert clock == other and arrays.keys() == theirs.keys()
    for name, array in arrays.items():
        assert_array_equal(array, theirs[name], err_msg=name)


# ---- pieces and tables


@each_target
@pytest.mark.parametrize("sampler", ["reservoir", "recent"])
def test_pieces_do_not_matter(kind, sampler):
    """Also pieces of one row: weights and reservoirs bit for bit."""
    y, table = TARGETS[kind][0], table_for(kind)
    whole = learn_in(fresh(kind, sampler=sampler), table, y, ())
    for places in ((1, 2, 3, 30, 31, 100), range(1, len(y))):
        cut = learn_in(fresh(kind, sampler=sampler), table, y, places)
        assert_array_equal(cut.coef_, whole.coef_)
        assert_array_equal(cut.intercept_, whole.intercept_)
        held, wanted = (m._model.pairing for m in (cut, whole))
        assert_array_equal(held.seen, wanted.seen)
        assert_array_equal(held.pool.marks.view[held.slots], wanted.pool.marks.view[wanted.slots])


@each_target
def test_pieces_of_a_kernel_learner_do_not_matter(kind):
    y, table = TARGETS[kind][0], table_for(kind)
    whole = learn_in(fresh(kind, **DOUBLE), table, y, ())
    cut = learn_in(fresh(kind, **DOUBLE), table, y, (1, 2, 3, 30, 31, 100))
    order, wanted = np.argsort(cut.support_), np.argsort(whole.support_)
    assert_array_equal(cut.support_[order], whole.support_[wanted])
    assert_allclose(cut.dual_coef_[..., order], whole.dual_coef_[..., wanted], rtol=1e-9, atol=1e-9)


def test_the_order_of_the_support_does_not_hang_on_the_pieces():
    """Now by number within a block, by first step between blocks."""
    whole, cut = (learn_in(fresh("two", **DOUBLE), FULL, TWO, at) for at in ((), range(1, len(FULL))))
    assert_array_equal(cut.support_, whole.support_)


@pytest.mark.parametrize("more", [{}, DOUBLE], ids=["weights", "rbf"])
def test_one_pass_is_the_stream(more):
    told = {"max_iter": 1, "shuffle": False, "tol": None}
    fitted = fresh("two", **more, **told).fit(X, TWO, sample_weight=WEIGHT)
    stream = fresh("two", **more).partial_fit(X, TWO, sample_weight=WEIGHT)
    assert_allclose(fitted.decision_function(X), stream.decision_function(X), rtol=1e-9)


# ---- copies and files


def through_a_file(model, path):
    """Written and read."""
    om.save(model, path / "m.onm")
    return om.load(path / "m.onm")


@each_target
@pytest.mark.parametrize("more", [{"random_state": None}, VECTORS, {"sampler": "recent"}], ids=str)
def test_copies_go_on_bit_for_bit(kind, more, tmp_path):
    """From a file, a pickle and a deep copy, with all reservoirs, and for arrays and dicts."""
    y, table = TARGETS[kind][0], table_for(kind)
    model = fresh(kind, **more).partial_fit(table[:90], y[:90], sample_weight=WEIGHT[:90])
    twins = [through_a_file(model, tmp_path), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for twin in twins:
        same(model, twin)
    for one in (model, *twins):
        one.partial_fit(table[90:140], y[90:140])
        learn_dicts(one, FULL[140:], y[140:], 0.1 + WEIGHT[140:])
    for twin in twins:
        same(model, twin)
        assert_array_equal(twin.decision_function(FULL), model.decision_function(FULL))


def test_a_file_in_the_middle_of_dicts_that_grow(tmp_path):
    straight, broken = paired("auc", random_state=1), paired("auc", random_state=1)
    for number, row in enumerate(X[:60].tolist()):
        x = dict(zip("abcde"[: 2 + number // 15], row, strict=False))
        label = "zm"[int(TWO[number] == "rare")] if number < 30 else "zma"[THREE[number]]
        for model in (straight, broken):
            model.learn_one(x, label)
        if number % 7 == 0:
            broken = through_a_file(broken, tmp_path)
    same(straight, broken)
    assert straight.classes_.tolist() == broken.classes_.tolist() == ["a", "m", "z"]


def set_at(value, place=0):
    """The array with another number in it."""

    def change(array):
        array.reshape(-1)[place] = value
        return array

    return change


@pytest.mark.parametrize(
    "name, change",
    [
        ("slots", set_at(10**6)), ("slots", set_at(-5)), ("slots", lambda a: a[:2]),
        ("seen", lambda a: a[:2]),
        ("middle", lambda a: a[:, :1]), ("pool.marks", lambda a: a[:-1]), ("pool.ids", lambda a: a[1:]),
        ("pool.values", lambda a: a[:-1]), ("pool.starts", set_at(10**6, 3)), ("pool.starts", set_at(-1)),
        ("pool.weights", lambda a: a.astype("f4")),
        ("pool.indices", set_at(10**6)),
        ("pool.marks", lambda a: a[:, :2]),
        ("pool.marks", set_at(7)),
        ("seen", set_at(-3)),
        ("slots", set_at(-1)),
        ("slots", lambda a: a.astype(float)),
        ("pool.values", set_at(np.nan)),
        ("pool.weights", set_at(np.nan)),
    ],
)  # fmt: skip
def test_damaged_reservoirs_are_refused_in_one_line(name, change, tmp_path):
    """The digest fits: the file was made so."""
    om.save(fresh("three", random_state=0).partial_fit(SPARSE, THREE), tmp_path / "m.onm")
    facts, arrays = saved.read(tmp_path / "m.onm")
    arrays[f"pairing.{name}"] = np.ascontiguousarray(change(arrays[f"pairing.{name}"].copy()))
    saved.write(tmp_path / "m.onm", facts, arrays)
    with pytest.raises(BadFile) as caught:
        om.load(tmp_path / "m.onm")
    assert "\n" not in str(caught.value)


def test_a_pool_of_no_kind_has_no_rows(tmp_path):
    om.save(fresh("three").partial_fit(SPARSE, THREE), tmp_path / "m.onm")
    facts, arrays = saved.read(tmp_path / "m.onm")
    facts["model"]["pool_kind"] = ""
    saved.write(tmp_path / "m.onm", facts, arrays)
    with pytest.raises(BadFile):
        om.load(tmp_path / "m.onm")


# ---- seeds, late labels, memory


def test_seeds_and_clones():
    """The same seed is the same model; a clone without a seed has the entropy of the original."""
    first, again, other = (fresh("two", random_state=k).partial_fit(X, TWO) for k in (3, 3, 4))
    same(first, again)
    assert (first.coef_ != other.coef_).any()
    one, two = (fresh("two", random_state=None).partial_fit(X, TWO) for _ in range(2))
    assert (one.coef_ != two.coef_).any()
    twin = one.clone()
    assert twin.get_params() == one.get_params() and not hasattr(twin, "coef_")
    same(twin.partial_fit(X, TWO), one)


def test_what_progressive_keeps():
    """Sums alone, late labels, and the loop over dicts: the same model."""
    full, sums, late = (
        om.progressive(fresh("two"), X, TWO, sample_weight=WEIGHT, **more)
        for more in ({}, {"trace": "sums"}, {"delay": 7})
    )
    assert (full.mistakes, full.rounds) == (sums.mistakes, sums.rounds)
    same(full.model, sums.model)
    same(full.model, late.model)
    assert not late.scores[:8].any() and (late.scores[8:] != 0).any()
    dicts = [(dict(enumerate(row)), label) for row, label in zip(X.tolist(), TWO.tolist(), strict=True)]
    for scored_by in ("running", "model"):
        table = om.progressive(fresh("two"), X, TWO, scored_by=scored_by)
        loop = om.progressive(fresh("two"), iter(dicts), scored_by=scored_by)
        assert_allclose(np.ravel(loop.scores), np.ravel(table.scores), rtol=1e-9, atol=1e-9)
        assert list(loop.predictions) == list(table.predictions) and loop.mistakes == table.mistakes


@pytest.mark.parametrize(
    "more", [{}, {"sampler": "recent"}, {"sampler": "recent", "kernel": "linear"}], ids=str
)
def test_a_long_stream_keeps_few_rows(more):
    """However it is cut; every slot names a row of the last thousands where all is recent."""
    model = paired(**more, classes=("common", "rare"), random_state=0, C=1e-3)
    many, labels = np.tile(X, (25, 1)), np.tile(TWO, 25)
    sizes = []
    for some in np.array_split(np.arange(len(many)), 40 if more.get("kernel") else 160):
        model.partial_fit(many[some], labels[some])
        sizes.append(len(model._model.pairing.pool))
    slots = model._model.pairing.slots
    assert max(sizes) <= 2 * slots.size + SLACK + 100 and (slots >= 0).all() and slots.max() < sizes[-1]
    assert model._model.pairing.seen.sum() == len(many)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_a_round_that_was_drawn_and_not_played_leaves_nothing(kernel, monkeypatch):
    """The round's copy shares the kept rows: what it took on is not seen, and overwritten."""
    examples = [({"a": float(i % 7), "b": float(-i % 5)}, "xy"[i % 3 == 0]) for i in range(40)]
    disturbed, quiet = (om.PairedClassifier(reservoir=3, random_state=1, kernel=kernel) for _ in range(2))
    drawn = pairing.Pairing.rounds

    def and_no_more(*given):
        drawn(*given)
        raise KeyboardInterrupt

    for number, (x, y) in enumerate(examples):
        if number > 5:
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr(pairing.Pairing, "rounds", and_no_more)
                disturbed.learn_one(*examples[number - 3], 2.0)  # (a weight: through the copy)
        disturbed.learn_one(x, y)
        quiet.learn_one(x, y)
    for found, wanted in zip(disturbed._model.state(), quiet._model.state(), strict=True):
        assert found.keys() == wanted.keys()
        for name in found:
            assert_array_equal(found[name], wanted[name])


def test_rounds_one_at_a_time_draw_as_rows_of_a_table_do():
    """Uniforms are drawn ahead, and anew where the seed or the clock is another."""
    draw = np.random.default_rng(2)
    X, y = draw.normal(size=(150, 3)), draw.integers(0, 2, 150)
    whole, single = (om.PairedClassifier(C=0.1, reservoir=4, random_state=3, **PLAIN) for _ in range(2))
    whole.partial_fit(X[:100], y[:100], classes=[0, 1])
    single.partial_fit(X[:20], y[:20], classes=[0, 1])
    for row in range(20, 100):
        single.learn_one(dict(enumerate(X[row])), int(y[row]))
    for model in (whole, single):
        model.set_params(random_state=4)
    whole.partial_fit(X[100:], y[100:])
    for row in range(100, 150):
        single.learn_one(dict(enumerate(X[row])), int(y[row]))
    assert_allclose(single.coef_, whole.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_c_that_is_left_to_the_data_is_the_one_that_is_learned_with(kernel):
    auto = om.PairedClassifier(kernel=kernel, random_state=1).fit(X, TWO)
    told = om.PairedClassifier(kernel=kernel, random_state=1, C=auto.C_).fit(X, TWO)
    assert auto.C_ < 0.5
    assert_array_equal(auto.decision_function(X), told.decision_function(X))
    stream = [({"a": float(number % 7)}, "xy"[number % 3 == 0]) for number in range(1, 40)]
    auto = om.PairedClassifier(kernel=kernel, random_state=1)
    auto.learn_one(*stream[0])
    told = om.PairedClassifier(kernel=kernel, random_state=1, C=auto.C_)
    told.learn_one(*stream[0])
    for x, y in stream[1:]:
        auto.learn_one(x, y)
        told.learn_one(x, y)
    assert auto.predict_proba_one({"a": 2.0}) == told.predict_proba_one({"a": 2.0})
