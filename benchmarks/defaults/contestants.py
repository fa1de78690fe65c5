"""Who competes, and which peer each of our defaults is held against."""

from __future__ import annotations

from typing import NamedTuple

from . import river_streams, wabbit
from .estimators import Made
from .jobs import Contestant
from .river_streams import RiverModel
from .sets import CLASSES, LABEL_SETS, NUMBERS, QUERIES
from .wabbit import Wabbit

_LABELS = (CLASSES, LABEL_SETS)
_PA1 = "penalty=None, learning_rate='pa1', eta0=1.0"

OURS: dict[str, Contestant] = {
    "Perceptron": Made("om.Perceptron()", kinds=_LABELS),
    "PassiveAggressiveClassifier": Made("om.PassiveAggressiveClassifier()", kinds=_LABELS),
    "MIRA": Made("om.MIRA()", kinds=(CLASSES,)),
    "Pegasos": Made("om.Pegasos()", kinds=_LABELS),
    "FTRLClassifier": Made("om.FTRLClassifier()", kinds=_LABELS),
    "FTRL.logistic": Made("om.FTRLClassifier(loss='logistic')", kinds=(CLASSES,)),  # the README's for text
    "AROW": Made("om.AROW()", kinds=_LABELS),
    "SoftConfidenceWeighted": Made("om.SoftConfidenceWeighted()", kinds=_LABELS),
    "SecondOrderPerceptron": Made("om.SecondOrderPerceptron()", kinds=_LABELS),
    "ShiftingPerceptron": Made("om.ShiftingPerceptron()", kinds=_LABELS),
    "ProjectedPerceptron": Made("om.ProjectedPerceptron()", kinds=_LABELS),
    "PairedClassifier": Made("om.PairedClassifier()", kinds=(CLASSES,), most=1e6),
    "PassiveAggressiveRegressor": Made("om.PassiveAggressiveRegressor()", kinds=(NUMBERS,)),
    "FTRLRegressor": Made("om.FTRLRegressor()", kinds=(NUMBERS,)),
    "PairedRanker": Made("om.PairedRanker()", kinds=(QUERIES,)),
}
PEERS: dict[str, Contestant] = {
    "sk.Perceptron": Made("sklearn.linear_model.Perceptron()", kinds=_LABELS),
    "sk.PA1": Made(f"SGDClassifier(loss='hinge', {_PA1})", kinds=_LABELS),
    "sk.SGD": Made("SGDClassifier()", kinds=_LABELS),
    "sk.LinearSVC": Made("LinearSVC()", jobs=("fit",), kinds=_LABELS),
    "sk.PA1Reg": Made(f"SGDRegressor(loss='epsilon_insensitive', {_PA1})", kinds=(NUMBERS,)),
    "sk.SGDRegressor": Made("SGDRegressor()", kinds=(NUMBERS, QUERIES)),
    "sk.LinearSVR": Made("LinearSVR()", jobs=("fit",), kinds=(NUMBERS, QUERIES)),
    "River.PA": RiverModel("PAClassifier"),
    "River.Perceptron": RiverModel("Perceptron"),
    "River.Logistic": RiverModel("LogisticRegression"),
    "River.PAReg": RiverModel("PARegressor", NUMBERS),
    "River.Linear": RiverModel("LinearRegression", NUMBERS),
    "VW": Wabbit(),
    "VW.logistic": Wabbit("logistic", (CLASSES,)),
}
EVERYBODY = OURS | PEERS
SHORT = {
    "Perceptron": "Perc", "PassiveAggressiveClassifier": "PA", "MIRA": "MIRA", "Pegasos": "Pegas",
    "FTRLClassifier": "FTRL", "FTRL.logistic": "FTRLl", "AROW": "AROW", "SoftConfidenceWeighted": "SCW",
    "SecondOrderPerceptron": "SOP", "ShiftingPerceptron": "Shift", "ProjectedPerceptron": "Proj",
    "PairedClassifier": "Pair", "PassiveAggressiveRegressor": "PA", "FTRLRegressor": "FTRL",
    "PairedRanker": "Pair", "sk.Perceptron": "sPerc", "sk.PA1": "sPA1", "sk.SGD": "sSGD",
    "sk.LinearSVC": "sSVC", "sk.PA1Reg": "sPA1", "sk.SGDRegressor": "sSGD", "sk.LinearSVR": "sSVR",
    "River.PA": "rPA", "River.Perceptron": "rPerc", "River.Logistic": "rLog", "River.PAReg": "rPA",
    "River.Linear": "rLin", "VW": "VW", "VW.logistic": "VWl",
}  # fmt: skip


