"""Real sets, where they are at hand: what the seeds say of noise, averages and label sets."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize, scale

import onmargin as om

DATA = Path(os.environ.get("ONMARGIN_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


def open_data(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set ONMARGIN_DATA to the folder of real sets")
    return gzip.open(path)


def svmlight(name, columns, **options):
    with open_data(name) as file:
        return load_svmlight_file(file, n_features=columns, **options)


def indicator(sets, labels):
    table = np.zeros((len(sets), labels), int)
    for row, own in enumerate(sets):
        table[row, [int(label) for label in own]] = 1
    return table


def test_reuters_needs_the_running_threshold():
    """One pass over 90 topics: the threshold makes sets of a ranking; 0 would take nearly all labels."""
    X, Y = svmlight("reuters21578/r90_counts.train.svm.gz", 10176, multilabel=True)
    X_test, Y_test = svmlight("reuters21578/r90_counts.test.svm.gz", 10176, multilabel=True)
    X, X_test, Y, Y_test = normalize(X), normalize(X_test), indicator(Y, 90), indicator(Y_test, 90)
    ranking = om.PassiveAggressiveClassifier(multilabel="ranking").partial_fit(X, sp.csr_matrix(Y))
    reached = f1_score(Y_test, ranking.predict(X_test), average="micro", zero_division=0)
    at_zero = ranking.decision_function(X_test) + ranking.threshold_ > 0
    assert reached > 0.7 > 0.1 > f1_score(Y_test, at_zero.astype(int), average="micro", zero_division=0)
    calibrated = om.PassiveAggressiveClassifier(multilabel="calibrated").partial_fit(X, Y)
    assert f1_score(Y_test, calibrated.predict(X_test), average="micro", zero_division=0) > reached


def test_usps_margin_learners_beat_the_perceptron_and_averages_beat_last_iterates():
    def digits(name):
        with open_data(name) as file:
            table = np.loadtxt(file)
        return table[:, 1:], table[:, 0].astype(int)

    X, y = digits("usps/zip.train.gz")
    X_test, y_test = digits("usps/zip.test.gz")
    online, last, mean = {}, {}, {}
    for name, make in {
        "perceptron": om.Perceptron,
        "uniform": lambda **o: om.Perceptron(update="uniform", **o),
        "pa1": lambda **o: om.PassiveAggressiveClassifier(C=0.01, **o),
        "mira": lambda **o: om.MIRA(C=0.01, **o),
    }.items():
        run = om.progressive(make(), X, y)
        online[name], last[name] = run.error_rate, 1 - run.model.score(X_test, y_test)
        mean[name] = 1 - om.progressive(make(average=True), X, y).model.score(X_test, y_test)
    assert max(online["pa1"], online["mira"]) < min(online["perceptron"], online["uniform"])
    assert abs(online["pa1"] - online["mira"]) < 0.01
    assert all(mean[name] < last[name] + 0.005 for name in mean)
    assert mean["pa1"] < 0.12


def test_adult_is_noisy_so_a_small_c_is_better():
    X, y = svmlight("a9a/a9a.gz", 123)
    errors = {
        C: om.progressive(om.PassiveAggressiveClassifier(C=C), X, y, trace="sums").error_rate
        for C in (1e-2, 10.0)
    }
    hard = om.progressive(om.PassiveAggressiveClassifier(step="pa"), X, y, trace="sums").error_rate
    assert errors[1e-2] < 0.17 < 0.19 < min(errors[10.0], hard)
    assert om.progressive(om.AROW(), X, y, trace="sums").error_rate < errors[10.0]


def test_abalone_regression_finds_what_least_squares_finds():
    with open_data("abalone/abalone.data.gz") as file:
        lines = [line.decode().strip().split(",") for line in file]
    X = scale(np.array([[float(value) for value in line[1:-1]] for line in lines]))
    y = np.array([float(line[-1]) for line in lines])
    model = om.PassiveAggressiveRegressor(C=0.01, average=True, random_state=0, tol=None).fit(X, y)
    design = np.c_[X, np.ones(len(y))]
    best = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert np.abs(model.predict(X) - y).mean() < 1.02 * np.abs(best - y).mean()
