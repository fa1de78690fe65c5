"""Learning from sources: stopped and gone on with, it is the run that was not, bit for bit."""

import numpy as np
import pytest
from tests.cli.processes import assert_same, write_csv, write_svmlight, write_text

import onmargin as om
from onmargin.errors import OnmarginError
from onmargin.protocols.requested.answering import judged, places
from onmargin.protocols.requested.reading import Reading
from onmargin.protocols.requested.requests import Request
from onmargin.protocols.requested.training import whole_groups
from onmargin.protocols.saving.files import notes_of
from onmargin.sources.blocks import Block


def in_pieces(request, parameters):
    """Learn, stopped after every block, until all is learned; how many pieces."""
    for pieces in range(1, 100):
        began = []
        again = Request([request], resume=True, **parameters).training(
            tell=lambda _, b=began: b[0].interrupt()
        )
        began.append(again)
        if again.run().is_whole:
            return pieces
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("write", "name", "given"),
    [
        (write_svmlight, "a.svm", {}),
        (write_csv, "a.csv", {}),
        (write_text, "a.txt", {"parameters": {"idf": True, "bits": 10}}),
        (
            write_svmlight,
            "a.svm",
            {"algorithm": "perceptron", "parameters": {"init": "random", "random_state": 0}},
        ),
    ],
)
def test_stopped_and_gone_on_with_is_the_run_that_was_not(tmp_path, write, name, given):
    data = str(write(tmp_path / name, 20_000))
    straight, stopped = str(tmp_path / "straight.onm"), str(tmp_path / "stopped.onm")
    record = Request([data], save=straight, passes=2, **given).training().run()
    assert record.is_whole and record.rows == 40_000
    assert (
        in_pieces(data, {"save": stopped, "passes": 2, **given}) == 7
    )  # 3 blocks a pass; the end is seen later
    assert_same(straight, stopped)


def test_a_checkpoint_is_a_run_to_go_on_with(tmp_path):
    data = str(write_svmlight(tmp_path / "a.svm", 20_000))
    straight, kept = str(tmp_path / "straight.onm"), str(tmp_path / "kept.onm")
    Request([data], save=straight).training().run()

    class Killed(Exception):
        pass

    def kill(moment):
        if moment.record.row > 10_000:
            raise Killed

    with pytest.raises(Killed):
        Request([data], save=kept, every=1).training(tell=kill).run()
    assert notes_of(kept)["row"] == 16_384
    Request([data], save=kept, resume=True).training().run()
    assert_same(straight, kept)


def test_blocks_are_those_of_progressive(tmp_path):
    data = str(write_svmlight(tmp_path / "a.svm"))
    X, y = om.sources.svmlight.read(data)
    run = om.progressive(om.PassiveAggressiveClassifier(C=0.1, growing=True), X, y)
    training = Request([data], parameters={"C": 0.1}).training(traced=True)
    lines = []
    training.tell = lambda moment: lines.extend(moment.lines)
    record = training.run()
    assert record.tally.mistakes == run.mistakes and record.tally.updates == run.updates
    assert np.array_equal(training.model.coef_, run.model.coef_)
    assert [line.examples for line in lines] == [2**k for k in range(12)]
    wrong = np.cumsum(run.wrong())
    assert [line.average for line in lines] == [wrong[2**k - 1] / 2**k for k in range(12)]
    assert lines[-1].label == y[2047] and lines[-1].features == X[2047].nnz


def test_the_second_pass_counts_on(tmp_path):
    data, lines = str(write_svmlight(tmp_path / "a.svm", 100)), []
    training = Request([data], passes=3).training(traced=True, tell=lambda moment: lines.extend(moment.lines))
    record = training.run()
    assert [line.examples for line in lines] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert [one["examples"] for one in record.earlier] == [100, 100, 100]


