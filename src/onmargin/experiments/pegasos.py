"""How Pegasos behaves (S3; E9): gap against epochs, rare classes, transfer, two moons.

The gap to the optimum found by dual ascent, for every order and variant, beside the right-hand side of G2:
c (1 + ln T) / (2 lam T). Then the note's three further points: weighted classes are repeated points, a
prior helps as long as labels are few, and a kernel bends the line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_moons

from ..estimators.pegasos import Pegasos
from ..protocols.optimum import svm_optimum
from ..sources.datasets import imbalanced, related_tasks, separable
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S3, the whole note: Pegasos' objective over its passes, imbalanced data, transfer, kernels"
PROTOCOL = (
    "1,000 points of the unit ball in 20 dimensions with a tenth of the labels flipped, lam = 0.001: the "
    "objective minus its optimum (dual ascent, gap 1e-10) after 1 to 50 passes. Rare class: 1 in 11 of "
    "2,000, tested on 4,000. Transfer: 1,000 source rows in 20 dimensions, 10 to 200 of the target, lam = 1 "
    "/ C with C = 10. Moons: 500 points, noise 0.1, RBF with gamma = 2."
)
DATA: tuple[str, ...] = ()
STAND_IN = ""
SEEDS, QUICK, SECONDS = 10, 2, 15
ROWS, COLUMNS, LAMBDA = 1000, 20, 1e-3
EPOCHS = (1, 2, 5, 10, 20, 50)
FEW = (10, 50, 200)
C = 10.0
VARIANTS: dict[str, dict[str, object]] = {
    "cyclic, last": {"order": "cyclic", "average": False},
    "random, last": {"order": "random", "average": False},
    "random, average": {"order": "random", "average": True},
    "random, average of the last half": {"order": "random", "average": 0.5},
    "shuffled, average": {"order": "shuffle", "average": True},
    "projected, average": {"order": "random", "average": True, "project": True},
    "batches of 10, average": {"order": "random", "average": True, "batch_size": 10},
}


def gaps(seed: int, epochs: tuple[int, ...]) -> dict[str, dict[int, float]]:
    """Objective minus optimum of every variant, and the theorem's right-hand sides, by passes."""
    X, y, _ = separable(ROWS, COLUMNS, margin=0.05, label_noise=0.1, seed=[9, seed])
    best = svm_optimum(X, y, lam=LAMBDA, fit_intercept=False).objective
    found: dict[str, dict[int, float]] = {}
    for name, form in VARIANTS.items():
        found[name] = {}
        for passes in epochs:
            model = Pegasos(lam=LAMBDA, fit_intercept=False, tol=None, random_state=seed, max_iter=passes)
            found[name][passes] = model.set_params(**form).fit(X, y).objective_ - best
    radius = float(np.linalg.norm(X, axis=1).max())
    for name, c in (("G2", 4 * radius**2), ("G2, projected", (np.sqrt(LAMBDA) + radius) ** 2)):
        found[name] = {
            passes: c * (1 + np.log(ROWS * passes)) / (2 * LAMBDA * ROWS * passes) for passes in epochs
        }
    return found


def rare(seed: int) -> dict[str, dict[str, float]]:
    """One in eleven is positive: plain, weighted, and with its points ten times."""
    X, y, _ = imbalanced(2000, share=1 / 11, seed=[9, 1, seed])
    X_test, y_test, _ = imbalanced(4000, share=1 / 2, seed=[9, 2, seed])
    often = np.r_[np.arange(len(y)), np.repeat(np.flatnonzero(y == 1), 9)]
    found = {}
    for name, rows, weights in (
        ("plain", np.arange(len(y)), None),
        ("weighted classes", np.arange(len(y)), "balanced"),
        ("points repeated", often, None),
    ):  # fmt: skip
        model = Pegasos(lam=0.01, class_weight=weights, tol=None, max_iter=20, random_state=seed)
        answers = model.fit(X[rows], y[rows]).predict(X_test)
        missed, raised = np.mean(answers[y_test == 1] == -1), np.mean(answers[y_test == -1] == 1)
        found[name] = {"recall": 1.0 - float(missed), "balanced error": float((missed + raised) / 2)}
    return found


def same_optimum(seed: int) -> float:
    """How far apart the optima of weights N_- / N_+ and of repeated points are, after rescaling lam."""
    X, y, _ = imbalanced(200, share=1 / 5, seed=[9, 3, seed])
    times = 4
    often = np.r_[np.arange(len(y)), np.repeat(np.flatnonzero(y == 1), times - 1)]
    weights = np.where(y == 1, float(times), 1.0)
    lam = 0.1
    weighted = svm_optimum(X, y, lam=lam, sample_weight=weights)
    repeated = svm_optimum(X[often], y[often], lam=lam * len(y) / len(often))
    return float(np.abs(weighted.coef - repeated.coef).max())


def transfer(seed: int) -> dict[str, dict[int, float]]:
    """Test error of target only, source only and transfer, by the number of target labels."""
    found: dict[str, dict[int, float]] = {"target only": {}, "source only": {}, "transfer": {}}
    for few in FEW:
        source, target = related_tasks(1000, few + 4000, COLUMNS, apart=0.4, seed=[9, 4, seed])
        settings = {"fit_intercept": False, "tol": None, "max_iter": 50, "random_state": seed}
        before = Pegasos(lam=1e-3).set_params(**settings).fit(source.X, source.y)
        X, y, truth = target.X[:few], target.y[:few], np.where(target.X[few:] @ target.comparator >= 0, 1, -1)
        if len(np.unique(y)) < 2:
            y = np.r_[-y[:1], y[1:]]  # (a class needs a label)
        alone = Pegasos(lam=1e-3).set_params(**settings).fit(X, y)
        moved = Pegasos(lam=1.0 / C, prior=before).set_params(**settings).fit(X, y)
        for name, model in (("target only", alone), ("source only", before), ("transfer", moved)):
            found[name][few] = float(np.mean(model.predict(target.X[few:]) != truth))
    return found


