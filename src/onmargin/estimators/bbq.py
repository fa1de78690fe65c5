"""BBQ: ask until the estimate of every row is known to be near the truth; of classes, and of numbers."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from ..compiled.rows import Rows
from ..errors import warn
from ..interface.feedback.asking_classifier import AskingClassifier
from ..interface.feedback.asking_regressor import AskingRegressor
from ..interface.feedback.asks import AsksForLabels, Inside
from ..interface.guard import answers
from ..interface.parameters.fields import (
    Classes,
    KernelParameters,
    Shuffled,
    above_zero,
    check_limits,
    flag,
    group,
    learner,
    one_of,
    plain,
)
from ..interface.runs.watch import Wanted
from ..interface.tables import Table
from ..learn.queries import HOEFFDING, POLYNOMIAL, SEED, confidence_width
from ..models.asking import Chosen
from ..models.weights import Model
from ..results.label_plan import Outlook
from ..results.progress import Progress
from .ridge import Ridge, RidgeClassifier, RidgeRegressor

SILENT = 15  # rounds without a question that need no word
MANY, NEARLY_ALL = 1000, 0.95  # rows shown, and the share of them asked for, that are worth a word
# Parameters of the learner inside.
SHARED = (
    "epsilon", "fit_intercept", "scale", "kernel", "gamma", "degree", "coef0", "shuffle", "random_state",
)  # fmt: skip


def below_1(value: float) -> bool:
    """Is it a probability, or an exponent, below 1?"""
    return value < 1


@group
class BBQParameters:
    """How near, how surely, and the rule."""

    epsilon: float = above_zero(default=0.5, inf=True)
    delta: float = above_zero(default=0.1, also=below_1, wanted="a probability above 0 and below 1")
    confidence: str = one_of("hoeffding", "seed", default="hoeffding")
    kappa: float | None = above_zero(
        default=None,
        none=True,
        also=below_1,
        wanted="a number above 0 and below 1, or None",
    )
    kappa_factor: float = above_zero(default=1.0)
    fit_intercept: bool = flag(default=False)
    scale: bool = flag(default=True)
    random_state: Any = plain(default=None)


class BiasQueries(AsksForLabels):
    """Ask where the estimate may be further than epsilon from the truth; a subclass says what labels are."""

    epsilon: float
    delta: float
    confidence: str
    kappa: float | None
    kappa_factor: float
    _shared: tuple[str, ...] = SHARED  # parameters of the learner inside
    _instead = ""  # who asks for less
    variants = ()

    def _hand_on(self, inner: Inside) -> None:
        for name in self._shared:
            if getattr(inner, name) is not getattr(self, name):
                setattr(inner, name, getattr(self, name))

    def _rule_numbers(self) -> Chosen:
        check_limits(self)
        return {
            "ask_rule": float(self._code()), "ask_delta": self.delta, "ask_share": self.kappa or 0.0,
            "ask_chance": float(self.kappa_factor),
        }  # fmt: skip

    def _run(self, X: Table, labels: np.ndarray, there: np.ndarray, wanted: Wanted) -> Progress:
        self._say_when_it_begins()
        run = super()._run(X, labels, there, wanted)
        self._say_that_it_asks_all()
        return run

    def _say_when_it_begins(self) -> None:
        first = 0.0
        if self.kappa is not None and self.kappa_factor > 0.5:
            twice = 2.0 * float(self.kappa_factor)
            first = twice ** min(1.0 / self.kappa, 690.0 / math.log(twice))
        if first <= SILENT or "begins" in self._said:
            return
        self._said = self._said | {"begins"}
        spelled = "2^(1/kappa)" if self.kappa_factor == 1.0 else "(2 kappa_factor)^(1/kappa)"
        said = f"{math.ceil(first):,}" if first < 1e9 else f"{first:.3g}"
        warn(
            f"{type(self).__name__}(kappa={self.kappa:g}) asks for nothing before round {said} = {spelled} "
            "where rows are 1 long, later where they are shorter; a larger kappa or kappa_factor=0.5 begins "
            "sooner",
            UserWarning,
        )

    def _say_that_it_asks_all(self) -> None:
        rule = self._rule(self.inside())
        if "all" in self._said or rule.shown < MANY or rule.asked < NEARLY_ALL * rule.shown:
            return
        self._said = self._said | {"all"}
        less = f"raise epsilon={self.epsilon:g}" if self.kappa is None else f"lower kappa={self.kappa:g}"
        warn(
            f"{type(self).__name__} asked for {rule.asked:,} of {rule.shown:,} labels: rows are few beside "
            f"the directions they have; {less}{self._instead}",
            UserWarning,
        )

    def _code(self) -> int:
        if self.kappa is not None:
            return POLYNOMIAL
        return SEED if self.confidence == "seed" else HOEFFDING

    def _ridge(self) -> Ridge:
        return cast(Ridge, self._answering())

    @answers
    def certainty(self, X: object) -> np.ndarray:
        """Half-widths: how far each estimate may be from the truth, for the round to come."""
        check_limits(self)
        inner = self._ridge()
        _, variances, lengths = inner.estimates(X)
        rule = SEED if self.confidence == "seed" else HOEFFDING
        return self._widths(variances, lengths, self._round(inner), rule)

    def _widths(self, variances: np.ndarray, lengths: np.ndarray, clock: float, rule: int) -> np.ndarray:
        pairs = zip(variances.tolist(), lengths.tolist(), strict=True)
        return np.array([confidence_width(v, n, clock, rule, self.delta) for v, n in pairs])

    def _round(self, inner: Inside) -> int:
        """The number of the round to come: rows shown, or labels learned where those are more."""
        return 1 + max(self._rule(inner).shown, int(inner.t_))

    def would_ask(self, inner: Inside, variances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The rule about rows with these v and |Px|^2, each as if it came next."""
        clock = float(self._round(inner))
        if self.kappa is not None:
            return np.asarray(variances / (1.0 + variances) >= self.kappa_factor * clock**-self.kappa)
        return self._widths(variances, lengths, clock, self._code()) > self.epsilon

    def _ask_blindly(self, inner: Inside, count: int) -> np.ndarray:
        self._rule(inner).count(count, count)
        return np.ones(count, bool)

    def _ask(self, inner: Inside, model: Model, rows: Rows, count: int, table: Table) -> np.ndarray:
        """The rule about every row as things stand; the labels may change it."""
        self._say_when_it_begins()
        _, variances, lengths = cast(Ridge, inner).estimates_of(model, rows, count, table)
        asks = self.would_ask(inner, variances, lengths)
        self._rule(inner).count(count, int(asks.sum()))
        return asks

    @answers
    def outlook(self, X: object) -> Outlook:
        """How many rows are within epsilon of the truth, with probability 1 - delta; stop where all are."""
        inner = self._ridge()
        _, variances, lengths = inner.estimates(X)
        asks = self.would_ask(inner, variances, lengths)
        near = int((~asks).sum())
        said = f"are within epsilon={self.epsilon:g} of the truth with probability {1 - self.delta:g}"
        if self.kappa is not None:
            said = f"have r below {self.kappa_factor:g} t^-{self.kappa:g}"
        text = f"{near:,} of {len(asks):,} rows {said}; {len(asks) - near:,} would be asked for"
        return Outlook(len(asks), float(len(asks) - near), near / max(len(asks), 1), near == len(asks), text)


