"""Numbers online (S0, regression): the age of abalone, prices of Californian houses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from ..estimators.ftrl import FTRLRegressor
from ..estimators.passive_aggressive import PassiveAggressiveRegressor
from ..interface.regressor import Regressor
from ..protocols.progressive import progressive
from ..sources.real import Split
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, bars
from .sets import cut, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S0, regression: PA, PA-I, PA-II with an epsilon-insensitive loss (no experiment in the seed)"
PROTOCOL = (
    "Three quarters of the rows, in an order drawn by the seed, are learned in one pass, one quarter is the "
    "test. Columns and target are standardised by the rows to learn from; epsilon = 0.1. Mean absolute error"
    " in units of the target (rings; 1,000 dollars): online, and on the test rows of the last weights and of"
    " their average. C = 0.01; with a Gaussian kernel C = 0.1, gamma = 1 / columns. Ridge and LinearSVR see "
    "the rows often."
)
DATA = ("abalone", "california")
STAND_IN = ""
SEEDS, QUICK, SECONDS = 5, 1, 10
LEARNERS: dict[str, Callable[[int], Regressor]] = {
    "PA": lambda d: PassiveAggressiveRegressor(step="pa"),
    "PA-I": lambda d: PassiveAggressiveRegressor(C=0.01),
    "PA-II": lambda d: PassiveAggressiveRegressor(C=0.01, step="pa2"),
    "kernel PA-I": lambda d: PassiveAggressiveRegressor(C=0.1, kernel="rbf", gamma=1.0 / d),
    "squared loss, AdaGrad": lambda d: FTRLRegressor(loss="squared", regularizer="adagrad", rate=0.3),
}
AT_ONCE = ("LinearSVR", "Ridge")
UNITS = {"abalone": 1.0, "california": 1000.0}


def prepared(name: str, seed: int, quick: bool) -> tuple[Split, float]:
    """Standardised rows and targets, and what one unit of them is."""
    X, y = whole(name)
    order = np.random.default_rng([22, seed]).permutation(len(y))[: 3000 if quick else len(y)]
    data = cut(whole(name), order, 3 * len(order) // 4)
    rows = StandardScaler().fit(data.X)
    middle, unit = float(data.y.mean()), float(data.y.std())
    made = Split(
        rows.transform(data.X),
        (data.y - middle) / unit,
        rows.transform(data.X_test),
        (data.y_test - middle) / unit,
    )
    return made, unit / UNITS[name]


def one_run(name: str, data: Split, unit: float) -> dict[str, float]:
    """Mean absolute errors of one pass."""

    def made(average: bool) -> Regressor:
        model: Regressor = LEARNERS[name](data.X.shape[1]).set_params(average=average, intercept_scaling=1.0)
        return model

    def error(model: Regressor) -> float:
        return unit * float(np.abs(model.predict(data.X_test) - data.y_test).mean())

    run = progressive(made(False), data.X, data.y)
    mean = made(True).set_params(max_iter=1, tol=None, shuffle=False).fit(data.X, data.y)
    online = unit * float(np.abs(np.asarray(run.predictions) - data.y).mean())
    return {"online": online, "test, last": error(run.model), "test, average": error(mean)}


def in_batch(name: str, data: Split, unit: float, seed: int) -> dict[str, float]:
    """Those that see the rows often."""
    model = (
        Ridge(alpha=1.0)
        if name == "Ridge"
        else LinearSVR(epsilon=0.1, C=1.0, max_iter=20_000, random_state=seed)
    )
    answers = model.fit(data.X, data.y).predict(data.X_test)
    return {"test, average": unit * float(np.abs(answers - data.y_test).mean())}


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Both sets; `quick`: 3,000 rows of each."""
    seeds, rows = list(seeds), []
    for name in UNITS:
        sets = [prepared(name, seed, quick) for seed in seeds]
        for learner in LEARNERS:
            runs = [one_run(learner, data, unit) for data, unit in sets]
            rows.append(summed_up({"set": name, "learner": learner}, runs))
        for learner in AT_ONCE:
            runs = [
                in_batch(learner, data, unit, seed) for (data, unit), seed in zip(sets, seeds, strict=True)
            ]
            rows.append(summed_up({"set": name, "learner": learner}, runs))
    outcome = Outcome("Numbers online: abalone and california, mean absolute error", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """Bars: errors of each learner."""
    found = {}
    for name in UNITS:
        for kind in ("online", "test, last", "test, average"):
            own = [learner for learner in LEARNERS] if kind != "test, average" else [*LEARNERS, *AT_ONCE]
            heights = [table.value(kind, set=name, learner=learner) for learner in own]
            found[f"{name}: {kind}"] = ([float(at) for at in range(len(own))], heights)
    return found


def claims(table: Outcome) -> list[Claim]:
    """The cap, the average, the kernel; one pass beside many."""
    found = []
    for name in UNITS:

        def error(kind: str, learner: str, name: str = name) -> float:
            return table.value(kind, set=name, learner=learner)

        for learner in ("PA-I", "PA-II"):
            ours, plain = error("online", learner), error("online", "PA")
            found.append(
                Claim(
                    f"{name}: {learner} is {ours:.3g} off online, PA without a cap {plain:.3g}", ours < plain
                )
            )
        mean, last = error("test, average", "PA"), error("test, last", "PA")
        found.append(Claim(f"{name}, PA: {mean:.3g} averaged, {last:.3g} last", mean < 0.9 * last))
        once, often = error("test, average", "PA-I"), error("test, average", "LinearSVR")
        text = f"{name}: one averaged pass of PA-I {once:.3g}, LinearSVR {often:.3g}: within 5 %"
        found.append(Claim(text, once < 1.05 * often))
    bent, line = (
        table.value("test, average", set="california", learner=each) for each in ("kernel PA-I", "PA-I")
    )
    found.append(Claim(f"california: kernel PA-I {bent:.3g}, linear {line:.3g}", bent < line))
    return found


def figure(outcome: Outcome) -> Figure:
    """Mean absolute errors."""
    names = [*LEARNERS, *AT_ONCE]
    units = {"abalone": "rings", "california": "1,000 dollars"}
    return bars(
        outcome, {name: Panel(y=f"mean absolute error, {units[name]}", ticks=names) for name in UNITS}
    )
