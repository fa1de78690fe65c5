"""om.Pool: what is handed out, once; answers, skips and the way back; files; threads; refusals."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import onmargin as om
from onmargin.errors import BadFile, BadInput
from onmargin.models.asking import sureness
from onmargin.protocols.pools import choosing

draw = np.random.default_rng(3)
X = draw.normal(size=(400, 5))
Y = np.where(X[:, 0] + 0.2 * draw.normal(size=400) > 0.3, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.5, 0.6])


def pool(table=X, **more):
    return om.Pool(om.AROW(), table, **({"batch": 10, "random_state": 0} | more))


def labelled(given, y=Y, times=4, k=None):
    """So many questions, all answered."""
    for _ in range(times):
        rows = given.next(k)
        given.answer(rows, y[rows])
    return given


def never(given):
    """A row that was never asked for."""
    return int(np.setdiff1d(np.arange(400), given._ledger.touched)[0])


def state(given):
    return (given._ledger, given._learned, repr(given))


# ---- what is handed out


@pytest.mark.parametrize("rule", ["margin", "random"])
def test_no_row_is_handed_out_twice_and_none_is_forgotten(rule):
    given, seen = pool(rule=rule), []
    for number in range(100):
        rows = given.next(9)
        seen += rows.tolist()
        if number % 3 == 0:
            given.answer(rows, Y[rows])
        elif number % 3 == 1:
            given.skip(rows)
    assert sorted(seen) == list(range(400))
    assert given.next().tolist() == [] and given.next(5).dtype == np.int64
    parts = [given.rows, given.skipped, given.pending]
    assert sorted(np.concatenate(parts).tolist()) == list(range(400)) and all(map(len, parts))


@pytest.mark.parametrize("kind", ["dense", "float32", "csr", "csc", "frame", "lists"])
def test_every_kind_of_table_gives_the_same_rows(kind):
    kept = np.where(np.abs(X) > 0.4, X, 0.0).astype(np.float32).astype(float)
    made = {
        "dense": lambda: kept, "float32": lambda: kept.astype(np.float32), "csr": lambda: sp.csr_matrix(kept),
        "csc": lambda: sp.csc_array(kept), "frame": lambda: pd.DataFrame(kept, columns=list("abcde")),
        "lists": kept.tolist,
    }[kind]()  # fmt: skip
    given = labelled(pool(made))
    assert len(given.rows) == 40 and given.refit().score(made, Y) > 0.85
    if kind == "frame":
        assert list(given.model.feature_names_in_) == list("abcde")
    if kind in ("float32", "lists", "frame"):
        assert_array_equal(given.rows, labelled(pool(kept)).rows)
    if kind == "csc":  # (cosines of sparse rows are of the rows as they are, of arrays of standardised ones)
        assert_array_equal(given.rows, labelled(pool(sp.csr_matrix(kept))).rows)


def test_the_most_doubtful_come_first_and_no_two_are_alike():
    """By hand: places among the 10 k least sure, and the largest cosine with those taken."""
    given = labelled(pool())
    learned, open_rows = given.model, np.setdiff1d(np.arange(400), given.rows)
    given.next(1), given.release()  # the model is that of all labels now
    learned = given.model
    sure = np.abs(learned.decision_function(X))
    near = open_rows[np.argsort(sure[open_rows], kind="stable")][:40]
    sample = X[given._likeness.sample]
    ways = (X[near] - sample.mean(axis=0)) / sample.std(axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    taken = [0]
    while len(taken) < 4:
        alike = np.abs(ways @ ways[taken].T).max(axis=1)
        cost = np.arange(40) / 39 + alike
        cost[taken] = np.inf
        taken.append(int(np.argmin(cost)))
    assert_array_equal(given.next(4), near[taken])


def test_of_several_classes_the_gap_counts():
    given = labelled(pool(), THREE)
    given.next(1), given.release()
    sure = sureness(given.model.decision_function(X))
    is_open = np.setdiff1d(np.arange(400), given.rows)
    assert given.next(1)[0] == is_open[np.argmin(sure[is_open])]
    assert set(given.refit().classes_) == {0, 1, 2}


def test_a_copy_of_a_row_is_not_asked_for_beside_it():
    """Ten copies of every row: plain margins would ask for one row ten times."""
    many = np.repeat(X[:60], 10, axis=0)
    given = labelled(pool(many), np.repeat(Y[:60], 10))
    given.next(1), given.release()
    is_open = np.setdiff1d(np.arange(600), given.rows)
    least = is_open[np.argsort(np.abs(given.model.decision_function(many[is_open])), kind="stable")][:6]
    assert len(set((least // 10).tolist())) <= 2
    assert len(set((given.next(6) // 10).tolist())) == 6
    given.release()
    one_by_one = [int(given.next(1)[0]) // 10 for _ in range(4)]  # (copies of what is pending come last)
    assert len(set(one_by_one)) > 1


def test_the_start_stands_for_the_pool():
    """Four heaps of unlike size: one row of each before a second of any, and not the strays."""
    centres = np.eye(4)[np.repeat(np.arange(4), [300, 60, 30, 10])] * 10
    table = np.r_[centres + 0.1 * draw.normal(size=(400, 4)), [[-50.0, -50.0, 9.0, 1.0]]]
    heaps = np.repeat(np.arange(5), [300, 60, 30, 10, 1])
    given = om.Pool("auto", table, random_state=0)
    assert sorted(heaps[given.next(4)].tolist()) == [0, 1, 2, 3]
    sparse = om.Pool("auto", sp.csr_matrix(np.abs(table)), random_state=0)
    assert sorted(heaps[sparse.next(4)].tolist())[:4] == [0, 1, 2, 3]


def test_the_start_goes_on_until_announced_classes_are_seen_but_not_for_ever():
    given = pool(classes=["yes", "no", "maybe"])
    for _ in range(3):
        rows = given.next()
        assert_array_equal(rows, choosing.typical(given._likeness, *untouched(given, rows), 10))
        given.answer(rows, Y[rows])
    rows = given.next()  # 30 labels for 3 classes: enough
    assert not np.array_equal(rows, choosing.typical(given._likeness, *untouched(given, rows), 10))


def untouched(given, rows):
    """Rows that were open before these were handed out, and what was covered."""
    touched = given._ledger.touched
    before = touched[~np.isin(touched, rows)]
    return np.setdiff1d(np.arange(len(X)), before), before


def test_all_labels_are_learned_by_the_learners_own_fit():
    given = labelled(pool())
    model = given.refit()
    alone = om.AROW(random_state=0, tol=None).fit(X[given.rows], given.labels)
    assert_array_equal(model.coef_, alone.coef_)
    assert model.get_params() == om.AROW(random_state=0).get_params()
    assert given.refit() is model is given.model  # nothing has changed
    assert_array_equal(given.labels, Y[given.rows])
    assert given.labels.dtype.kind == "U"


def test_the_model_is_fitted_anew_when_a_tenth_more_labels_have_come():
    given = labelled(pool(batch=5), times=10)  # 50 labels
    given.next(1)
    before, rows = given.model, given.next(5)
    for number, row in enumerate(rows.tolist(), 1):
        given.answer(row, Y[row])
        given.next(1)
        assert (given.model is before) == (number < 5)


@pytest.mark.parametrize(
    "model",
    [
        om.Perceptron(), om.PassiveAggressiveClassifier(kernel="rbf"), om.SelectiveSampler(om.Perceptron()),
        "auto",
    ],
    ids=str,
)  # fmt: skip
def test_any_classifier_will_do_and_stays_as_it_is(model):
    given = labelled(om.Pool(model, X, batch=15, random_state=0))
    assert given.refit().score(X, Y) > 0.8
    assert not hasattr(model, "classes_") and (model != "auto" or isinstance(given.model, om.AROW))


# ---- the way back


def test_forget_takes_any_answer_or_skip_back():
    given = labelled(pool())
    rows = given.next(6).tolist()
    given.answer(rows[:4], Y[rows[:4]])
    given.skip(rows[4:])
    given.forget([rows[1], rows[5]])
    assert given.pending.tolist() == [rows[1], rows[5]]
    assert_array_equal(given.rows[-3:], [rows[0], rows[2], rows[3]])
    assert given.skipped.tolist() == [rows[4]]
    before = state(given)
    for wrong, words in ((rows[1], "is waiting for its answer"), (never(given), "was not asked for")):
        with pytest.raises(BadInput, match=f"{words}.*nothing was taken back"):
            given.forget(wrong)
    assert state(given) == before
    given.answer(rows[1], "no")
    assert given.undo().tolist() == [rows[1]] and given.undo().tolist() == [rows[4]]
    assert given.undo().tolist() == [rows[0], rows[2], rows[3]] and len(given.rows) == 40


def test_a_label_that_is_at_hand_can_be_given_unasked():
    given, open_row = pool(), 17
    given.ask([open_row, 18])
    given.answer(open_row, "yes")
    assert given.pending.tolist() == [18] and given.labels.tolist() == ["yes"]
    for row in (open_row, 18):
        with pytest.raises(BadInput, match="asked for already"):
            given.ask([19, row])
    assert 19 not in given.pending
    assert not {17, 18} & set(given.next(398).tolist())


def test_a_pool_grows_and_forgets_nothing():
    """As if all rows had been there from the start, but for what was asked meanwhile."""
    small = labelled(pool(X[:200]))
    small.skip(small.next(2))
    waiting = small.next(3)
    wider = np.c_[X, np.zeros(400)]
    for table in (X, wider):
        large = small.grown(table)
        assert_array_equal(large.rows, small.rows)
        assert_array_equal(large.labels, small.labels)
        assert_array_equal(large.skipped, small.skipped)
        assert_array_equal(large.pending, waiting)
        labelled(large, times=10)
        assert max(large.rows) >= 200 and large.refit().score(table, Y) > 0.85
    assert_array_equal(pool(X[:200]).grown(X).next(5), pool().next(5))
    assert repr(small) == "Pool(200 rows: 40 answered, 2 skipped, 3 pending)"
    with pytest.raises(BadInput, match="199 rows; wanted the 200 there are, and more"):
        small.grown(X[:199])


def test_undo_takes_the_last_answer_or_skip_back():
    given = labelled(pool())
    rows = given.next(6)
    given.answer(rows[:3], Y[rows[:3]])
    given.skip(rows[3:5])
    given.skip(never(given))
    assert len(given.undo()) == 1 and len(given.skipped) == 2
    assert_array_equal(given.undo(), rows[3:5])
    assert_array_equal(given.undo(), rows[:3])
    assert sorted(given.pending) == sorted(rows) and len(given.rows) == 40 and not len(given.skipped)
    given.answer(rows[0], "yes")
    for _ in range(5):
        given.undo()
    assert not len(given.rows)
    with pytest.raises(BadInput, match="nothing to undo"):
        given.undo()


def test_a_label_that_was_taken_back_is_unlearned():
    given = labelled(pool())
    given.next(1), given.release()
    before = given.model
    given.undo()
    given.next(1)
    assert given.model is not before
    assert_array_equal(
        given.model.coef_, om.AROW(random_state=0, tol=None).fit(X[given.rows], given.labels).coef_
    )


def test_pending_rows_may_be_released():
    given = pool()
    first = given.next(5)
    given.release(first[:2])
    assert_array_equal(given.pending, first[2:])
    given.release()
    assert_array_equal(given.next(5), first)


# ---- advice


def test_advice_goes_on_until_the_last_labels_change_nothing():
    given = pool()
    assert not given.advice.stop and "0 labels of 0 classes" in given.advice.reason
    row = given.next(1)
    given.answer(row, [0])
    assert "1 label of 1 class;" in given.advice.reason
    given = pool()
    labelled(given, times=2)
    assert not given.advice.stop and "too few" in str(given.advice)
    table = draw.normal(size=(300, 2))
    y = np.where(table[:, 0] > 0, 1, 0)
    easy = labelled(om.Pool(om.AROW(), table, random_state=0), y, times=12)
    said = easy.advice
    assert said.stop and said.number >= 0.99 and "stop" in said.reason and "\n" not in said.reason
    assert said == easy.advice() == easy.advice
    noise = labelled(om.Pool(om.AROW(), table, random_state=0), draw.integers(0, 2, 300), times=12)
    assert not noise.advice.stop and noise.advice.number < 0.95


def test_advice_stops_where_no_row_is_left():
    given = om.Pool(om.AROW(), X[:6], random_state=0)
    rows = given.next(6)
    given.answer(rows[:4], Y[rows[:4]])
    assert not given.advice.stop
    given.skip(rows[4:])
    assert given.advice.stop and "answered (4) or skipped (2)" in given.advice.reason


# ---- files


@pytest.mark.parametrize("times", [0, 1, 4, 5])
def test_a_pool_goes_on_exactly_where_it_was(tmp_path, times):
    given = labelled(pool(), times=times)
    rows = given.next(6)
    given.answer(rows[:1], Y[rows[:1]])
    given.skip(rows[1:3])
    given.save(tmp_path / "pool.onm")
    other = om.Pool.load(tmp_path / "pool.onm", X)
    assert repr(other) == repr(given) and other._ledger == given._ledger
    for _ in range(3):
        for one in (given, other):
            one.answer(one.pending, Y[one.pending])
        assert_array_equal(given.next(), other.next())
    assert given.advice == other.advice
    assert_array_equal(given.refit().decision_function(X), other.refit().decision_function(X))
    assert_array_equal(given.undo(), other.undo())


def test_labels_and_parameters_keep_their_kind(tmp_path):
    kernel = om.PassiveAggressiveClassifier(kernel="rbf", C=0.5)
    given = om.Pool(kernel, X, rule="random", batch=3, classes=(("a", 1), True), random_state=4)
    given.next(2)
    given.answer(given.pending, [("a", 1), True])
    given.save(tmp_path / "pool.onm")
    other = om.Pool.load(tmp_path / "pool.onm", X)
    assert list(other._ledger.labels.values()) == [("a", 1), True]
    assert (other.rule, other.batch, other.classes) == ("random", 3, [("a", 1), True])
    assert other.refit().kernel == "rbf" and other.refit().C == 0.5


def test_another_table_is_refused(tmp_path):
    given = labelled(pool())
    given.save(tmp_path / "pool.onm")
    changed = X.copy()
    changed[300, 2] += 1e-9
    for table, words in (
        (changed, "other values"), (X[::-1], "other values"), (X[:-1], "shape"), (pd.DataFrame(X), "other"),
        (sp.csr_matrix(X), "other values"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=words) as refused:
            om.Pool.load(tmp_path / "pool.onm", table)
        assert "\n" not in str(refused.value)
    om.Pool.load(tmp_path / "pool.onm", np.asfortranarray(X))


def test_files_of_another_kind_or_damaged_are_refused(tmp_path):
    given, path = labelled(pool()), tmp_path / "pool.onm"
    given.save(path)
    with pytest.raises(BadFile, match=r"om\.Pool\.load"):
        om.load(path)
    om.save(om.AROW().fit(X, Y), tmp_path / "model.onm")
    with pytest.raises(BadFile, match=r"om\.load"):
        om.Pool.load(tmp_path / "model.onm", X)
    whole = path.read_bytes()
    for data in (whole[:-5], whole.replace(b"margin", b"merlin"), b""):
        path.write_bytes(data)
        with pytest.raises(BadFile) as refused:
            om.Pool.load(path, X)
        assert "\n" not in str(refused.value)
    with pytest.raises(BadFile, match="does not exist"):
        given.save(tmp_path / "nowhere" / "pool.onm")


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["ledger"].update(rows=np.array([0, 0, 1])),
        lambda facts: facts["ledger"].update(rows=np.array([10**6])),
        lambda facts: facts["ledger"].update(labels=["yes"]),
        lambda facts: facts["ledger"].update(labels=[np.nan] * 40),
        lambda facts: facts["ledger"].update(steps=[]), lambda facts: facts["ledger"].update(steps=3),
        lambda facts: facts["ledger"].update(pending=facts["ledger"]["rows"][:1]),
        lambda facts: facts.update(learned=99), lambda facts: facts.update(learned=-1),
        lambda facts: facts.update(seed=-3), lambda facts: facts.update(batch=0),
        lambda facts: facts.update(rule="clever"), lambda facts: facts.update(model={"class": "int"}),
        lambda facts: facts.pop("ledger"), lambda facts: facts.update(shape=7),
    ],
)  # fmt: skip
def test_forged_files_are_refused_in_one_line(tmp_path, change):
    from onmargin.protocols.saving import container

    labelled(pool()).save(tmp_path / "pool.onm")
    facts, arrays = container.read(tmp_path / "pool.onm")
    change(facts["pool"])
    container.write(tmp_path / "pool.onm", facts, arrays)
    with pytest.raises((BadFile, BadInput)) as refused:
        om.Pool.load(tmp_path / "pool.onm", X)
    assert "\n" not in str(refused.value)


# ---- what is refused, in one line, and changes nothing


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p, r: p.answer([never(p)], ["yes"]), "was not asked for"),
        (lambda p, r: p.answer([*r, 400], ["yes"] * 6), "row 400 is not in the pool"),
        (lambda p, r: p.answer(-1, "yes"), "row -1 is not in the pool"),
        (lambda p, r: p.answer(p.rows[:1], ["no"]), "was answered already, with"),
        (lambda p, r: p.answer(p.skipped[:1], ["no"]), "was skipped already"),
        (lambda p, r: p.answer([r[0], r[0]], ["no", "no"]), "twice"),
        (lambda p, r: p.answer(r, ["yes"]), "5 rows and 1 labels"),
        (lambda p, r: p.answer(r, "yes"), "wanted a list of 5 labels"),
        (lambda p, r: p.answer(r, 3), "wanted a list of 5 labels"),
        (lambda p, r: p.answer(r[0], np.nan), "nan"),
        (lambda p, r: p.answer(r, ["yes", "no", "yes", None, "no"]), "None"),
        (lambda p, r: p.answer(r, [1.0, 0.0, 1.0, np.nan, 0.0]), "nan"),
        (lambda p, r: p.answer(r[0], 0.5), "fraction"), (lambda p, r: p.answer(r[0], {"yes"}), "no sets"),
        (lambda p, r: p.answer(r, np.ones((5, 2))), "one label a row"),
        (lambda p, r: p.answer(float(r[0]), "yes"), "wanted a row number"),
        (lambda p, r: p.answer(True, "yes"), "wanted a row number"),
        (lambda p, r: p.answer("3", "yes"), "wanted a row number"),
        (lambda p, r: p.answer([r.tolist()], ["yes"]), "wanted a row number"),
        (lambda p, r: p.skip(p.rows[:1]), "was answered already"), (lambda p, r: p.skip(10**30), "row"),
        (lambda p, r: p.release([never(p)]), "was not asked for"), (lambda p, r: p.next(0), "k=0"),
        (lambda p, r: p.next(2.5), "k=2.5"), (lambda p, r: p.next(True), "k=True"),
    ],
)  # fmt: skip
def test_bad_calls_change_nothing(call, words):
    given = labelled(pool())
    given.skip(given.next(1))
    rows = given.next(5)
    before = state(given)
    with pytest.raises(BadInput, match=words) as refused:
        call(given, rows)
    assert "\n" not in str(refused.value) and state(given) == before


@pytest.mark.parametrize("closed", [{"classes": ["yes", "no"]}, {}], ids=str)
def test_an_unknown_label_is_refused_where_classes_are_closed(closed):
    model = om.AROW() if closed else om.AROW(classes=["yes", "no"])
    given = om.Pool(model, X, random_state=0, **closed)
    rows = given.next(2)
    before = state(given)
    with pytest.raises(BadInput, match="'maybe' is not among the classes"):
        given.answer(rows, ["yes", "maybe"])
    assert state(given) == before
    given.answer(rows, ["yes", "no"])
    assert given.refit().classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: om.Pool(om.PassiveAggressiveRegressor(), X), "wanted a classifier"),
        (lambda: om.Pool(om.BBQ(), X), "wanted a classifier"), (lambda: om.Pool("AROW", X), "wanted a class"),
        (lambda: om.Pool(None, X), "model=None; wanted a classifier"),
        (lambda: om.Pool(om.Perceptron(kernel="precomputed"), X), "precomputed"),
        (lambda: pool(rule="clever"), "rule='clever'"), (lambda: pool(batch=0), "batch=0"),
        (lambda: pool(classes=["one"]), "two classes"), (lambda: pool(random_state=-1), "random_state=-1"),
        (lambda: pool(random_state="a"), "random_state='a'"), (lambda: pool(X[:0]), "shape"),
        (lambda: pool(X[0]), "shape"), (lambda: pool([["a", "b"]]), "cannot be read as numbers"),
        (lambda: pool(np.where(np.arange(400)[:, None] == 7, np.nan, X)), "row 7 has a NaN in column 0"),
        (lambda: pool(sp.csr_matrix(np.where(np.arange(400)[:, None] == 7, np.inf, X))), "row 7 has an inf"),
        (lambda: pool(pd.DataFrame({"a": [1.0, np.nan], "b": [1.0, 2.0]})), "row 1 has a NaN in column 'a'"),
        (lambda: pool().refit(), "wanted labels of at least two classes"),
    ],
)  # fmt: skip
def test_pools_that_make_no_sense(make, words):
    with pytest.raises(BadInput, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_a_question_that_fails_changes_nothing(monkeypatch):
    given = labelled(pool())
    before = state(given)

    def fails(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(om.AROW, "decision_function", fails)
    with pytest.raises(KeyboardInterrupt):
        given.next()
    assert state(given) == before


# ---- threads


def test_several_people_answer_while_others_ask():
    given, handed, wrong = pool(batch=3), [], []

    def work():
        try:
            while len(rows := given.next(4)):
                handed.append(rows)
                given.skip(rows[:1])
                given.answer(rows[1:], Y[rows[1:]])
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and sorted(np.concatenate(handed).tolist()) == list(range(400))
    assert len(given.skipped) == len(handed) and not len(given.pending)
    assert_array_equal(given.labels, Y[given.rows])


# ---- how long it takes


def test_further_rows_are_chosen_without_fitting_or_scoring_again(monkeypatch):
    count = 20_000
    places = np.sort(draw.integers(0, 2**18, size=(count, 50)), axis=1).astype(np.int32)
    table = sp.csr_matrix((draw.random(count * 50), places.ravel(), np.arange(0, count * 50 + 1, 50)))
    table.sum_duplicates()
    given = om.Pool(om.AROW(), table, random_state=0)
    y = draw.integers(0, 2, count)
    rows = given.next(20)
    given.answer(rows, y[rows])
    given.next(20)  # fits and scores
    for call in ("fit", "decision_function", "predict"):
        monkeypatch.setattr(om.AROW, call, lambda *_, call=call: pytest.fail(f"{call} was called"))
    more = given.next(20)
    assert len(set(more.tolist()) - set(rows.tolist())) == 20
    given.answer(more, y[more])
    with pytest.raises(pytest.fail.Exception):  # with labels that are new it does
        given.next(20)