def test_sets_of_labels_queries_and_numbers(tmp_path):
    draw = np.random.default_rng(0)
    sets, queries, numbers = tmp_path / "sets.svm", tmp_path / "queries.svm", tmp_path / "numbers.svm"
    sets.write_text("".join(f"{'1,3' if k % 3 else '2'} {1 + k % 3}:1\n" for k in range(60)))
    rows = [(k // 7, k % 3, draw.normal(size=2)) for k in range(20_000)]
    queries.write_text("".join(f"{y} qid:{q} 1:{y + e:.3f} 2:{f:.3f}\n" for q, y, (e, f) in rows))
    numbers.write_text("".join(f"{k % 10 + 0.5} 1:{k % 10}\n" for k in range(500)))
    training = Request([str(sets)]).training()
    record = training.run()
    assert record.task == "sets" and training.model.classes_.tolist() == [1.0, 2.0, 3.0]
    assert record.tally.average < 0.2
    found = Request([str(queries)], save=str(tmp_path / "q.onm")).training()
    record = found.run()
    assert record.task == "queries" and record.rows == 20_000 and record.tally.word == "ndcg"
    assert record.tally.count == 2858 and record.tally.average > 0.8
    assert judged(found.model, Reading([str(queries)]).peeked.blocks())["ndcg"] > 0.8
    again = Request([str(queries)]).training()
    assert again.run().tally.average == record.tally.average  # what is drawn is drawn alike
    assert np.array_equal(again.model.coef_, found.model.coef_)
    training = Request([str(numbers)]).training()
    record = training.run()
    assert (record.task, record.algorithm, record.tally.word) == ("numbers", "ftrl", "mae")
    X, y = om.sources.svmlight.read(numbers)
    gaps = np.abs(om.progressive(om.FTRLRegressor(growing=True), X, y).predictions - y)
    assert record.tally.average == pytest.approx(gaps.mean(), rel=1e-12)


def test_groups_are_never_cut():
    groups = np.repeat(np.arange(5), [3, 1, 4, 1, 5])
    X = np.arange(14.0)[:, None]
    blocks = [Block(X[a : a + 4], X[a : a + 4, 0], None, groups[a : a + 4]) for a in range(0, 14, 4)]
    given = list(whole_groups(iter(blocks)))
    assert np.concatenate([block.groups for block in given]).tolist() == groups.tolist()
    for block, after in zip(given, given[1:], strict=False):
        assert block.groups[-1] != after.groups[0]
    assert places(np.array([1.0, 3.0, 3.0, 0.0]), np.array([0, 0, 0, 1])).tolist() == [3, 1, 2, 1]


def test_lines_without_a_label_are_counted_and_left_out(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text(
        "".join("|a x\n" if k % 5 == 0 else f"{1 if k % 2 else -1} |a x{k % 2}\n" for k in range(100))
    )
    record = Request([str(path)]).training().run()
    assert record.rows == 100 and record.unlabelled == 20 and record.tally.count == 80


def test_what_cannot_be_gone_on_with_is_refused_in_one_line(tmp_path):
    data, other = write_svmlight(tmp_path / "a.svm", 50), write_svmlight(tmp_path / "b.svm", 60)
    kept = str(tmp_path / "m.onm")
    Request([str(data)], save=kept, parameters={"C": 0.5}).training().run()
    plain = str(tmp_path / "plain.onm")
    om.save(om.Perceptron(), plain)
    refusals = {
        "was learned with data": {"data": [str(other)]},
        "was learned with pa1, not arow": {"algorithm": "arow"},
        "has C=0.5, and 0.1 is asked for": {"parameters": {"C": 0.1}},
        "does not say how it was learned": {"save": plain},
        "give --save": {"save": None},
        "passes=0": {"passes": 0},
        "cannot be saved": {"save": str(tmp_path / "none" / "m.onm")},
    }
    for said, changed in refusals.items():
        with pytest.raises(OnmarginError) as caught:
            Request(**{"data": [str(data)], "save": kept, "resume": True} | changed).training()
        assert said in str(caught.value) and "\n" not in str(caught.value)
    data.write_text(data.read_text() + "1 1:1\n")
    with pytest.raises(OnmarginError, match="bytes when learning began"):
        Request([str(data)], save=kept, resume=True).training()


def test_a_model_of_python_is_a_start_and_files_go_both_ways(tmp_path):
    data, kept = str(write_csv(tmp_path / "a.csv")), str(tmp_path / "m.onm")
    Request([data], save=kept).training().run()
    pipeline = om.load(kept)
    X, y = om.sources.csv.read(data, features=None)
    assert (pipeline.predict(X) == y).mean() > 0.85
    again = str(tmp_path / "again.onm")
    om.save(pipeline, again)
    assert notes_of(again) is None
    training = Request([data], start=again, save=kept).training()
    training.run()
    assert training.model.t_ == 6000
    assert judged(training.whole, Reading([data]).peeked.blocks())["error"] < 0.15


def test_two_means_two(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n2 2:1\n3 3:1\n")
    with pytest.raises(OnmarginError, match="pa1.binary is for two classes, and there is 3.0 beside"):
        Request([str(path)], algorithm="pa1.binary").training().run()


def test_a_damaged_record_is_refused(tmp_path):
    data, kept = str(write_svmlight(tmp_path / "a.svm", 50)), str(tmp_path / "m.onm")
    Request([data], save=kept).training().run()
    model, notes = om.load(kept), notes_of(kept)
    for name, value in (
        ("row", -1),
        ("rows", "many"),
        ("tally", {}),
        ("tally", {**notes["tally"], "count": "x"}),
    ):
        om.save(model, kept, notes={**notes, name: value})
        with pytest.raises(OnmarginError, match="record of learning that is none"):
            Request([data], save=kept, resume=True).training()