class Match(NamedTuple):
    """One of ours against its natural peer in one job."""

    ours: str
    peer: str
    job: str


_FIT = {
    "Perceptron": ("sk.Perceptron",),
    "PassiveAggressiveClassifier": ("sk.PA1", "sk.LinearSVC"),
    "MIRA": ("sk.PA1",),
    "Pegasos": ("sk.LinearSVC",),
    "FTRLClassifier": ("sk.SGD",),
    "AROW": ("sk.SGD", "sk.LinearSVC"),
    "SoftConfidenceWeighted": ("sk.LinearSVC",),
    "SecondOrderPerceptron": ("sk.Perceptron",),
    "ShiftingPerceptron": ("sk.Perceptron",),
    "ProjectedPerceptron": ("sk.Perceptron",),
    "PairedClassifier": ("sk.LinearSVC",),
    "PassiveAggressiveRegressor": ("sk.PA1Reg", "sk.LinearSVR"),
    "FTRLRegressor": ("sk.SGDRegressor", "sk.LinearSVR"),
    "PairedRanker": ("sk.LinearSVR",),
}
_LAST = {
    "Perceptron": ("sk.Perceptron",),
    "PassiveAggressiveClassifier": ("sk.PA1",),
    "MIRA": ("sk.PA1",),
    "Pegasos": ("sk.SGD",),
    "FTRLClassifier": ("sk.SGD", "VW"),
    "AROW": ("sk.SGD", "VW"),
    "SoftConfidenceWeighted": ("VW",),
    "SecondOrderPerceptron": ("sk.Perceptron",),
    "ShiftingPerceptron": ("sk.Perceptron",),
    "ProjectedPerceptron": ("sk.Perceptron",),
    "PassiveAggressiveRegressor": ("sk.PA1Reg",),
    "FTRLRegressor": ("sk.SGDRegressor", "VW"),
}
_ONLINE = {
    "Perceptron": ("sk.Perceptron", "River.Perceptron"),
    "PassiveAggressiveClassifier": ("sk.PA1", "River.PA"),
    "MIRA": ("sk.PA1",),
    "Pegasos": ("sk.SGD",),
    "FTRLClassifier": ("VW", "River.Logistic"),
    "FTRL.logistic": ("VW", "VW.logistic"),
    "AROW": ("VW", "River.Logistic"),
    "SoftConfidenceWeighted": ("VW",),
    "SecondOrderPerceptron": ("River.Perceptron",),
    "ShiftingPerceptron": ("River.Perceptron",),
    "ProjectedPerceptron": ("River.Perceptron",),
    "PassiveAggressiveRegressor": ("River.PAReg",),
    "FTRLRegressor": ("VW", "River.Linear"),
}
MATCHES = [
    Match(ours, peer, job)
    for job, table in (("fit", _FIT), ("last", _LAST), ("online", _ONLINE))
    for ours, peers in table.items()
    for peer in peers
]


def absent() -> list[str]:
    """Peers that could not compete, and why."""
    return [
        f"{who}: {why}" for who, why in (("River", river_streams.absent()), ("VW", wabbit.absent())) if why
    ]
