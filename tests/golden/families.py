"""A learner of every family, how it is taught, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

import onmargin as om

ROWS, FIRST = 40, 24  # before the file is written, of them all; in groups of four
GROUP = 4
NAMES, ODD = ["a", "b", "c", "ü"], ["w", 3, (1, "x"), "ü"]  # of features, in dicts
TUPLES = [("a", 1), ("a", 2), ("b", 1)]
NO_YES = np.array(["no", "yes"])
MIXED = [True, "b", 7]


class Stream(NamedTuple):
    """Rows and what may be asked of them; numbers that float64 has exactly."""

    X: np.ndarray
    two: np.ndarray
    three: np.ndarray
    sets: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    chosen: np.ndarray

    def units(self) -> np.ndarray:
        """Rows of length at most 1."""
        return np.asarray(self.X / 4)

    def queries(self) -> np.ndarray:
        """Groups of rows that follow each other."""
        return np.arange(len(self.X)) // GROUP

    def gram(self) -> np.ndarray:
        """A table of kernel values."""
        return np.asarray(1.0 + self.X @ self.X.T)

    def dicts(self, some: slice, names: list[Any]) -> list[tuple[int, dict[Any, float]]]:
        """Rows as dicts: no zeros, and names that come one after the other."""
        return [
            (t, {name: float(v) for name, v in zip(names[: 2 + t // 8], self.X[t], strict=False) if v})
            for t in range(*some.indices(len(self.X)))
        ]


def drawn() -> Stream:
    """The stream that the generator stores."""
    draw = np.random.default_rng(20)
    X = np.round(16 * draw.normal(size=(ROWS, 4)) * (draw.random((ROWS, 4)) < 0.8)) / 16
    X[ROWS // 3] = 0.0
    noisy = np.round(64 * (X @ draw.normal(size=(4, 3)) + 0.6 * draw.normal(size=(ROWS, 3)))) / 64
    chosen = (noisy[:, 0].reshape(-1, GROUP).argmax(axis=1)[:, None] == np.arange(GROUP)).ravel()
    weights = np.where(draw.random(ROWS) < 0.15, 0.0, np.round(8 * draw.uniform(0.1, 2.0, ROWS)) / 8)
    two, three = (noisy[:, 0] > 0).astype(int), noisy.argmax(axis=1)
    return Stream(X, two, three, (noisy > 0.3).astype(int), noisy[:, 0], weights, chosen)


# ---- how a learner is taught: some rows of the stream

Teach = Callable[[Any, Stream, slice], Any]


def numbers(model: Any, given: Stream, some: slice) -> None:
    """A regressor."""
    model.partial_fit(given.X[some], given.numbers[some], sample_weight=given.weights[some])


def two(model: Any, given: Stream, some: slice) -> None:
    """Two classes named by text."""
    model.partial_fit(given.X[some], NO_YES[given.two[some]], classes=NO_YES)


def three(model: Any, given: Stream, some: slice) -> None:
    """Three classes, with weights."""
    model.partial_fit(given.X[some], given.three[some], classes=[0, 1, 2], sample_weight=given.weights[some])


def drawing(model: Any, given: Stream, some: slice) -> None:
    """Three classes without weights."""
    model.partial_fit(given.X[some], given.three[some], classes=[0, 1, 2])


def compressed(model: Any, given: Stream, some: slice) -> None:
    """Rows of a CSR matrix."""
    model.partial_fit(sp.csr_matrix(given.X[some]), given.three[some], classes=[0, 1, 2])


def sets(model: Any, given: Stream, some: slice) -> None:
    """Sets of labels."""
    model.partial_fit(given.X[some], given.sets[some])


def points(model: Any, given: Stream, some: slice) -> None:
    """Rows alone."""
    model.partial_fit(given.X[some])


def ranks(model: Any, given: Stream, some: slice) -> None:
    """Grades of relevance by query."""
    model.partial_fit(given.X[some], given.sets.sum(axis=1)[some], given.queries()[some])


def candidates(model: Any, given: Stream, some: slice) -> None:
    """One chosen in each group."""
    model.partial_fit(given.X[some], given.chosen[some], given.queries()[some])


def dicts(labels: list[Any], names: list[Any] = NAMES) -> Teach:
    """Dicts with features and labels that come in mid-stream."""

    def teach(model: Any, given: Stream, some: slice) -> None:
        for t, x in given.dicts(some, names):
            model.learn_one(x, labels[given.three[t] % (2 if t < 12 else len(labels))])

    return teach


def protocol(model: Any, given: Stream, some: slice) -> None:
    """Labels are read where they are asked for."""
    om.progressive(model, given.X[some], NO_YES[given.two[some]], classes=NO_YES)


def questions(model: Any, given: Stream, some: slice) -> None:
    """Dicts, each asked about first."""
    for t, x in given.dicts(some, NAMES):
        if model.query_one(x):
            model.learn_one(x, MIXED[given.two[t]])


def unit_rows(model: Any, given: Stream, some: slice) -> None:
    """The protocol on rows of length at most 1, and questions that are only counted."""
    om.progressive(model, given.units()[some], NO_YES[given.two[some]], classes=NO_YES)
    model.query(given.units()[some])


def unit_numbers(model: Any, given: Stream, some: slice) -> None:
    """Numbers in [-1, 1] for rows of length at most 1; questions count."""
    targets = given.numbers / 4
    model.partial_fit(given.units()[some], np.where(np.abs(targets) > 1, np.nan, targets)[some])
    model.query(given.units()[some])


def actions(model: Any, given: Stream, some: slice) -> None:
    """Rewards come late: of the oldest action, where more than three wait."""
    for t, x in given.dicts(some, NAMES):
        model.act_one(x)
        if len(model.pending_) > 3:
            oldest = next(iter(model.pending_))
            model.reward_one(oldest, model.pending_[oldest].played == given.three[t])


def fits(model: Any, given: Stream, some: slice) -> None:
    """A fit with what it finds, then a stream."""
    if some.start == 0:
        model.fit(given.X[some], given.two[some])
    else:
        model.partial_fit(given.X[some], given.two[some])


def kernel_values(model: Any, given: Stream, some: slice) -> None:
    """Passes over one table of kernel values, the second from where the first ended."""
    model.fit(given.gram(), given.two)


def nothing(model: Any, given: Stream, some: slice) -> None:
    """Only after the file is read."""
    if some.start:
        three(model, given, some)


# ---- the families

PRIOR = (np.array([[0.5, -0.25, 0.0, 1.0]]), np.array([0.125]))
MANY = ["linear", ("rbf", {"gamma": 0.3}), om.kernels.rbf() * om.kernels.linear()]
COMPOSED = 0.5 * om.kernels.rbf() + om.kernels.poly(2, coef0=1.0).normalized()
COST = [[0, 1, 2], [1, 0, 1], [4, 1, 0]]
RBF = {"kernel": "rbf", "gamma": 0.4, "dtype": "float64"}  # in float32 no two machines agree to 1e-12 ...
EXACT = {"kernel": "linear", "dtype": "float32"}  # ... but here, where nothing is rounded
FEW = RBF | {"budget": 6}
LOGISTIC = om.Recipe(loss="logistic", step="sqrt", space="pnorm")
SQUARED = om.Recipe("regression", loss="squared", step="sqrt")
PA = om.PassiveAggressiveClassifier


class Family(NamedTuple):
    """A learner as it is made, and how it is taught."""

    made: Any
    teach: Teach


FAMILIES = {
    "before_the_first": Family(PA(C=0.5, average=True), nothing),
    "perceptron_random_start": Family(om.Perceptron(init="random", random_state=3), three),
    "pa_binary": Family(PA(C=0.5, average=True, class_weight="balanced"), two),
    "pa_classes": Family(PA(C=0.3, step="pa2", class_weight="balanced"), three),
    "pa_classes_csr": Family(PA(C=0.3, dtype="float32"), compressed),
    "pa_costs": Family(PA(cost=COST, classes=[0, 1, 2]), three),
    "pa_average_after": Family(PA(C=0.3, average="after"), three),
    "pa_horizon": Family(PA(C=0.5, horizon=9.5), two),
    "pa_label_sets": Family(PA(C=0.3), sets),
    "pa_label_sets_calibrated": Family(PA(C=0.3, multilabel="calibrated", average=True), sets),
    "pa_dicts_mixed": Family(PA(average=True), dicts(MIXED, ODD)),
    "pa_dicts_text": Family(PA(C=0.3), dicts(["low", "high", "none"])),
    "pa_dicts_tuples": Family(PA(C=0.3), dicts(TUPLES)),
    "pa_regression": Family(om.PassiveAggressiveRegressor(C=0.3, average=True), numbers),
    "pa_uniclass_radius": Family(om.PassiveAggressiveUniclass(C=0.3, max_radius=2.0), points),
    "mira": Family(om.MIRA(C=0.3), three),
    "arow_diag": Family(om.AROW(r=1.5, average=True), three),
    "arow_full": Family(om.AROW(r=1.5, covariance="full"), three),
    "scw_diag": Family(om.SoftConfidenceWeighted(C=0.3, form="scw2"), three),
    "second_order_perceptron": Family(om.SecondOrderPerceptron(covariance="full", average=True), three),
    "ftrl_pnorm": Family(om.FTRLClassifier(regularizer="pnorm", rate=0.4, average=True), three),
    "ftrl_group": Family(
        om.FTRLClassifier(regularizer="group", rate=0.4, p=1.4, groups=[0, 0, 1, 1]), three
    ),
    "ftrl_entropic": Family(om.FTRLClassifier(regularizer="entropic", rate=0.4, radius=3.0), three),
    "ftrl_adagrad": Family(om.FTRLClassifier(regularizer="adagrad", loss="logistic", rate=0.4), three),
    "ftrl_coin": Family(om.FTRLClassifier(regularizer="coin", loss="logistic", average=True), two),
    "ftrl_soft": Family(om.FTRLClassifier(l1=0.05, rate=0.4, step="sqrt"), three),
    "ftrl_regression": Family(om.FTRLRegressor(regularizer="coin"), numbers),
    "recipe": Family(om.OnlineClassifier(LOGISTIC, p=1.5, rate=0.5), two),
    "recipe_regression": Family(om.OnlineRegressor(SQUARED, rate=0.1, average=True), numbers),
    "pegasos_suffix_batch_prior": Family(
        om.Pegasos(lam=0.1, average=0.5, batch_size=7, prior=PRIOR), two
    ),
    "pegasos_one_vs_all": Family(om.Pegasos(lam=0.1, multiclass="one_vs_all"), three),
    "pegasos_kernel_fit": Family(om.Pegasos(lam=0.1, max_iter=2, tol=None, **RBF), fits),
    "pa_kernel": Family(PA(C=0.5, average=True, **RBF), three),
    "pa_kernel_float32": Family(PA(C=0.5, **EXACT), compressed),
    "pa_kernel_dicts": Family(PA(C=0.5, **RBF), dicts(["low", "high", "none"])),
    "pa_kernel_budget": Family(PA(C=0.5, average=True, **FEW), three),
    "pa_kernel_uniclass": Family(om.PassiveAggressiveUniclass(max_radius=0.8, **RBF), points),
    "perceptron_composed_kernel": Family(om.Perceptron(kernel=COMPOSED, dtype="float64"), two),
    "perceptron_kernel_values": Family(
        om.Perceptron(kernel="precomputed", max_iter=1, tol=None, warm_start=True),
        kernel_values,
    ),
    "projectron": Family(om.Projectron(tolerance=0.45, average=True, **RBF), three),
    "projectron_plus": Family(om.Projectron(tolerance=0.45, plus=True, **RBF), compressed),
    "random_budget": Family(om.RandomBudgetPerceptron(**FEW, random_state=2), drawing),
    "forgetron": Family(om.Forgetron(**FEW), drawing),
    "stoptron": Family(om.Stoptron(**FEW, average=True), drawing),
    "om2": Family(om.OM2(kernels=MANY, p=1.5, dtype="float64"), three),
    "paired_auc": Family(
        om.PairedClassifier(C=0.3, rule="auc", reservoir=5, average=True, random_state=4), two
    ),
    "paired_classes": Family(om.PairedClassifier(C=0.3, rule="dca", reservoir=3, random_state=4), drawing),
    "paired_kernel": Family(
        om.PairedClassifier(C=0.3, reservoir=5, sampler="recent", random_state=4, **RBF), two
    ),
    "paired_ranker": Family(om.PairedRanker(C=0.3, average=True, random_state=5), ranks),
    "candidates": Family(om.CandidateClassifier(C=0.3, average=True), candidates),
    "sampler_adaptive_window": Family(
        om.SelectiveSampler(om.Perceptron(), delta=0.3, rule="adaptive", budget=4, window=8, random_state=6),
        protocol,
    ),
    "sampler_rate_dicts": Family(
        om.SelectiveSampler(PA(C=0.5, growing=True), rule="bernoulli", target_rate=0.5, random_state=6),
        questions
    ),
    "bbq": Family(om.BBQ(epsilon=0.95, fit_intercept=True, random_state=7), unit_rows),
    "bbq_kernel": Family(om.BBQ(kappa=0.5, kernel="rbf", gamma=0.1, random_state=7), unit_rows),
    "bbq_numbers": Family(om.BBQRegressor(epsilon=0.95, fit_intercept=True, random_state=7), unit_numbers),
    "bbq_numbers_kernel": Family(
        om.BBQRegressor(kappa=0.5, kernel="rbf", gamma=0.1, random_state=7), unit_numbers
    ),
    "banditron_pending": Family(om.Banditron(gamma=0.3, classes=["x", "y", "z"], random_state=8), actions),
    "banditron_table": Family(om.Banditron(gamma=0.3, average=True, random_state=8), drawing),
    "shifting_perceptron": Family(om.ShiftingPerceptron(lam=1.5), three),
    "shifting_kernel": Family(om.ShiftingPerceptron(lam=1.5, **FEW), drawing),
    "pa_kernel_horizon": Family(PA(C=0.5, horizon=9.5, **FEW), three),
    "projected_perceptron": Family(om.ProjectedPerceptron(radius=1.2, rate=0.6), three),
}  # fmt: skip


def fresh(name: str) -> Any:
    """The learner before its first example, with a seed (a clone of River's would draw one)."""
    made = FAMILIES[name].made
    chosen = made.get_params(deep=False)
    if chosen.get("random_state", 0) is None:
        chosen["random_state"] = 0
    return type(made)(**chosen)


def begun(name: str, given: Stream) -> Any:
    """The learner after the first rows."""
    model = fresh(name)
    FAMILIES[name].teach(model, given, slice(0, FIRST))
    return model


def go_on(name: str, model: Any, given: Stream) -> Any:
    """The learner after the rest, too."""
    FAMILIES[name].teach(model, given, slice(FIRST, len(given.X)))
    return model


# ---- what can be said of a learner

LEARNED = (
    "coef_", "intercept_", "threshold_", "dual_coef_", "support_", "kernel_weights_", "radius_", "objective_",
    "dual_gap_", "mean_reward_", "reward_estimate_", "n_queries_", "t_",
)  # fmt: skip
SAID = (
    "classes_", "feature_names_in_", "n_features_in_", "n_iter_", "gamma_", "budget_", "lam_", "p_",
    "n_support_", "n_queries_", "t_",
)  # fmt: skip


def answers(name: str, model: Any, given: Stream) -> dict[str, np.ndarray]:
    """Numbers that all of the state goes into: decisions, coefficients, answers."""
    found = {what: np.asarray(value, float) for what, value in _there(model, LEARNED).items()}
    if FAMILIES[name].teach in (questions, actions) or "dicts" in name:
        asked = given.dicts(slice(len(given.X)), ODD if "mixed" in name else NAMES)
        found["answers"] = _codes(model, [model.predict_one(x) for _, x in asked])
        if "mixed" not in name:  # (a frame has names of one kind)
            found["decisions"] = model.decision_function(pd.DataFrame(given.X, columns=NAMES))
        return found
    X = given.gram() if FAMILIES[name].teach is kernel_values else given.X
    X = given.units() if FAMILIES[name].teach in (unit_rows, unit_numbers) else X
    if hasattr(model, "decision_function"):
        found["decisions"] = model.decision_function(X)
    if hasattr(model, "certainty"):
        estimates = model.regress if hasattr(model, "regress") else model.predict
        found["estimates"], found["certainty"] = estimates(X), model.certainty(X)
    found["answers"] = _codes(model, list(model.predict(X)))
    return found


def facts(model: Any) -> dict[str, str]:
    """Class, parameters, labels, names, what a fit found, as text."""
    parameters = {name: _text(value) for name, value in sorted(model.get_params(deep=False).items())}
    said = {name: _text(value) for name, value in _there(model, SAID).items()}
    if getattr(model, "pending_", None):
        said["pending_"] = repr({number: tuple(action) for number, action in model.pending_.items()})
    if hasattr(model, "coef_") and hasattr(model, "top_features") and not hasattr(model, "center_"):
        said["names"] = repr(sorted({repr(name) for name in model.top_features(9)["feature"]}))
    return {"class": type(model).__name__} | parameters | said


def _text(value: Any) -> str:
    """A value with its type, without addresses in memory."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}: {value.tolist()!r}"
    if hasattr(value, "coef") and hasattr(value, "intercept"):  # a prior
        return f"prior: {np.asarray(value.coef).tolist()} {np.asarray(value.intercept).tolist()}"
    if hasattr(value, "get_params"):  # the learner inside, whatever is default today
        return repr((type(value).__name__, *sorted(value.get_params(deep=False).items())))
    return repr(value)


def _there(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Attributes that this learner has by now."""
    found = {}
    for name in names:
        try:
            found[name] = getattr(model, name)
        except (AttributeError, KeyError, ValueError):  # not learned yet, or not of this learner
            continue
    return found


def _codes(model: Any, given: list[Any]) -> np.ndarray:
    """Answers as numbers: the places of labels, or the numbers themselves."""
    if not hasattr(model, "classes_") or isinstance(given[0], np.ndarray):
        return np.asarray(given, float)
    plain = [label.item() if isinstance(label, np.generic) else label for label in given]
    places = {repr(label): place for place, label in enumerate(model.classes_.tolist())}
    return np.array([places[repr(label)] for label in plain])
