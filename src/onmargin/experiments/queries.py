"""F1 against labels (S2, selective sampling; E8): rules that choose beside labels drawn at random.

Adult with an RBF kernel, the small piece of RCV1 and 20 Newsgroups (computers against the rest) as sparse
rows. A sampler goes once over the rows and aims at a share of labels; BBQ(kappa) asks as it must. On rows
of length 1 BBQ(kappa) asks for nothing before round 2^(1/kappa): with `kappa_factor=0.5` (DOGMA's) it asks
from the start. Labels drawn at random are compared at the same number, for the same learner, between the
points of their own curve.

BBQ asks for rows that are unlike those it has, whatever their labels. On RCV1 that is worth more than
random labels; on Adult and 20 Newsgroups, where such rows are odd ones, it is worth less. The claims say
so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score

from ..estimators.bbq import BBQ
from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..estimators.sampler import SelectiveSampler
from ..sources.real import Split
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, lines
from .sets import split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    "S2, selective sampling: F-measure against the share of labels, Adult9 (Gaussian kernel) and RCV1 "
    "(linear)"
)
PROTOCOL = (
    "One pass over 5,000 rows of Adult (RBF, gamma = 0.05), the 1,000 rows of rcv1_small, 5,000 of 20 "
    "Newsgroups (tf-idf, the five groups on computers against the rest), in an order drawn by the seed; F1 "
    "on the test rows. Samplers around Perceptron and PA-I aim at a share of labels, BBQ(kappa) with factor "
    "1/2 asks over kappa, over 1,500 rows at most, as its rounds cost the square of its labels. Random "
    "labels are given to the same learner and compared at equal numbers."
)
DATA = ("a9a", "rcv1_small", "news20")
STAND_IN = (
    "rcv1_small (1,000 rows to learn from, 500 to test) and 20 Newsgroups stand in for the whole of RCV1 "
    "(20,242 rows), which is not to be had."
)
SEEDS, QUICK, SECONDS = 5, 1, 60
SHARES = {
    "Adult": (0.02, 0.05, 0.1, 0.2),
    "RCV1, small": (0.05, 0.1, 0.2, 0.4),
    "20 Newsgroups": (0.02, 0.05, 0.1, 0.2),
}
KAPPAS = {
    "Adult": (0.06, 0.1, 0.15),
    "RCV1, small": (0.001, 0.002, 0.003, 0.005, 0.008),
    "20 Newsgroups": (0.001, 0.002, 0.004),
}
ROWS, FEWER = 5000, 1500
PAIRS = (
    ("selective Perceptron", "random, Perceptron"),
    ("selective PA-I", "random, PA-I"),
    ("BBQ(kappa)", "random, BBQ's ridge"),
)
Learner = SelectiveSampler | BBQ


def sampler(data: str, rule: str, share: float, seed: int) -> SelectiveSampler:
    """A sampler around the Perceptron or PA-I."""
    form: dict[str, object] = {"fit_intercept": False, "average": False}
    if data == "Adult":
        form = {"kernel": "rbf", "gamma": 0.05, "average": True, "intercept_scaling": 1.0}
    learner = Perceptron() if "Perceptron" in rule else PassiveAggressiveClassifier(C=1.0)
    ask = "random" if "random" in rule else "bernoulli"
    made = learner.set_params(shuffle=False, **form)
    return SelectiveSampler(made, rule=ask, delta=1.0, target_rate=share, random_state=seed)


def bbq(data: str, kappa: float) -> BBQ:
    """BBQ(kappa) that asks from the start."""
    kernel = {"kernel": "rbf", "gamma": 0.05} if data == "Adult" else {"kernel": "linear"}
    return BBQ(kappa=kappa, kappa_factor=0.5, shuffle=False).set_params(**kernel)


def prepared(data: str) -> Split:
    """Rows, labels -1 and +1."""
    if data == "Adult":
        return split("a9a")
    if data == "RCV1, small":
        return split("rcv1_small")
    texts = split("news20")
    transform = TfidfTransformer(sublinear_tf=True).fit(texts.X)
    about = [np.where((y >= 1) & (y <= 5), 1, -1) for y in (texts.y, texts.y_test)]
    return Split(transform.transform(texts.X), about[0], transform.transform(texts.X_test), about[1])


def one_run(seed: int, name: str, rule: str, point: float, data: Split) -> dict[str, float]:
    """One pass over some rows; labels used, and F1 on the test rows."""
    draw = np.random.default_rng([8, seed])
    order = draw.permutation(len(data.y))[: FEWER if "BBQ" in rule else ROWS]
    X, y = data.X[order], data.y[order]
    model: Learner = (
        sampler(name, rule, point, seed)
        if "BBQ" not in rule
        else bbq(name, KAPPAS[name][0] if "random" in rule else point)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it asks for nearly all is part of the curve
        if rule == "random, BBQ's ridge":
            own = np.sort(draw.permutation(len(y))[: max(2, int(point * len(y)))])
            model.partial_fit(X[own], y[own], classes=[-1, 1])
            asked = float(len(own))
        else:
            asked = float(model.fit(X, y).n_queries_)
    some = np.arange(0, len(data.y_test), max(1, len(data.y_test) // 4000))
    return {"labels": asked, "F1": float(f1_score(data.y_test[some], model.predict(data.X_test[some])))}


def points(name: str, rule: str, quick: bool) -> tuple[float, ...]:
    """Of a rule's curve."""
    if rule == "BBQ(kappa)":
        return KAPPAS[name]
    if rule == "random, BBQ's ridge":
        return (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
    return SHARES[name]


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All curves over all seeds; `quick`: without 20 Newsgroups."""
    seeds, rows = list(seeds), []
    for name in list(SHARES)[: 2 if quick else 3]:
        data = prepared(name)
        for rule in (rule for pair in PAIRS for rule in pair):
            for point in points(name, rule, quick):
                runs = [one_run(seed, name, rule, point, data) for seed in seeds]
                rows.append(summed_up({"data": name, "rule": rule, "point": point}, runs))
    outcome = Outcome("E8: F1 against labels", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """F1 over labels."""
    found: dict[str, Curve] = {}
    for row in table.rows:
        x, y = found.setdefault(f"{row['data']}: {row['rule']}", ([], []))
        x.append(row["labels"][0])
        y.append(row["F1"][0])
    return found


def claims(table: Outcome) -> list[Claim]:
    """Every rule beside random labels of the same learner."""
    found, drawn = [], curves(table)
    for name in dict.fromkeys(row["data"] for row in table.rows):
        for rule, other in PAIRS:
            own, random = (np.array(drawn[f"{name}: {each}"]).T for each in (rule, other))
            gain = float(np.mean(own[:, 1] - _at(random, own[:, 0])))
            if rule == "BBQ(kappa)" and name != "RCV1, small":
                text = f"{name}: {rule} is NOT above random labels, as the talk has it: {gain:+.3f} F1"
                found.append(Claim(text, gain < 0))
            else:
                found.append(Claim(f"{name}: {rule} gains {gain:+.3f} F1 over random labels", gain > 0))
        asked = [
            row["labels"][0] for row in table.rows if row["data"] == name and row["rule"] == "BBQ(kappa)"
        ]
        most = FEWER if name != "RCV1, small" else 1000
        text = f"{name}: BBQ asks for {min(asked) / most:.0%} to {max(asked) / most:.0%} of the labels"
        found.append(Claim(text, 0.005 < min(asked) / most < max(asked) / most < 0.9))
    return found


def _at(curve: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """F1 of a curve at these numbers of labels, straight in their logarithm."""
    order = curve[:, 0].argsort()
    return np.asarray(np.interp(np.log(labels), np.log(curve[order, 0]), curve[order, 1]))


def figure(outcome: Outcome) -> Figure:
    """F1 against labels, a panel for each set."""
    names = list(dict.fromkeys(str(row["data"]) for row in outcome.rows))
    axes = {name: Panel(x="labels asked for", y="F1", x_log=True) for name in names}
    return lines(outcome, axes, columns=3)
