"""The steps of a scikit-learn Pipeline as a file holds them: parameters and fitted attributes by name.

One table says which steps are known and what each has found; every other class, and every function given to a
known one, is refused by name. What a file says is compared (types, lengths, indices, one step with the next)
before a step is made of it: no code comes out of a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol, cast

import numpy as np
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from ...errors import BadInput, shown
from ...features.steps import FeatureStep
from ...models.layout import MOST_PLACES, Misfit, Wanted, check_arrays, count, truth
from .own_steps import OWN, is_own, state_without_arrays, step_of
from .step_parameters import check_parameters, is_vocabulary, is_words

Facts = dict[str, object]
Arrays = dict[str, np.ndarray]
PREFIX = "step."  # of the arrays of steps, which lie beside those of the learner
PASSTHROUGH = "passthrough"
OUTPUTS = (None, "default", "pandas", "polars")

SCALED = ("n_samples_seen_", "n_features_in_", "feature_names_in_")
STEPS: dict[type, tuple[str, ...]] = {
    CountVectorizer: ("vocabulary_", "fixed_vocabulary_"),
    TfidfVectorizer: ("vocabulary_", "fixed_vocabulary_", "_tfidf"),
    TfidfTransformer: ("idf_", "n_features_in_", "feature_names_in_"),
    HashingVectorizer: (),
    StandardScaler: ("mean_", "var_", "scale_", *SCALED),
    MaxAbsScaler: ("scale_", "max_abs_", *SCALED),
    MinMaxScaler: ("scale_", "min_", "data_min_", "data_max_", "data_range_", *SCALED),
    Normalizer: ("n_features_in_", "feature_names_in_"),
}
"""The steps there are: class -> what a fit has found."""

NAMED = {kind.__name__: kind for kind in STEPS}
ABSENT = ("mean_", "var_", "scale_")  # may be None
LEAST = {"var_": 0.0, "max_abs_": 0.0, "data_range_": 0.0}
LEFT_OUT = {"_stop_words_id", "stop_words_", "_sklearn_output_config"}  # (the last is kept as `output`)
FLOATS = ("float64", "float32", "float16")


class Estimator(Protocol):
    """What is used of scikit-learn's."""

    def get_params(self, deep: bool) -> dict[str, object]:
        """By name."""


class Outputs(Protocol):
    """What may give frames."""

    def set_output(self, *, transform: object) -> object:
        """Of this kind from now on."""


# ---- into a file


def pack(pipeline: Pipeline) -> tuple[Facts, Arrays]:
    """All but the last step, and what the pipeline itself was given."""
    given = pipeline.get_params(deep=False)
    for name in ("memory", "transform_input"):
        if given.get(name) is not None:
            raise BadInput(
                f"the Pipeline has {name}={shown(given[name])}, which cannot be saved; set it to None"
            )
    arrays: Arrays = {}
    steps = [
        _packed(name, step, f"{PREFIX}{number}.", arrays)
        for number, (name, step) in enumerate(pipeline.steps[:-1])
    ]
    facts: Facts = {"verbose": bool(given["verbose"]), "last": pipeline.steps[-1][0], "steps": steps}
    check_widths(
        steps_in(facts, dict(arrays)), pipeline.steps[-1]
    )  # what could not be read back is not written
    return facts, arrays


def _packed(name: str, step: object, prefix: str, arrays: Arrays) -> Facts:
    """A known step by its parameters and what it has found; its arrays go to the others."""
    if step is None or isinstance(step, str) and step == PASSTHROUGH:
        return {"name": name, "class": PASSTHROUGH}
    kind = type(step)
    if isinstance(step, FeatureStep) and is_own(step):
        state = state_without_arrays(step, f"{prefix}own", arrays)
        return {"name": name, "class": kind.__name__, "own": state, "output": _output(step)}
    if kind not in STEPS:
        raise BadInput(
            f"the step {name!r} is a {kind.__name__}, which cannot be saved without pickle; wanted one of "
            f"{', '.join([*OWN, *NAMED])}, and a learner of this library as the last"
        )
    parameters = cast(Estimator, step).get_params(deep=False)
    check_parameters(name, kind, parameters)
    held = vars(step)
    strange = sorted(held.keys() - parameters.keys() - set(STEPS[kind]) - LEFT_OUT)
    if strange:
        raise BadInput(
            f"the step {name!r} ({kind.__name__}) has the attribute {strange[0]!r}, which cannot be saved"
        )
    found = {one: _fact(name, one, held[one], prefix, arrays) for one in STEPS[kind] if one in held}
    kept = {one: _plain(value) for one, value in parameters.items()}
    return {"name": name, "class": kind.__name__, "parameters": kept, "found": found, "output": _output(step)}