@learner
class BBQ(BiasQueries, AskingClassifier, Shuffled, Classes, KernelParameters, BBQParameters):
    """Bound on bias query: a binary classifier that asks until all estimates are within epsilon of the truth.

    With P = (I + sum of x x')^-1 over the rows asked for, v = x'Px: the estimate of E[y | x] is
    <w, x> / (1 + v), w = P sum y x. It asks where r + s + |q| sqrt(2 ln(2 t (t + 1) / delta)) > epsilon, with
    r = v / (1 + v), s = |Px| / (1 + v), |q|^2 = r - r^2 - s^2. If E[y | x] = <u, x>, |u| and |x| at most 1,
    then with probability 1 - delta all estimates of rows it did not ask for are within epsilon of it; it asks
    O(d ln T / epsilon^2) times, whatever the labels are.

    Parameters
    ----------
    epsilon, delta : how near, and how surely.
    confidence : "hoeffding" (as above), or "seed" for ln(t (t + 1) / (2 delta)): 1 - 4 delta only.
    kappa, kappa_factor : None, or a number in (0, 1): BBQ(kappa), which asks where r >= f t^-kappa, f being
        `kappa_factor`. As r is at most 1/2 on rows of length 1, not before round (2 f)^(1/kappa), said
        once, in a warning, where it is late. f = 0.5 (DOGMA's) asks from the start.
    kernel, gamma, degree, coef0 : the kernel form (kernels whose k(x, x) is not 1 are normalised).
    scale : rows with a norm above 1 are scaled to 1, with one warning a call; False: they are refused.
    fit_intercept : a constant coordinate; all rows are then divided by sqrt(2).

    Weights keep the square of the columns; where the first table has more than 2,048 of them the same
    estimates are spelled in the rows asked for, and a round costs the square of their number. Where rows are
    few beside their directions / epsilon^2 nearly all labels are asked for (a warning says so, once).

    `regress` gives the estimates, `certainty` their half-widths; `fit` and `om.progressive` ask,
    `partial_fit` and `learn_one` take a person's answers (NaN and None are skipped), `query` and `query_one`
    say what to ask for.

    Reference: Cesa-Bianchi, Gentile & Orabona 2009; Orabona & Cesa-Bianchi 2011.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> angle = draw.uniform(0, 2 * np.pi, 3000)
    >>> X = np.c_[np.cos(angle), np.sin(angle)]
    >>> y = np.where(draw.random(3000) < (1 + X[:, 0]) / 2, 1, -1)
    >>> model = BBQ(epsilon=0.5, random_state=0).fit(X, y)
    >>> model.n_queries_ < 500, bool(np.abs(model.regress(X) - X[:, 0]).max() < 0.5)
    (True, True)
    """

    _shared = (*SHARED, "classes")
    _instead = ", or use SelectiveSampler, which promises less"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def _multiclass(self) -> bool:
        return False

    def _made_inner(self) -> RidgeClassifier:
        return RidgeClassifier(**{name: getattr(self, name) for name in self._shared})

    @answers
    def regress(self, X: object) -> np.ndarray:
        """The estimate of E[y | x], y being -1 and +1."""
        return self._ridge().estimates(X)[0]


