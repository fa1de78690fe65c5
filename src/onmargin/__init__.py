"""Online learning with a margin. Names load their modules on first use, so that import is light."""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Perceptron": "estimators.perceptron",
    "PassiveAggressiveClassifier": "estimators.passive_aggressive",
    "MIRA": "estimators.passive_aggressive",
    "PassiveAggressiveRegressor": "estimators.passive_aggressive",
    "PassiveAggressiveUniclass": "estimators.uniclass",
    "AROW": "estimators.second_order",
    "SoftConfidenceWeighted": "estimators.second_order",
    "SecondOrderPerceptron": "estimators.second_order",
    "FTRLClassifier": "estimators.ftrl",
    "FTRLRegressor": "estimators.ftrl",
    "OnlineClassifier": "estimators.from_recipes",
    "OnlineRegressor": "estimators.from_recipes",
    "Pegasos": "estimators.pegasos",
    "Projectron": "estimators.kernel_perceptrons",
    "RandomBudgetPerceptron": "estimators.kernel_perceptrons",
    "Forgetron": "estimators.kernel_perceptrons",
    "Stoptron": "estimators.kernel_perceptrons",
    "OM2": "estimators.om2",
    "PairedClassifier": "estimators.paired",
    "PairedRanker": "estimators.ranker",
    "CandidateClassifier": "estimators.candidates",
    "SelectiveSampler": "estimators.sampler",
    "BBQ": "estimators.bbq",
    "BBQRegressor": "estimators.bbq",
    "Banditron": "estimators.banditron",
    "ShiftingPerceptron": "estimators.tracking",
    "ProjectedPerceptron": "estimators.tracking",
    "PageHinkley": "protocols.drift",
    "label_plan": "protocols.pools.label_plan",
    "Pool": "protocols.pools.pool",
    "Recipe": "models.recipe",
    "algorithms": "models.table",
    "progressive": "protocols.progressive",
    "paired_round": "protocols.paired_round",
    "sweep": "protocols.sweep",
    "Progress": "results.progress",
    "SweepResult": "results.sweep_result",
    "top_features": "protocols.requested.speaking",
    "explain": "protocols.requested.speaking",
    "certificate": "protocols.certificate",
    "Certificate": "results.certificate",
    "svm_optimum": "protocols.optimum",
    "merge": "protocols.merge",
    "save": "protocols.saving.files",
    "load": "protocols.saving.files",
    "conformance": "",
    "datasets": "",
    "features": "",
    "kernels": "",
    "metrics": "",
    "sources": "",
}
_MODULES = {
    "cluster": "cluster",  # (not among all names: it wants Dask)
    "conformance": "protocols.conformance",
    "datasets": "sources.datasets",
    "features": "features",
    "kernels": "kernels",
    "metrics": "results.metrics",
    "sources": "sources",
}

__all__ = ["__version__", *_HOMES]


def _module(name: str) -> ModuleType:
    """A module of ours. An import leaves no garbage, and to look for it takes longer than the import.

    What it makes stays, so it joins what is old at once: else the next collection would be one of
    everything that Numba and scikit-learn keep. Garbage that joins it is found by a full collection.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(f".{name}", __name__)
    finally:
        if not gc.get_freeze_count():  # what somebody has frozen stays so
            gc.freeze()
            gc.unfreeze()
        if collects:
            gc.enable()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = _module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(_module(_HOMES[name]), name)
    else:
        from difflib import get_close_matches  # only here: import is light

        near = get_close_matches(name, __all__, 1, 0.8)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(__all__)}"
        raise AttributeError(f"onmargin has no {name!r}; {hint}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
