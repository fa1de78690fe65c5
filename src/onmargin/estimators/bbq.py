"""BBQ: ask until the estimate of every row is known to be near the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from ..learn.queries import HOEFFDING, POLYNOMIAL, SEED, confidence_width
from ..learn.vocabulary import ASKED, SHOWN
from .asks import AsksForLabels
from .parameters import require_positive
from .ridge_classifier import RidgeClassifier


class BBQ(AsksForLabels):
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
    kappa : None, or a number in (0, 1): BBQ(kappa), which asks where r >= t^-kappa.
    kernel, gamma, degree, coef0 : the kernel form (kernels whose k(x, x) is not 1 are normalised).
    scale : rows with a norm above 1 are scaled to 1, with one warning a call; False: they are refused.
    fit_intercept : a constant coordinate; all rows are then divided by sqrt(2).

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

    def __init__(
        self, *, epsilon: float = 0.5, delta: float = 0.1, confidence: str = "hoeffding",
        kappa: float | None = None, kernel: Any = None, gamma: Any = "scale", degree: int = 3,
        coef0: float = 0.0, fit_intercept: bool = False, scale: bool = True, classes: Any = None,
        shuffle: bool = True, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.epsilon, self.delta, self.confidence, self.kappa = epsilon, delta, confidence, kappa
        self.kernel, self.gamma, self.degree, self.coef0 = kernel, gamma, degree, coef0
        self.fit_intercept, self.scale, self.classes = fit_intercept, scale, classes
        self.shuffle, self.random_state = shuffle, random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def _multiclass(self) -> bool:
        return False

    def _made_inner(self) -> Any:
        names = (
            "epsilon",
            "fit_intercept",
            "scale",
            "kernel",
            "gamma",
            "degree",
            "coef0",
            "classes",
            "shuffle",
        )
        return RidgeClassifier(
            random_state=self.random_state, **{name: getattr(self, name) for name in names}
        )

    def _rule_numbers(self) -> dict[str, Any]:
        require_positive("epsilon", self.epsilon, False, True)
        require_positive("delta", self.delta, False, False)
        if self.delta >= 1:
            raise BadInput(f"delta={self.delta!r}; wanted a probability above 0 and below 1")
        if self.confidence not in ("hoeffding", "seed"):
            raise BadInput(f"confidence={self.confidence!r}; wanted 'hoeffding' or 'seed'")
        if self.kappa is not None:
            require_positive("kappa", self.kappa, False, False)
            if self.kappa >= 1:
                raise BadInput(f"kappa={self.kappa!r}; wanted a number above 0 and below 1, or None")
        return {"ask_rule": float(self._code()), "ask_delta": self.delta, "ask_share": self.kappa or 0.0}

    def _code(self) -> int:
        if self.kappa is not None:
            return POLYNOMIAL
        return SEED if self.confidence == "seed" else HOEFFDING

    def regress(self, X: Any) -> np.ndarray:
        """The estimate of E[y | x], y being -1 and +1."""
        return np.asarray(self._answering().estimates(X)[0])

    def certainty(self, X: Any) -> np.ndarray:
        """Half-widths: how far each estimate may be from the truth, for the round to come."""
        inner = self._answering()
        _, variances, lengths = inner.estimates(X)
        rule = SEED if self.confidence == "seed" else HOEFFDING
        pairs, clock = zip(variances.tolist(), lengths.tolist(), strict=True), self._round(inner)
        return np.array([confidence_width(v, n, clock, rule, self.delta) for v, n in pairs])

    def _round(self, inner: Any) -> int:
        """The number of the round to come: rows shown, or labels learned where those are more."""
        return 1 + max(int(self._numbers()[SHOWN]), int(inner.t_))

    def would_ask(self, inner: Any, variances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The rule about rows with these v and |Px|^2, each as if it came next."""
        clock = float(self._round(inner))
        if self.kappa is not None:
            return np.asarray(variances / (1.0 + variances) >= clock**-self.kappa)
        pairs = zip(variances.tolist(), lengths.tolist(), strict=True)
        widths = [confidence_width(v, n, clock, self._code(), self.delta) for v, n in pairs]
        return np.array(widths) > self.epsilon

    def _ask_blindly(self, count: int) -> np.ndarray:
        numbers = self._numbers()
        numbers[SHOWN] += count
        numbers[ASKED] += count
        return np.ones(count, bool)

    def _ask(self, inner: Any, rows: Any, count: int, table: Any) -> np.ndarray:
        """The rule about every row as things stand; the labels may change it."""
        _, variances, lengths = inner.estimates_of(rows, count, table)
        asks = self.would_ask(inner, variances, lengths)
        numbers = self._numbers()
        numbers[SHOWN] += count
        numbers[ASKED] += int(asks.sum())
        return np.asarray(asks)
