"""The six mailboxes of Enron-spam as rows of words, each in the order in which its mails came."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from ..sources.real import folder, opened

FILE = "enron_spam/enron_spam.jsonl.xz"
OWNERS = ("farmer", "kaminski", "kitchen", "williams", "beck", "lokay")
WORDS = 2**17  # places for words: two share one rarely


class Mailbox(NamedTuple):
    """Rows of length 1 (which words are there), +1 for spam, -1 for ham."""

    owner: str
    X: sp.csr_matrix
    y: np.ndarray


def mailboxes(owners: Iterable[str] = OWNERS) -> list[Mailbox]:
    """Those of these owners: their ham, with the spam that was put to it."""
    return [_read(folder(), OWNERS.index(owner)) for owner in owners]


@cache
def _read(where: Path, number: int) -> Mailbox:
    texts, labels = _texts(where)[number]
    hashing = HashingVectorizer(n_features=WORDS, binary=True, alternate_sign=False, norm="l2")
    return Mailbox(
        OWNERS[number], hashing.transform(texts).tocsr(), np.where(np.array(labels) == "spam", 1, -1)
    )


@cache
def _texts(where: Path) -> list[tuple[list[str], list[str]]]:
    """Texts and labels of the six, as they lie in `where`."""
    found: list[tuple[list[str], list[str]]] = [([], []) for _ in OWNERS]
    with opened(FILE) as stream:
        for line in stream:
            mail = json.loads(line)
            texts, labels = found[int(mail["set"]) - 1]
            texts.append(mail["text"])
            labels.append(mail["label"])
    return found
