"""All learners with parameters drawn at random, as text: what a program that shows a failure begins with."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

Choices = dict[str, list[str]]


class Kind(NamedTuple):
    """A class, what its parameters may be, and what it promises."""

    name: str
    choices: Choices
    takes: str = "labels"  # numbers, points, groups, candidates, or labels that are asked for or played
    exact: bool = True  # bit for bit however a table is cut into blocks
    first: str = ""  # what is given without a name


class Learner(NamedTuple):
    """A learner that was drawn."""

    kind: Kind
    text: str
    labels: list[str]
    announced: bool  # its classes are a parameter

    @property
    def takes(self) -> str:
        return self.kind.takes


PASSES = {"max_iter": ["1", "3"], "tol": ["None"], "shuffle": ["True", "False"], "random_state": ["0", "7"]}
SHARED = PASSES | {
    "average": ["False", "True"],
    "fit_intercept": ["True", "False"],
    "warm_start": ["False", "True"],
}
FADES = {"horizon": ["None", "None", "None", "5.0"]}
CLASSES = {"class_weight": ["None", "None", "'balanced'"], "growing": ["False", "True"]}
LINEAR = SHARED | CLASSES | {"dtype": ["'float64'", "'float64'", "'float32'"]}
KERNEL = (
    PASSES | CLASSES | {"kernel": ["'rbf'", "'poly'", "'linear'"], "gamma": ["0.5"], "dtype": ["'float64'"]}
)
SECOND = LINEAR | {"covariance": ["'diag'", "'full'"]}
FTRL = SHARED | FADES | {
    "regularizer": ["'l2'", "'pnorm'", "'entropic'", "'adagrad'", "'coin'"], "rate": ["0.1", "1.0"],
    "p": ["1.5"],
}  # fmt: skip
MARGINS = ["'hinge'", "'squared_hinge'", "'logistic'", "'exponential'", "'perceptron'"]
PA = {"C": ["0.1", "1.0"], "step": ["'pa'", "'pa1'", "'pa2'"]}
BALL = SHARED | {"fit_intercept": [], "max_radius": ["None", "3.0"]}
INNER = [
    "om.Perceptron()", "om.PassiveAggressiveClassifier(C=0.5)", "om.AROW()",
    "om.Perceptron(kernel='rbf', gamma=0.5)",
    "om.PassiveAggressiveClassifier(average=True)", "om.Projectron(gamma=0.5)", "om.FTRLClassifier(rate=0.1)",
]  # fmt: skip

KINDS = [
    Kind("Perceptron", LINEAR | FADES | {"update": ["'top'", "'uniform'"], "init": ["'zero'", "'random'"]}),
    Kind("PassiveAggressiveClassifier", LINEAR | FADES | PA | {"update": ["'top'", "'all'"]}),
    Kind("MIRA", LINEAR | {"C": ["0.3"]}),
    Kind("AROW", SECOND | {"r": ["0.5", "1.0"]}),
    Kind("SoftConfidenceWeighted", SECOND | {"form": ["'scw1'", "'scw2'", "'cw'"]}),
    Kind("SecondOrderPerceptron", SECOND | {"a": ["1.0"]}),
    Kind("FTRLClassifier", FTRL | CLASSES | {"loss": MARGINS}),
    Kind(
        "Pegasos",
        LINEAR | {
            "shuffle": [], "order": ["'shuffle'", "'cyclic'", "'random'"], "batch_size": ["1", "3"],
            "project": ["False", "True"], "lam": ["None", "0.1"],
            "multiclass": ["'crammer_singer'", "'one_vs_all'"],
            "fit_intercept": ["True", "False", "'free'"],
        },
    ),
    Kind("ShiftingPerceptron", LINEAR | {"average": []}),
    Kind("ProjectedPerceptron", LINEAR | {"average": []}),
    Kind("OnlineClassifier", LINEAR, first="om.Recipe(loss='hinge', step='pa1', space='l2')"),
    Kind("PassiveAggressiveRegressor", SHARED | FADES | PA | {"growing": ["False", "True"]}, "numbers"),
    Kind("FTRLRegressor", FTRL | {"loss": ["'squared'", "'epsilon_insensitive'"]}, "numbers"),
    Kind("PassiveAggressiveUniclass", BALL | PA, "points"),
    Kind("Perceptron", KERNEL | {"budget": ["None", "4"]}, exact=False),
    Kind("PassiveAggressiveClassifier", KERNEL | PA, exact=False),
    Kind("PassiveAggressiveRegressor", KERNEL | PA | {"class_weight": []}, "numbers", exact=False),
    Kind("Pegasos", KERNEL | {"shuffle": [], "lam": ["0.1"], "batch_size": ["1", "3"]}, exact=False),
    Kind("Projectron", KERNEL, exact=False),
    Kind("Forgetron", KERNEL | {"budget": ["4"]}, exact=False),
    Kind("RandomBudgetPerceptron", KERNEL | {"budget": ["4"]}, exact=False),
    Kind("Stoptron", KERNEL | {"budget": ["4"]}, exact=False),
    Kind("OM2", PASSES | CLASSES | {"p": ["None", "1.5"]}, exact=False),
    Kind(
        "PairedClassifier",
        SHARED | {
            "rule": ["'correct_mistakes'", "'dca'", "'sequential'", "'auc'", "'max_violators'"],
            "sampler": ["'reservoir'", "'recent'", "'pairs'"], "reservoir": ["3", "100"],
            "growing": ["False", "True"],
            "kernel": ["None", "None", "'rbf'"], "gamma": ["0.5"],
        },
        exact=False,
    ),
    Kind("PairedRanker", SHARED | {"rule": ["'auc'", "'max_violators'"]}, "groups"),
    Kind("CandidateClassifier", SHARED | {"step": ["'pa1'", "'perceptron'"]}, "candidates"),
    *(
        Kind(
            "SelectiveSampler",
            {
                "rule": ["'bernoulli'", "'adaptive'", "'margin'", "'random'"], "budget": ["None", "5"],
                "random_state": ["0", "3"],
            },
            "asked", exact="kernel" not in inner and "Projectron" not in inner, first=inner,
        )
        for inner in INNER
    ),
    Kind(
        "BBQ",
        {"kernel": ["None", "'rbf'"], "kappa": ["None", "0.5"], "random_state": ["0"]},
        "asked",
        exact=False,
    ),
    Kind("Banditron", SHARED | {"gamma": ["0.3"], "max_pending": ["2", "100"]}, "played"),
]  # fmt: skip

LABELS = [["0", "1"], ["0", "1", "2"], ["'a'", "'b'"], ["'x'", "'y'", "'z'"], ["True", "False"]]


def draw_learner(draw: Random) -> Learner:
    """A kind, and parameters for it; half of them as they are by default."""
    kind = draw.choice(KINDS)
    given = {
        name: draw.choice(texts) for name, texts in kind.choices.items() if texts and draw.random() < 0.5
    }
    must = ("random_state", "tol") if kind.exact else ("random_state", "kernel", "gamma", "budget")
    given |= {name: draw.choice(kind.choices[name]) for name in must if kind.choices.get(name)}
    labels = draw.choice(LABELS[:1] + LABELS[2:3] if kind.name == "BBQ" else LABELS)
    announced = kind.takes == "played" or (
        kind.takes == "labels" and given.get("growing") != "True" and draw.random() < 0.3
    )
    if announced:
        given["classes"] = f"[{', '.join(labels)}]"
    parameters = ", ".join(
        [kind.first][: bool(kind.first)] + [f"{name}={text}" for name, text in given.items()]
    )
    return Learner(kind, f"om.{kind.name}({parameters})", labels, announced)
