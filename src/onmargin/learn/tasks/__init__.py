"""What do we answer, and what does a round demand? One kind of target per file.

decide(scores, now, hyper) -> guess
demand(scores, target, guess, hyper, pull) -> (margin, required); writes all of `pull`
wrong(scores, target, guess, hyper) -> was the emitted answer wrong?

One output: target and guess are +1 or -1. Several: class numbers. Label sets: the target is a row
of 0 and 1, the guess is the bar above which a label is in the set.
"""

from __future__ import annotations

from typing import NamedTuple

from ...compiled.parts import Part


class Task(NamedTuple):
    """The three parts a Task gives to the loop."""

    decide: Part
    demand: Part
    wrong: Part