def _output(step: object) -> object:
    """What `set_output` was given."""
    return vars(step).get("_sklearn_output_config", {}).get("transform")


def _plain(value: object) -> object:
    """A parameter as a file can hold it: sets as sorted lists, types by their name."""
    if isinstance(value, set | frozenset):
        return {"set": sorted(value), "frozen": isinstance(value, frozenset)}
    if isinstance(value, type | np.dtype):
        return {"dtype": np.dtype(value).name, "type": isinstance(value, type)}
    return value


def _fact(step: str, name: str, value: object, prefix: str, arrays: Arrays) -> object:
    """What a fit has found; arrays lie under their own names."""
    if name == "_tfidf":
        return _packed(step, value, f"{prefix}{name}.", arrays)
    if name == "vocabulary_" and is_vocabulary(value):
        words = cast(dict[str, int], value)
        arrays[prefix + name] = np.array([int(column) for column in words.values()], np.int64)
        return list(words)
    if name == "feature_names_in_" and isinstance(value, np.ndarray):
        return [str(one) for one in value.tolist()]
    if isinstance(value, np.ndarray):
        arrays[prefix + name] = value
        return {"array": True}
    return value


# ---- out of a file


class Step(NamedTuple):
    """A step that was made, and the columns it takes and gives (None: any number, or not known yet)."""

    name: str
    made: object
    takes: int | None
    gives: int | None
    passes: bool = False  # it gives as many as it is given


def unpack(facts: Mapping[str, object], arrays: Arrays, learner: object) -> Pipeline:
    """The pipeline around a learner; raises where anything does not fit the rest of it."""
    steps, last = steps_in(facts, arrays), (facts["last"], learner)
    check_widths(steps, last)
    if arrays:
        raise Misfit(f"the array {sorted(arrays)[0]!r} is not one of its kind")
    names = [*(step.name for step in steps), facts["last"]]
    fits = all(type(name) is str and "__" not in name for name in names) and len(set(names)) == len(names)
    if not fits or set(names) & {"steps", "memory", "verbose", "transform_input"}:
        raise Misfit("the names of its steps are none")
    whole = [*((step.name, step.made) for step in steps), last]
    return Pipeline(whole, verbose=truth("verbose", facts["verbose"]))


def steps_in(facts: Mapping[str, object], arrays: Arrays) -> list[Step]:
    """The steps of a file, in order; their arrays are taken out of the others."""
    given = facts["steps"]
    if not isinstance(given, list):
        raise Misfit("it names no steps")
    return [_made(one, f"{PREFIX}{number}.", arrays) for number, one in enumerate(given)]


def _made(facts: object, prefix: str, arrays: Arrays) -> Step:
    if not isinstance(facts, dict) or not isinstance(facts["name"], str):
        raise Misfit("one of its steps is none")
    name, known = facts["name"], facts["class"]
    if known == PASSTHROUGH:
        return Step(name, PASSTHROUGH, None, None, True)
    if known in OWN:
        own = step_of(known, facts["own"], f"{prefix}own", arrays)
        _set_output(name, own, facts["output"])
        return Step(name, own, None, own.width())
    if known not in NAMED:
        raise Misfit(f"its step {shown(known)} is none that this version knows")
    kind, found = NAMED[known], facts["found"]
    parameters = {one: _value(value) for one, value in facts["parameters"].items()}
    check_parameters(name, kind, parameters)
    step = kind(**parameters)
    if not isinstance(found, dict) or found.keys() - set(STEPS[kind]):
        raise Misfit(f"its step {name!r} has found what a {known} does not find")
    gives = _restored(name, step, kind, found, prefix, arrays)
    _set_output(name, step, facts["output"])
    takes = gives if "n_features_in_" in found else None
    return Step(name, step, takes, gives, not found and kind is Normalizer)


def _set_output(name: str, step: Outputs, output: object) -> None:
    if output not in OUTPUTS:
        raise Misfit(f"its step {name!r} has an unknown output")
    if output is not None:
        step.set_output(transform=output)


def _value(value: object) -> object:
    """The parameter that `_plain` was given."""
    if isinstance(value, dict) and value.keys() == {"set", "frozen"}:
        return frozenset(value["set"]) if value["frozen"] else set(value["set"])
    if isinstance(value, dict) and value.keys() == {"dtype", "type"}:
        dtype = np.dtype(value["dtype"])
        return dtype.type if value["type"] else dtype
    return value


