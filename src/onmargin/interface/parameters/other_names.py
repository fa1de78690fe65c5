"""Names that other libraries have for a parameter, answered with what the class at hand has."""

from __future__ import annotations

from difflib import get_close_matches

from ...errors import BadInput, BadType, shown

LEAVE = "leave it out"
REGULARISES = f"the step itself regularises; {LEAVE}"
RECIPE = "its recipe says that: om.Recipe(task, loss, step, space)"
STOPPING = f"passes stop by tol= and n_iter_no_change=; {LEAVE}"

# A name: what is said where the class has a certain parameter, the first that it has; "" is any class.
HINTS: dict[str, list[tuple[str, str]]] = {
    "mode": [("step", "use step='pa' (mode=0), step='pa1' (mode=1) or step='pa2' (mode=2)")],
    "eps": [("epsilon", "use epsilon=")],
    "learn_intercept": [("fit_intercept", "use fit_intercept=")],
    "seed": [("random_state", "use random_state=")],
    "n_iter": [("max_iter", "use max_iter=")],
    "eta0": [("rate", "use rate="), ("C", "use C="), ("prior", "the rate is 1 / (lam t); use lam=")],
    "C": [("r", "use r= (as 1 / (2 C))"), ("prior", "use lam= (as 1 / (C times the rows))")],
    "beta": [("a", "use a="), ("r", "use r=")],
    "eta": [("form", "use confidence="), ("rate", "use rate=")],
    "nu": [("max_radius", "use epsilon= (the radius) or max_radius= (it is learned)")],
    "shuffle": [("order", "use order='shuffle', 'cyclic' (as they come) or 'random'")],
    "order": [("shuffle", "use shuffle=")],
    "alpha": [
        ("prior", "use lam="), ("recipe", RECIPE), ("l1", "use l1= (a threshold), or regularizer="),
        ("", REGULARISES),
    ],
    "penalty": [
        ("prior", "the penalty is lam/2 |w|^2; use lam="), ("recipe", RECIPE),
        ("regularizer", "use l1= for sparse weights, regularizer= for another norm"), ("", REGULARISES),
    ],
    "l1_ratio": [("l1", "use l1="), ("", REGULARISES)],
    "l1": [("", REGULARISES)],
    "l2": [
        ("prior", "use lam="), ("recipe", RECIPE),
        ("regularizer", "regularizer='l2' is the default, its weight 1 / rate"), ("", REGULARISES),
    ],
    "power_t": [
        ("regularizer", "use step='sqrt' for a rate that falls"), ("recipe", RECIPE), ("", REGULARISES)
    ],
    "clip_gradient": [("", REGULARISES)],
    "optimizer": [
        ("regularizer", "use regularizer= and step="), ("recipe", RECIPE), ("", REGULARISES)
    ],
    "initializer": [("init", "use init="), ("", f"weights start at 0; {LEAVE}")],
    "n_jobs": [("classes", f"several classes are learned natively in one loop; {LEAVE}"), ("", LEAVE)],
    "multi_class": [
        ("multiclass", "use multiclass="), ("kappa", f"it is for two classes; {LEAVE}"),
        ("classes", f"several classes are learned natively; {LEAVE}"), ("", LEAVE),
    ],
    "early_stopping": [("tol", STOPPING)],
    "validation_fraction": [("tol", STOPPING)],
    "kernel": [
        ("kernels", "use kernels="),
        ("", f"this class is linear; use Perceptron, PassiveAggressiveClassifier or Pegasos, or {LEAVE}"),
    ],
    "class_weight": [
        ("max_radius", f"a ball has no classes; use sample_weight=, or {LEAVE}"),
        ("max_pending", f"rewards come without their class; {LEAVE}"),
        ("kappa", f"it estimates E[y | x], which weights would move; {LEAVE}"),
        ("reservoir", f"its rounds are balanced by themselves; {LEAVE}"),
        ("epsilon", f"numbers have no classes; use sample_weight=, or {LEAVE}"),
        ("", f"it compares the rows of a group; {LEAVE}"),
    ],
    "budget": [
        ("kernel", f"all vectors are kept; {LEAVE}"),
        ("kernels", f"all vectors are kept; {LEAVE}"),
        ("", f"it keeps weights, no vectors; {LEAVE}"),
    ],
    "average": [
        ("budget", f"an average would need the vectors that were dropped; {LEAVE}"),
        ("kernels", f"its kernels are weighed anew every round; {LEAVE}"),
        ("lam", f"an average would not follow a target that moves; {LEAVE}"),
        ("radius", f"an average would not follow a target that moves; {LEAVE}"),
    ],
    "loss": [("recipe", RECIPE), ("", f"the loss belongs to the algorithm; {LEAVE}")],
    "learning_rate": [
        ("rate", "use rate="), ("prior", "the rate is 1 / (lam t); use lam="),
        ("", f"the step belongs to the algorithm; {LEAVE}"),
    ],
}  # fmt: skip


def ours_for(name: str, value: object, known: set[str]) -> str:
    """What another library's parameter is called here."""
    listed = f"known are {', '.join(sorted(known))}"
    if "estimator" in known and name != "seed":
        return f"give it to the learner inside, estimator=; {listed}"
    if name == "learning_rate" and {"step", "rate"} <= known:
        return "use step= and rate="
    if name in ("loss", "learning_rate") and "step" in known:
        return "use step='pa2'" if "squared" in str(value) or value == "pa2" else "use step='pa1'"
    said = [hint for parameter, hint in HINTS.get(name, []) if not parameter or parameter in known]
    near = [f"did you mean {ours}=?" for ours in get_close_matches(name, sorted(known), 1, 0.75)]
    return [*said, *near, listed][0]


def refuse_unknown(owner: object, given: dict[str, object], known: set[str]) -> None:
    """Raise for the first name that is not a parameter, with ours where we know what was meant."""
    for name, value in given.items():
        if name.partition("__")[0] not in known:
            hint = ours_for(name, value, known)
            raise BadType(f"{type(owner).__name__} has no parameter {shown(name)}; {hint}")


def refuse_params(owner: object, given: dict[str, object], known: set[str]) -> None:
    """The same of `set_params`, whose refusals are of another kind; a nested name belongs to its owner."""
    try:
        refuse_unknown(owner, given, known)
    except BadType as error:
        raise BadInput(f"Invalid parameter: {error}") from None
