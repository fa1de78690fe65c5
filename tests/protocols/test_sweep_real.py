"""Sweeps of texts and of rankings on real sets: an average is seen, words have names."""

from __future__ import annotations

import lzma

import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from tests.test_real_data import DATA, open_data  # (skip where there is no data)

import onmargin as om


@pytest.fixture(scope="module")
def messages():
    with open_data("sms_spam/SMSSpamCollection.gz") as file:
        lines = [line.rstrip("\n").split("\t", 1) for line in file.read().decode().splitlines()]
    labels, texts = zip(*lines, strict=True)
    return list(texts)[:2000], list(labels)[:2000]


def test_an_average_in_the_grid_is_judged_by_what_it_answers(messages):
    """Before, rows differed by C alone and the tie went to average=False."""
    texts, labels = messages
    pipeline = make_pipeline(TfidfVectorizer(), om.Perceptron())
    grid = {"perceptron__average": [False, True], "perceptron__rate": [1.0]}
    result = om.sweep(pipeline, grid, texts, labels, scoring="f1")
    X = TfidfVectorizer().fit_transform(texts)
    runs = [om.progressive(om.Perceptron(average=a), X, labels, scored_by="model") for a in (False, True)]
    assert [row["f1"] for row in result.rows] == [run.metrics("f1")["f1"] for run in runs]
    assert result.rows[0]["mistakes"] != result.rows[1]["mistakes"]
    assert result.best_params["perceptron__average"] is (result.rows[1]["f1"] > result.rows[0]["f1"])
    words = set(om.top_features(result.best_model, 40)["feature"])
    assert {"txt", "free", "www", "call", "claim", "mobile"} & words and all(
        isinstance(w, str) for w in words
    )


def test_rankers_by_query_are_better_averaged():
    """MQ2008: NDCG of every query before it was learned."""
    open_data("mq2008/S1.txt.xz").close()
    with lzma.open(DATA / "mq2008/S1.txt.xz") as file:
        X, y, qid = load_svmlight_file(file, n_features=46, query_id=True)
    model = om.PairedRanker(random_state=0)
    result = om.sweep(model, {"average": [False, True], "C": [0.1, 1.0]}, X, y, qid=qid)
    assert result.best_params["average"] is True
    found = {(row["average"], row["C"]): row["ndcg"] for row in result.rows}
    assert all(found[True, C] > found[False, C] for C in (0.1, 1.0))