def _restored(
    name: str, step: object, kind: type, found: Facts, prefix: str, arrays: Arrays
) -> int | None:  # fmt: skip
    """Give a step what it has found, all of one width; the columns that come out of it."""
    if kind is HashingVectorizer:
        return int(cast(HashingVectorizer, step).n_features)
    if not found:
        return None
    words = _vocabulary(name, found, prefix, arrays) if "vocabulary_" in STEPS[kind] else None
    width = (
        len(words)
        if words is not None
        else count("n_features_in_", found.get("n_features_in_"), 1, MOST_PLACES)
    )
    missing = {one for one in STEPS[kind] if one not in found} - {"feature_names_in_"}
    if missing - ({"idf_"} if not getattr(step, "use_idf", True) else set()):
        raise Misfit(f"its step {name!r} has not found {sorted(missing)[0]!r}")
    for one, value in found.items():
        if one == "vocabulary_":
            setattr(step, one, words)
        elif one == "fixed_vocabulary_":
            setattr(step, one, truth(one, value))
        elif one == "_tfidf":
            setattr(step, one, _inner(step, value, f"{prefix}{one}.", arrays, width))
        elif one == "n_features_in_":
            setattr(step, one, width)
        elif one == "feature_names_in_":
            setattr(step, one, _names(name, value, width))
        elif one == "n_samples_seen_" and not isinstance(value, dict):
            setattr(step, one, _seen(name, value))
        else:
            setattr(step, one, _row(name, one, value, prefix, arrays, width))
    return width


def _vocabulary(name: str, found: Facts, prefix: str, arrays: Arrays) -> dict[str, int]:
    """Words and their columns: each once, from 0 on."""
    words, columns = found.get("vocabulary_"), arrays.pop(f"{prefix}vocabulary_", np.zeros(0))
    if not isinstance(words, list) or columns.shape != (len(words),) or columns.dtype != np.int64:
        raise Misfit(f"the words of its step {name!r} and their columns do not fit each other")
    made = dict(zip(words, columns.tolist(), strict=True))
    if len(made) != len(words) or not is_vocabulary(made) or not made:
        raise Misfit(f"the words of its step {name!r} do not stand for one column each")
    return made


def _inner(step: object, facts: object, prefix: str, arrays: Arrays, width: int) -> object:
    """What weighs the words of a TfidfVectorizer: as its parameters say, as wide as its words."""
    inner = _made(facts, prefix, arrays)
    same = type(inner.made) is TfidfTransformer and all(
        value == getattr(step, name)
        for name, value in cast(Estimator, inner.made).get_params(deep=False).items()
    )
    if not same or inner.gives != width:
        raise Misfit("its words are weighed by other columns or parameters")
    return inner.made


def _names(step: str, names: object, width: int) -> np.ndarray:
    if not isinstance(names, list) or len(names) != width or not is_words(names):
        raise Misfit(f"the names of its step {step!r} are not one for each column")
    return np.array(names, object)


def _seen(step: str, value: object) -> object:
    """How many rows a scaler has seen; weighted, a sum of weights."""
    if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise Misfit(f"its step {step!r} has seen no number of rows")
    return value


def _row(step: str, name: str, value: object, prefix: str, arrays: Arrays, width: int) -> np.ndarray | None:
    """A number for each column."""
    if value is None and name in ABSENT:
        return None
    kinds = ("int64", "float64") if name == "n_samples_seen_" else FLOATS
    least = 0.0 if name == "n_samples_seen_" else LEAST.get(name, -math.inf)
    if value != {"array": True} or prefix + name not in arrays:
        raise Misfit(f"its step {step!r} has no numbers of {name!r}")
    array = arrays.pop(prefix + name)
    check_arrays({name: Wanted((width,), kinds, least)}, {name: array})
    if name == "scale_" and not (array > 0).all():
        raise Misfit(f"its step {step!r} has scales that are not above 0")
    return array


def check_widths(steps: list[Step], last: tuple[object, object]) -> None:
    """What one step gives, the next must take."""
    flow, before = cast(int | None, None), ""
    learner = last[1]
    width = None if getattr(learner, "growing", False) else getattr(learner, "n_features_in_", None)
    for name, takes, gives, passes in [
        *((step.name, step.takes, step.gives, step.passes) for step in steps), (last[0], width, None, False),
    ]:  # fmt: skip
        if flow is not None and takes is not None and flow != takes:
            raise BadInput(
                f"the step {before!r} gives {flow} columns, {name!r} takes {takes}; fit them together"
            )
        flow, before = (flow, before) if passes else (gives, str(name))
