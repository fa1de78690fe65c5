"""Ten digits online (S0, experiment 3; E3): Perceptrons, MIRA and the Passive-Aggressive family.

One pass over the shuffled rows of USPS and MNIST, rows of length 1; linear, and with a polynomial kernel.
What the slides found is the claim: PA-I and MIRA are near each other and ahead of both Perceptrons, and
where labels are wrong the step needs its cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from ..estimators.passive_aggressive import MIRA, PassiveAggressiveClassifier
from ..estimators.perceptron import Perceptron
from ..interface.classifier import Classifier
from ..protocols.progressive import progressive
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, bars
from .sets import split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = "S0, experiment 3: multiclass learning of handwritten digits, USPS and MNIST"
PROTOCOL = (
    "Rows are scaled to length 1, without an intercept. One pass over the shuffled training rows: online "
    "error, and the error on the test set of the last weights and of their average. C of PA-I, PA-II and "
    "MIRA is the best of a grid by online error on the first rows (a tenth, and at least 1,000) of the first"
    " stream. With the kernel (1 + <x, x'>)^5 the stream has at most 8,000 rows. In one stream of USPS a "
    "tenth of the labels is drawn anew (the test set is left as it is)."
)
DATA = ("usps", "mnist")
STAND_IN = ""
SEEDS, QUICK, SECONDS = 3, 1, 70
GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
KERNEL: dict[str, object] = {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 1.0}
MOST = 8000  # rounds with a kernel
WRONG = 0.1
SETS = ("USPS", "USPS, a tenth wrong", "MNIST")
LEARNERS: dict[str, Callable[[float], Classifier]] = {
    "Perceptron, max-score": lambda C: Perceptron(fit_intercept=False),
    "Perceptron, uniform": lambda C: Perceptron(fit_intercept=False, update="uniform"),
    "MIRA": lambda C: MIRA(fit_intercept=False, C=C),
    "PA": lambda C: PassiveAggressiveClassifier(fit_intercept=False, step="pa"),
    "PA-I": lambda C: PassiveAggressiveClassifier(fit_intercept=False, C=C),
    "PA-II": lambda C: PassiveAggressiveClassifier(fit_intercept=False, step="pa2", C=C),
}
CAPPED = ("MIRA", "PA-I", "PA-II")


class Digits:
    """One set in one form: rows of length 1, and streams of them."""

    def __init__(self, name: str, kernel: bool, quick: bool) -> None:
        X, y, X_test, y_test = split("mnist" if name == "MNIST" else "usps")
        self.X, self.X_test = (normalize(np.asarray(rows, np.float32)) for rows in (X, X_test))
        if name == "MNIST" and not kernel:  # four values of five are 0
            self.X, self.X_test = sp.csr_matrix(self.X), sp.csr_matrix(self.X_test)
        self.y, self.y_test = np.asarray(y), np.asarray(y_test)
        self.wrong = WRONG if "wrong" in name else 0.0
        self.rows = min(len(self.y), MOST if kernel else len(self.y), 3000 if quick else len(self.y))
        if quick:
            self.X_test, self.y_test = self.X_test[:2000], self.y_test[:2000]

    def stream(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows in an order drawn by the seed, some labels drawn anew."""
        draw = np.random.default_rng([3, seed])
        order = draw.permutation(len(self.y))[: self.rows]
        anew = draw.random(self.rows) < self.wrong
        return self.X[order], np.where(anew, draw.integers(10, size=self.rows), self.y[order])

    def error(self, model: Classifier) -> float:
        """On the test set."""
        return float(np.mean(model.predict(self.X_test) != self.y_test))


def made(name: str, C: float, kernel: bool, average: bool) -> Classifier:
    """A learner by its name."""
    model: Classifier = LEARNERS[name](C).set_params(average=average, **(KERNEL if kernel else {}))
    return model


def chosen(name: str, data: Digits, kernel: bool) -> float:
    """The C with the least online error on the first rows of the first stream; 1 where there is none."""
    if name not in CAPPED:
        return 1.0
    X, y = data.stream(0)
    few = max(1000, len(y) // 10)
    errors = [progressive(made(name, C, kernel, False), X[:few], y[:few]).error_rate for C in GRID]
    return GRID[int(np.argmin(errors))]


def one_run(seed: int, name: str, C: float, data: Digits, kernel: bool) -> dict[str, float]:
    """One pass."""
    X, y = data.stream(seed)
    run = progressive(made(name, C, kernel, False), X, y, classes=range(10))
    mean = made(name, C, kernel, True).set_params(max_iter=1, tol=None, shuffle=False).fit(X, y)
    return {
        "online": run.error_rate, "test, last": data.error(run.model), "test, average": data.error(mean),
        "updates": run.updates / len(y),
    }  # fmt: skip


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """All learners on all sets, linear and with a kernel; `quick`: USPS alone, 3,000 rounds."""
    seeds, rows = list(seeds), []
    for name in SETS[:2] if quick else SETS:
        for form in ("linear", "polynomial"):
            data, kernel = Digits(name, form == "polynomial", quick), form == "polynomial"
            for learner in LEARNERS:
                C = chosen(learner, data, kernel)
                runs = [one_run(seed, learner, C, data, kernel) for seed in seeds]
                said = C if learner in CAPPED else None
                rows.append(summed_up({"set": name, "form": form, "learner": learner, "C": said}, runs))
    outcome = Outcome("E3: USPS and MNIST, ten classes", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """A bar for each learner, a panel for each set, a colour for each form."""
    found = {}
    for name in dict.fromkeys(str(row["set"]) for row in table.rows):
        for form in ("linear", "polynomial"):
            heights = [table.value("online", set=name, form=form, learner=learner) for learner in LEARNERS]
            found[f"{name}: {form}"] = ([float(at) for at in range(len(heights))], heights)
    return found


def claims(table: Outcome) -> list[Claim]:
    """PA-I beside MIRA, both beside the Perceptrons; PA without a cap where labels are wrong."""
    found = []
    for name in dict.fromkeys(row["set"] for row in table.rows):
        for form in ("linear", "polynomial"):
            at = {"set": name, "form": form}
            online = {learner: table.value("online", learner=learner, **at) for learner in LEARNERS}
            best = min(online["Perceptron, max-score"], online["Perceptron, uniform"])
            worst, apart = max(online["PA-I"], online["MIRA"]), abs(online["PA-I"] - online["MIRA"])
            found.append(Claim(
                f"{name}, {form}: PA-I {online['PA-I']:.3f} and MIRA {online['MIRA']:.3f} online, the better "
                f"Perceptron {best:.3f}", worst < best,
            ))  # fmt: skip
            found.append(Claim(
                f"{name}, {form}: PA-I and MIRA are {apart:.3f} apart, less than half their lead",
                apart < 0.5 * (best - min(online["PA-I"], online["MIRA"])),
            ))  # fmt: skip
            if "wrong" in str(name):
                lead = online["PA"] - online["PA-I"]
                found.append(Claim(f"{name}, {form}: PA without a cap errs {lead:+.3f} more", lead > 0.01))
    return found


def figure(outcome: Outcome) -> Figure:
    """Online error of every learner."""
    names = list(dict.fromkeys(str(row["set"]) for row in outcome.rows))
    axes = {name: Panel(y="online error", percent=True, ticks=list(LEARNERS)) for name in names}
    return bars(outcome, axes, columns=len(names))