@learner
class BBQRegressor(BiasQueries, AskingRegressor, Shuffled, KernelParameters, BBQParameters):
    """Bound on bias query for numbers: it asks until all estimates are within epsilon of the truth.

    The model: targets Y in [-1, 1], each drawn by itself with E[Y | x] = <u, x>, |u| and |x| at most 1. All
    is as in `BBQ` (the rows to ask for depend on the rows alone), and the labels asked for may be any
    numbers of [-1, 1]: `predict` is the estimate b'Px / (1 + x'Px), P = (I + sum of x x')^-1 and
    b = sum of y x over the rows asked for. With probability 1 - delta every estimate of a row it did not
    ask for is within epsilon of <u, x>.

    Parameters are those of `BBQ` (but for `classes`); `scale` is about targets too: those beyond [-1, 1] are
    cut to it, with one warning a call, or (False) refused. Divide them by their bound first.

    `certainty` gives the half-widths of the estimates; `fit` and `om.progressive` ask, `partial_fit` and
    `learn_one` take a person's answers (NaN and None are skipped), `query` and `query_one` say what to ask
    for. Where it asks, a round costs (y - estimate)^2 / 2.

    Reference: Cesa-Bianchi, Gentile & Orabona 2009; Orabona & Cesa-Bianchi 2011.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> angle = draw.uniform(0, 2 * np.pi, 3000)
    >>> X = np.c_[np.cos(angle), np.sin(angle)]
    >>> y = 0.8 * X[:, 0] + draw.uniform(-0.2, 0.2, 3000)
    >>> model = BBQRegressor(epsilon=0.5, random_state=0).fit(X, y)
    >>> model.n_queries_ < 500, bool(np.abs(model.predict(X) - 0.8 * X[:, 0]).max() < 0.5)
    (True, True)
    """

    def _made_inner(self) -> RidgeRegressor:
        return RidgeRegressor(**{name: getattr(self, name) for name in self._shared})