def moons(seed: int) -> dict[str, float]:
    """Test error of the line and of the kernel."""
    X, y = make_moons(1000, noise=0.1, random_state=seed)
    found = {}
    for name, form in (("linear", {}), ("Gaussian kernel", {"kernel": "rbf", "gamma": 2.0})):
        model = (
            Pegasos(lam=1e-3, tol=None, max_iter=20, random_state=seed)
            .set_params(**form)
            .fit(X[:500], y[:500])
        )
        found[name] = float(np.mean(model.predict(X[500:]) != y[500:]))
    return found


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """The four parts; `quick`: 1, 5 and 20 passes."""
    seeds, rows = list(seeds), []
    epochs = (1, 5, 20) if quick else EPOCHS

    def add(part: str, name: str, at: int | None, measured: list[dict[str, float]]) -> None:
        rows.append(summed_up({"part": part, "variant": name, "at": at}, measured))

    runs = [gaps(seed, epochs) for seed in seeds]
    for name in runs[0]:
        for passes in epochs:
            add("gap over passes", name, passes, [{"value": found[name][passes]} for found in runs])
    weighed = [rare(seed) for seed in seeds]
    for name in weighed[0]:
        for measure in ("recall", "balanced error"):
            add(f"rare class, {measure}", name, None, [{"value": found[name][measure]} for found in weighed])
    add(
        "rare class, optima apart",
        "weights, repeated",
        None,
        [{"value": same_optimum(seed)} for seed in seeds],
    )
    moved = [transfer(seed) for seed in seeds]
    for name in moved[0]:
        for few in FEW:
            add("transfer, test error", name, few, [{"value": found[name][few]} for found in moved])
    bent = [moons(seed) for seed in seeds]
    for name in bent[0]:
        add("two moons, test error", name, None, [{"value": found[name]} for found in bent])
    outcome = Outcome("E9: Pegasos over its passes, rare classes, transfer, moons", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """Gap over passes, and test error over labels."""
    found = {}
    for part in ("gap over passes", "transfer, test error"):
        for name in dict.fromkeys(row["variant"] for row in table.rows if row["part"] == part):
            at = [int(row["at"]) for row in table.rows if row["part"] == part and row["variant"] == name]
            values = [table.value("value", part=part, variant=name, at=each) for each in at]
            found[f"{part}: {name}"] = ([float(each) for each in at], values)
    return found


def claims(table: Outcome) -> list[Claim]:
    """The theorem, what averaging does, and the note's three points."""
    epochs = sorted({row["at"] for row in table.rows if row["part"] == "gap over passes"})

    def gap(name: str, passes: int) -> float:
        return table.value("value", part="gap over passes", variant=name, at=passes)

    found = []
    for name, bound in (("random, average", "G2"), ("projected, average", "G2, projected")):
        ratio = max(gap(name, passes) / gap(bound, passes) for passes in epochs)
        found.append(
            Claim(f"{name}: the gap is at most {ratio:.3f} of {bound}'s right-hand side", ratio <= 1)
        )
    last = epochs[-1]
    for name in VARIANTS:
        left = gap(name, last) / gap(name, epochs[0])
        text = f"{name}: {last} passes leave {left:.3f} of the gap of one, {gap(name, last):.5f}"
        found.append(Claim(text, left < 1 / 3))
    one, other = gap("random, average of the last half", last), gap("random, last", last)
    found.append(
        Claim(
            f"after {last} passes: gap of the average of the last half {one:.5f}, of the last {other:.5f}",
            one < other,
        )
    )
    value = {
        (row["part"], row["variant"], row["at"]): table.value(
            "value", part=row["part"], variant=row["variant"], at=row["at"]
        ) for row in table.rows
    }  # fmt: skip
    plain, weighted, often = (
        value["rare class, recall", name, None] for name in ("plain", "weighted classes", "points repeated")
    )
    found.append(
        Claim(f"rare class: recall {plain:.2f} plain, {weighted:.2f} weighted", weighted > plain + 0.2)
    )
    one, other = (
        value["rare class, balanced error", name, None] for name in ("weighted classes", "points repeated")
    )
    found.append(
        Claim(
            f"rare class: balanced error {one:.3f} weighted, {other:.3f} with points repeated",
            abs(one - other) < 0.01,
        )
    )
    apart = value["rare class, optima apart", "weights, repeated", None]
    found.append(Claim(f"rare class: the two optima are {apart:.1e} apart", apart < 1e-3))
    for few in FEW:
        moved, alone, before = (
            value["transfer, test error", name, few] for name in ("transfer", "target only", "source only")
        )
        text = f"transfer with {few} labels: {moved:.3f}, target only {alone:.3f}, source only {before:.3f}"
        good = moved < alone + (0.01 if few == FEW[-1] else 0.0)  # where labels are many it ties
        found.append(Claim(text, good and (few == FEW[0] or moved < before)))
    line, curve = (value["two moons, test error", name, None] for name in ("linear", "Gaussian kernel"))
    found.append(Claim(f"two moons: error {line:.3f} linear, {curve:.3f} with a kernel", curve < 0.25 * line))
    return found


def figure(outcome: Outcome) -> Figure:
    """Gap over passes, both in logarithms; test error over target labels."""
    return lines(outcome, {
        "gap over passes": Panel(x="passes", y="objective minus optimum", x_log=True, y_log=True),
        "transfer, test error": Panel(x="labels of the target", y="test error", x_log=True, percent=True),
    })  # fmt: skip
