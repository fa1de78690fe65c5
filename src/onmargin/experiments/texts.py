"""Texts in one pass (S2): 20 Newsgroups, twenty classes, and Enron-spam, six mailboxes in turn.

The talk's spam filter learns while it answers, and its mail changes: every owner's mailbox is a new
beginning. MQ2008 and Reuters-21578, the other real sets of texts, are in `letor` and `topics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from ..estimators.passive_aggressive import PassiveAggressiveClassifier
from ..estimators.pegasos import Pegasos
from ..estimators.perceptron import Perceptron
from ..estimators.second_order import AROW
from ..interface.classifier import Classifier
from ..protocols.progressive import progressive
from ..sources.real import Split
from .mailboxes import OWNERS, mailboxes
from .outcome import Claim, Curve, Outcome, summed_up
from .panels import Panel, bars
from .sets import split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANSWERS = (
    "S2, spam filtering while training; S0 and S3: text as sparse rows (no figure with numbers in the seeds)"
)
PROTOCOL = (
    "20 Newsgroups by date: tf-idf rows of length 1, one pass in an order drawn by the seed; the error "
    "online, and on the test set of the last weights and of their average. LinearSVC (C = 1), which sees the"
    " data often, is the reference. Enron-spam: the six mailboxes one after the other as the mails came, one"
    " pass: the error of each mailbox."
)
DATA = ("news20", "enron_spam")
STAND_IN = ""
SEEDS, QUICK, SECONDS = 3, 1, 25
LEARNERS: dict[str, Callable[[], Classifier]] = {
    "Perceptron": lambda: Perceptron(),
    "PA-I": lambda: PassiveAggressiveClassifier(C=1.0),
    "PA-II": lambda: PassiveAggressiveClassifier(C=1.0, step="pa2"),
    "AROW": lambda: AROW(r=1.0),
}
NEWS, MAIL = "20 Newsgroups", "Enron-spam"


def made(name: str, average: bool) -> Classifier:
    """A learner by its name."""
    model: Classifier = LEARNERS[name]().set_params(average=average, intercept_scaling=1.0)
    return model


def weighed() -> Split:
    """Counts as tf-idf."""
    data = split("news20")
    transform = TfidfTransformer(sublinear_tf=True).fit(data.X)
    return data._replace(X=transform.transform(data.X), X_test=transform.transform(data.X_test))


def news(seed: int, name: str, data: Split) -> dict[str, float]:
    """One pass over the groups."""
    order = np.random.default_rng([21, seed]).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    run = progressive(made(name, False), X, y, classes=range(20))
    mean = made(name, True).set_params(max_iter=1, tol=None, shuffle=False).fit(X, y)
    last, average = (float(np.mean(model.predict(data.X_test) != data.y_test)) for model in (run.model, mean))
    return {"online": run.error_rate, "test, last": last, "test, average": average}


def references(data: Split, seed: int) -> dict[str, dict[str, float]]:
    """Those that see the rows often."""
    order = np.random.default_rng([21, seed]).permutation(len(data.y))
    found = {}
    for name, model in (
        ("LinearSVC", LinearSVC(C=1.0, random_state=seed)),
        ("Pegasos, 10 passes", Pegasos(lam=1e-4, max_iter=10, tol=None, random_state=seed)),
    ):
        answers = model.fit(data.X[order], data.y[order]).predict(data.X_test)
        found[name] = {"test, average": float(np.mean(answers != data.y_test))}
    return found


def mail(name: str, quick: bool) -> dict[str, float]:
    """One pass over the mailboxes: the error of each, of its first 200 mails, and of all."""
    boxes = mailboxes(OWNERS[:2] if quick else OWNERS)
    run = progressive(
        made(name, False),
        sp.vstack([box.X for box in boxes]).tocsr(),
        np.concatenate([box.y for box in boxes]),
    )
    wrong = np.asarray(run.predictions) != np.asarray(run.y)
    ends = np.cumsum([len(box.y) for box in boxes])
    parts = {box.owner: wrong[end - len(box.y) : end] for box, end in zip(boxes, ends, strict=True)}
    later = list(parts.values())[1:]  # (the first begins with nothing)
    return {
        "online": run.error_rate, **{owner: float(part.mean()) for owner, part in parts.items()},
        "new mailbox": float(np.mean([part[:200].mean() for part in later])),
        "known mailbox": float(np.mean([part[-1000:].mean() for part in later])),
    }  # fmt: skip


def run(seeds: Iterable[int] = range(SEEDS), quick: bool = False) -> Outcome:
    """Both sets; `quick`: the mails of two owners."""
    seeds, rows, data = list(seeds), [], weighed()
    for name in LEARNERS:
        runs = [news(seed, name, data) for seed in seeds]
        rows.append(summed_up({"set": NEWS, "learner": name}, runs))
    batch = [references(data, seed) for seed in seeds]
    for name in batch[0]:
        rows.append(summed_up({"set": NEWS, "learner": name}, [found[name] for found in batch]))
    for name in LEARNERS:
        rows.append({"set": MAIL, "learner": name, **mail(name, quick)})
    outcome = Outcome("Texts in one pass: 20 Newsgroups and Enron-spam", rows, [])
    return outcome._replace(claims=claims(outcome), curves=curves(outcome))


def curves(table: Outcome) -> dict[str, Curve]:
    """Bars: errors of each learner on the groups; of each mailbox."""
    places = [float(at) for at in range(len(LEARNERS))]
    found = {
        f"{NEWS}: {kind}": (places, [table.value(kind, set=NEWS, learner=name) for name in LEARNERS])
        for kind in ("online", "test, last", "test, average")
    }
    level = table.value("test, average", set=NEWS, learner="LinearSVC")
    found[f"{NEWS}: LinearSVC, test"] = (places, [level] * len(places))
    owners = [owner for owner in OWNERS if owner in table.rows[-1]]
    for name in LEARNERS:
        heights = [table.value(owner, set=MAIL, learner=name) for owner in owners]
        found[f"{MAIL}: {name}"] = ([float(at) for at in range(len(owners))], heights)
    return found


def claims(table: Outcome) -> list[Claim]:
    """What a margin and an average are worth, and what a new mailbox costs."""
    found = []
    for name in ("Perceptron", "PA-I", "PA-II"):
        last, mean = (table.value(kind, set=NEWS, learner=name) for kind in ("test, last", "test, average"))
        found.append(Claim(f"{NEWS}, {name}: test error {mean:.3f} averaged, {last:.3f} last", mean < last))
    for where in (NEWS, MAIL):
        plain, passive = (table.value("online", set=where, learner=name) for name in ("Perceptron", "PA-I"))
        found.append(
            Claim(f"{where}: PA-I errs {passive:.3f} online, the Perceptron {plain:.3f}", passive < plain)
        )
    once, often = (
        table.value("test, last", set=NEWS, learner="AROW"),
        table.value("test, average", set=NEWS, learner="LinearSVC"),
    )
    found.append(
        Claim(
            f"{NEWS}: one pass of AROW errs {once:.3f}, LinearSVC {often:.3f}: within .02",
            once < often + 0.02,
        )
    )
    for name in LEARNERS:
        new, known = (table.value(kind, set=MAIL, learner=name) for kind in ("new mailbox", "known mailbox"))
        found.append(
            Claim(
                f"{MAIL}, {name}: {new:.3f} on the first 200 mails of a mailbox, {known:.3f} on its last",
                new > known,
            )
        )
    return found


def figure(outcome: Outcome) -> Figure:
    """Errors of each learner, and of each mailbox."""
    owners = [owner for owner in OWNERS if owner in outcome.rows[-1]]
    return bars(outcome, {
        NEWS: Panel(y="error", percent=True, ticks=list(LEARNERS)),
        MAIL: Panel(y="online error", percent=True, ticks=owners),
    })  # fmt: skip
