"""F1 against labels (E8): rules that choose beside labels drawn at random, on Adult and on texts.

Adult: RBF kernel. Texts: 20 Newsgroups, the five groups on computers against the rest, tf-idf. A sampler goes
once over 5,000 rows and aims at a share of labels; BBQ(kappa), over 1,500, asks as it must.
Random labels are compared at the same number of labels, between the points of their own curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score

from ..estimators.bbq import BBQ
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..estimators.sampler import SelectiveSampler
from ..sources.real import Split, adult, news20
from .drawing import lines, panels
from .outcome import Claim, Outcome, summed_up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    "S2, real world experiments: F-measure and fraction of queried labels, Adult9 (Gaussian kernel) and RCV1"
)
PROTOCOL = (
    "A sampler goes once over 5,000 training rows and aims at a share of labels; BBQ(kappa), over "
    "1,500, asks as it must. F1 is that of 4,000 test rows. Labels drawn at random are compared at the "
    "same number of labels, between the points of their own curve."
)
DATA = ("a9a", "news20")
STAND_IN = (
    "20 Newsgroups (the five groups on computers against the rest, tf-idf) stands in for RCV1, which is "
    "not at hand in full"
)
SEEDS, QUICK, SECONDS = 5, 1, 120
SHARES = (0.02, 0.05, 0.1, 0.2)
KAPPAS = {"Adult": (0.2, 0.3), "texts": (0.1, 0.12)}
ROWS, FEWER = 5000, 1500  # rows to learn from; BBQ's rounds cost the square of the labels it has
Made = Callable[[float, int], Any]


def learners(data: str) -> dict[str, dict[str, Any]]:
    """Of every rule: the points of its curve, and how a learner is made of one."""
    form: dict[str, Any] = {"fit_intercept": False, "average": False}
    if data == "Adult":
        form = {"kernel": "rbf", "gamma": 0.05, "average": True, "intercept_scaling": 1.0}

    def sampler(learner: Any, rule: str) -> Made:
        return lambda share, seed: SelectiveSampler(
            learner, rule=rule, delta=1.0, target_rate=share, random_state=seed
        )

    perceptron = Perceptron(shuffle=False, **form)
    passive = PassiveAggressiveClassifier(C=1.0, shuffle=False, **form)
    kernel = {"kernel": "rbf", "gamma": 0.05} if data == "Adult" else {"kernel": "linear"}
    return {
        "random, Perceptron": {"points": SHARES, "make": sampler(perceptron, "random")},
        "selective Perceptron": {"points": SHARES, "make": sampler(perceptron, "bernoulli")},
        "random, PA-I": {"points": SHARES, "make": sampler(passive, "random")},
        "selective PA-I": {"points": SHARES, "make": sampler(passive, "bernoulli")},
        "BBQ(kappa)": {
            "points": KAPPAS[data], "make": lambda kappa, seed: BBQ(kappa=kappa, shuffle=False, **kernel)
        },
    }  # fmt: skip


def prepared(data: str) -> Split:
    """Rows, labels -1 and +1."""
    if data == "Adult":
        return adult()
    texts = news20()
    transform = TfidfTransformer(sublinear_tf=True).fit(texts.X)
    about = [np.where((y >= 1) & (y <= 5), 1, -1) for y in (texts.y, texts.y_test)]
    return Split(transform.transform(texts.X), about[0], transform.transform(texts.X_test), about[1])


def one_run(seed: int, make: Made, point: float, data: Split, rows: int) -> dict[str, float]:
    """One pass over some rows; labels used, and F1 on the test rows."""
    order = np.random.default_rng([8, seed]).permutation(len(data.y))[:rows]
    model = make(point, seed).fit(data.X[order], data.y[order])
    some = np.arange(0, len(data.y_test), max(1, len(data.y_test) // 4000))
    return {
        "labels": float(model.n_queries_),
        "F1": float(f1_score(data.y_test[some], model.predict(data.X_test[some]))),
    }


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All curves over all seeds; `quick`: those that the claims are about."""
    seeds, rows, claims = list(seeds), [], []
    for name in KAPPAS:
        data, curves = prepared(name), {}
        for rule, told in learners(name).items():
            if quick and rule == "BBQ(kappa)":
                continue
            curve = []
            for point in told["points"]:
                count = FEWER if rule == "BBQ(kappa)" else ROWS
                runs = [one_run(seed, told["make"], point, data, count) for seed in seeds]
                rows.append(summed_up({"data": name, "rule": rule, "point": point}, runs))
                curve.append((rows[-1]["labels"][0], rows[-1]["F1"][0]))
            curves[rule] = np.array(curve)
        for rule, other in (
            ("selective Perceptron", "random, Perceptron"), ("selective PA-I", "random, PA-I")
        ):  # fmt: skip
            gain = float(np.mean(curves[rule][:, 1] - _at(curves[other], curves[rule][:, 0])))
            claims.append(Claim(f"{name}: {rule} gains {gain:+.3f} F1 over random labels", gain > 0))
    return Outcome("E8: F1 against labels", rows, claims)


def _at(curve: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """F1 of a curve at these numbers of labels, straight in their logarithm."""
    return np.asarray(np.interp(np.log(labels), np.log(curve[:, 0]), curve[:, 1]))


def figure(outcome: Outcome) -> Figure:
    """F1 against labels, as the talk has it."""
    drawn, axes = panels("Adult, RBF kernel", "texts, linear")
    for ax, name in zip(axes, KAPPAS, strict=True):
        mine = [row for row in outcome.rows if row["data"] == name]
        curves, spreads = {}, {}
        for rule in dict.fromkeys(row["rule"] for row in mine):
            own = [row for row in mine if row["rule"] == rule]
            curves[rule] = [row["labels"][0] for row in own], [row["F1"][0] for row in own]
            spreads[rule] = [row["F1"][1] for row in own]
        lines(ax, curves, spreads)
        ax.set(xscale="log", xlabel="labels asked for", ylabel="F1")
    return drawn
