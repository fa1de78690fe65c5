"""Second-order learners: weights that know how sure they are."""

from __future__ import annotations

from scipy import special

from ..interface.classifier import Classifier
from ..interface.parameters.fields import Averaged, Labelled, Linear, above_zero, group, learner, one_of
from ..interface.parameters.fixed import CLASSES, Rule, chosen
from ..models.weights import Numbers


def becoming_sure(length: float) -> float:
    """r by the length of a row: better on texts and on standardised columns; long rows rarely mean it."""
    return min(0.1 * length**2, 0.3 * length)


SLOWLY = Rule(becoming_sure, becoming_sure, before=1.0)


@group
class Covariance:
    """A variance per weight (O(nonzeros) a round), or a full covariance (O(d^2))."""

    covariance: str = one_of("diag", "full", default="diag", lasting=True)


@learner
class AROW(Classifier, Linear, Averaged, Labelled, Covariance):
    """Adaptive regularisation of weights: each weight has a variance, sure weights move little.

    With v = x' Sigma x and margin m < 1: beta = 1 / (v + r), mu += (1 - m) beta y Sigma x,
    Sigma -= beta Sigma x x' Sigma. Several classes: the true one against its best rival, a Sigma each.

    Parameters
    ----------
    r : how slowly it becomes sure: a number, or "auto" (`r_`): min(0.1 |x|^2, 0.3 |x|) of the median row in
        `fit`, of the first row in streams. A sample weight h acts as r / h.
    covariance : "diag" (O(nonzeros) a round) or "full" (O(d^2)).

    Reference: Crammer, Kulesza & Dredze 2009.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> AROW(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    r: float | str = above_zero(default="auto", auto=True)

    _rules = {"intercept_scaling": CLASSES, "r": SLOWLY}  # noqa: RUF012 (never changed)

    def row(self, problem: str) -> str:
        """arow_diag.binary, ..."""
        return f"arow_{self.covariance}.{problem}"

    def numbers(self) -> Numbers:
        """PA-II with C = 1 / (2r)."""
        return {"C": 0.5 / chosen(self, "r")}

    @property
    def r_(self) -> float:
        """r as it is used (1 until a row has fixed it)."""
        self._fitted()
        return chosen(self, "r")


@learner
class SoftConfidenceWeighted(Classifier, Linear, Averaged, Labelled, Covariance):
    """Confidence-weighted learning with a soft margin: CW, SCW-I and SCW-II.

    A step is made where phi sqrt(v) > m, phi being the normal quantile of `confidence`; it is the
    smallest change of the Gaussian N(mu, Sigma) that puts the example right with that probability.

    Parameters
    ----------
    confidence : the probability asked for, above 1/2.
    C : the longest step (scw1) or the price of squared slack (scw2); cw has none.
    form : "scw1", "scw2" or "cw".
    covariance : "diag" or "full".

    `sample_weight` and `class_weight` multiply C (no effect on form="cw").

    References: Dredze, Crammer & Pereira 2008; Wang, Zhao & Hoi 2012.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SoftConfidenceWeighted(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    confidence: float = above_zero(
        default=0.9,
        also=lambda value: 0.5 < value < 1,
        wanted="a probability above 0.5 and below 1",
    )
    C: float = above_zero(default=1.0, inf=True)
    form: str = one_of("scw1", "scw2", "cw", default="scw1")

    variants = ({"form": "scw1"}, {"form": "scw2"}, {"form": "cw"})

    def row(self, problem: str) -> str:
        """scw1_diag.binary, ..."""
        return f"{self.form}_{self.covariance}.{problem}"

    def numbers(self) -> Numbers:
        """C, and the confidence as a normal quantile."""
        return {"C": self.C, "phi": float(special.ndtri(self.confidence))}


@learner
class SecondOrderPerceptron(Classifier, Linear, Averaged, Labelled, Covariance):
    """The Perceptron in coordinates whitened by its own mistakes.

    P = (aI + sum of x x' over mistakes)^-1, theta = sum of y x over mistakes; the score counts the
    row at hand as if it had been seen, <P theta, x> / (1 + x'Px). `coef_` is P theta, so
    `decision_function` has its sign but is smaller by that factor. Several classes: one against all.

    Parameters
    ----------
    a : the ridge it starts from.
    covariance : "diag" (only the diagonal of P is kept) or "full".

    Reference: Cesa-Bianchi, Conconi & Gentile 2005.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SecondOrderPerceptron(covariance="full", random_state=0).fit(X, y).score(X, y) > 0.8
    True
    """

    a: float = above_zero(default=1.0, lasting=True)

    @property
    def _set_rule(self) -> str:
        return "zero"

    def row(self, problem: str) -> str:
        """sop_diag.binary, ..."""
        return f"sop_{self.covariance}.{problem}"

    def numbers(self) -> Numbers:
        """A margin of 0 is asked for."""
        return {"margin": 0.0}

    @property
    def _ridge(self) -> float:
        return float(self.a)
