"""Raw texts to a learned model: our Text beside scikit-learn's HashingVectorizer, one thread, Enron-spam."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

import onmargin as om
from onmargin.sources import real

from .contest import SKLEARN, Contestant, Work, line
from .datasets import folder
from .passes import ours, theirs

BITS = 18
FORMS: dict[str, dict[str, Any]] = {
    "words": {},
    "pairs of words": {"ngram_range": (1, 2)},
    "characters": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}
HOLD = 5.0


def hashed(quick: bool) -> Work:
    """Texts to rows to one pass of PA-I; both hash into 2^18 columns, and both make the same rows."""
    if not (folder() / "enron_spam").is_dir():
        return Work("text", "", {}, [], skipped="Enron-spam is not in the folder that ONMARGIN_DATA names")
    texts, y = _mails(2_000 if quick else 10_000)
    contestants: dict[str, Contestant] = {}
    lines = []
    for name, form in FORMS.items():
        some = texts if name == "words" else texts[: len(texts) // 5]
        peer = HashingVectorizer(n_features=2**BITS, alternate_sign=False, **form)
        contestants[name] = _learned(om.features.Text(bits=BITS, **form), ours, some, y)
        contestants[f"{name}, HashingVectorizer"] = _learned(peer, theirs, some, y)
        title = "texts to PA-I, words" if name == "words" else f"  {name}"
        lines.append(line(SKLEARN, title, name, f"{name}, HashingVectorizer", HOLD))
    contestants["names"] = _learned(om.features.Text(bits=BITS, names=True), ours, texts, y)
    lines.append(line(SKLEARN, "  words, names kept", "names", "words, HashingVectorizer"))
    letters = sum(map(len, texts))
    return Work(
        "text", f"Enron-spam, {len(texts):,} mails, {letters / 1e6:.1f} MB", contestants, lines, repetitions=5
    )


def _learned(step: Any, make: Callable[[], Any], texts: list[str], y: np.ndarray) -> Contestant:
    """Rows are made and learned from; judged on mails of the same stream."""
    judged = slice(-500, None)
    labels = y[: len(texts)]
    return Contestant(
        lambda model: model.partial_fit(step.fit_transform(texts), labels, classes=[0, 1]),
        lambda model: float(model.score(step.transform(texts[judged]), labels[judged])),
        make,
    )


def _mails(count: int) -> tuple[list[str], np.ndarray]:
    """Mails in an order that was drawn."""
    with real.opened("enron_spam/enron_spam.jsonl.xz") as file:
        mails = [json.loads(each) for each in file]
    drawn = np.random.default_rng(0).permutation(len(mails))[:count]
    return [mails[at]["text"] or "" for at in drawn], np.array(
        [mails[at]["label"] == "spam" for at in drawn], int
    )
