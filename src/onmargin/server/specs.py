"""What a model is made of: an algorithm by name, parameters, features, a rule that asks."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from msgspec import Struct, field

from ..errors import BadInput, OnmarginError, shown
from ..features.text import Text
from ..interface.groups import Grouped
from ..protocols.requested.naming import FAMILIES, NUMBERS, POINTS, PROBLEMS, QUERIES, SETS, named
from ..protocols.requested.training import Model
from .plain import Json, Plain

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
RULES = ("bernoulli", "margin", "random", "always")
OWN = ("algorithm", "task", "text", "ask")


class Spec(Struct, omit_defaults=True):
    """As the journal keeps it: enough to make the same model again, bit for bit."""

    algorithm: str
    task: str
    parameters: Json = field(default_factory=dict)
    text: Json | None = None
    rule: str = "bernoulli"
    delta: float = 1.0

    def learner(self) -> Model:
        """A fresh one."""
        return named(self.algorithm, self.task, {k: _tupled(v) for k, v in self.parameters.items()}).model

    def features(self) -> Text | None:
        """Of texts; None: examples are numbers already."""
        if self.text is None:
            return None
        given = {name: _tupled(value) for name, value in self.text.items()}
        try:
            made = Text(**{"names": True, **given})
        except TypeError:
            known = ", ".join(Text().get_params())
            raise BadInput(f"text={shown(self.text)}; wanted parameters of a Text: {known}") from None
        made.transform([])
        return made


def spec_of(given: object) -> Spec:
    """What a caller asked for, checked by making it once; a seed is drawn where none is given."""
    if not isinstance(given, Mapping):
        raise BadInput(f'got {shown(given)}; wanted {{"algorithm": "pa1", "C": 0.1}}')
    algorithm, text, ask = given.get("algorithm"), given.get("text"), given.get("ask", {})
    if not isinstance(algorithm, str):
        raise BadInput(f'algorithm={shown(algorithm)}; wanted a name, see "onmargin algorithms"')
    if text in (None, False):
        text = None
    elif text is True:
        text = {}
    if text is not None and not isinstance(text, Mapping):
        raise BadInput(f"text={shown(text)}; wanted true, or parameters of om.features.Text")
    rule, delta = _rule(ask)
    parameters = {str(name): value for name, value in given.items() if name not in OWN}
    spec = Spec(algorithm, _task(algorithm, given.get("task")), parameters, None, rule, delta)
    if text is not None:
        spec.text = dict(text)
    try:
        model = spec.learner()
        has = model.get_params(deep=False)
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise BadInput(" ".join(str(error).split())[:300]) from None
    if isinstance(model, Grouped):
        raise BadInput(f"{algorithm} learns from whole groups; a server takes one example at a time")
    if has.get("kernel") == "precomputed":
        raise BadInput("kernel='precomputed' has a column for every row; a stream has none")
    if "random_state" in has and parameters.get("random_state") is None:
        spec.parameters["random_state"] = secrets.randbits(31)  # a replay draws what was drawn
    features = spec.features()
    if features is not None:
        first = (has.get("classes") or (0,))[0]
        try:
            widen(spec.learner(), features.width(), spec.task, first)
        except (OnmarginError, ValueError, TypeError) as error:
            why = " ".join(str(error).split())[:200]
            raise BadInput(
                f"{algorithm} cannot begin with texts ({why}); give classes=, or another one"
            ) from None
    else:
        _try(spec)
    return spec


def _try(spec: Spec) -> None:
    """Does such a learner begin at all? What it refuses about itself, it refuses at the first example."""
    learner = spec.learner()
    label = (learner.get_params(deep=False).get("classes") or ("a",))[0]
    given: tuple[Plain, ...] = {POINTS: (), NUMBERS: (0.5,), SETS: ({label: True},)}.get(spec.task, (label,))
    try:
        learner.learn_one({}, *given)
    except (OnmarginError, ValueError, TypeError) as error:
        why = " ".join(str(error).split())[:250]
        raise BadInput(f"{spec.algorithm} cannot learn like this: {why}") from None


def widen(learner: Plain, width: int, task: str, y: Plain) -> None:
    """A row that weighs nothing says how many columns texts have: the learner's file then answers texts."""
    if task == SETS:
        y = np.zeros((1, len(learner.classes or ())))
    elif task != POINTS:
        y = [y]
    learner.partial_fit(sp.csr_matrix((1, width)), None if task == POINTS else y, sample_weight=[0.0])


def checked_name(name: str) -> str:
    """Of a model: it is part of paths and addresses."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadInput(f"name={shown(name)}; wanted 1 to 64 letters, digits, _ . or -, no sign first")
    return name


def _task(algorithm: str, task: object) -> str:
    """As asked for, or the first that the family has."""
    if task is not None:
        if not isinstance(task, str):
            raise BadInput(f"task={shown(task)}; wanted a text")
        return task
    family, _, problem = algorithm.partition(".")
    if problem in PROBLEMS:
        return PROBLEMS[problem][0]
    tasks = [one for one in FAMILIES.get(family, {"classes": None}) if one not in (QUERIES, POINTS)]
    return (tasks or [QUERIES])[0]


def _rule(ask: object) -> tuple[str, float]:
    if not isinstance(ask, Mapping) or ask.keys() - {"rule", "delta"}:
        raise BadInput(f'ask={shown(ask)}; wanted {{"rule": "bernoulli", "delta": 1.0}}')
    rule, delta = ask.get("rule", "bernoulli"), ask.get("delta", 1.0)
    if rule not in RULES:
        raise BadInput(f"rule={shown(rule)}; wanted one of {', '.join(RULES)}")
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1e300:
        raise BadInput(f"delta={shown(delta)}; wanted a number of at least 0")
    return rule, float(delta)


def _tupled(value: Plain) -> Plain:
    """Lists of JSON as the tuples that parameters are."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
