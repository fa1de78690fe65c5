"""Plays programs and says which promise was broken; as a program: `python -m tests.machines.playing`.

Beside the model `m` there are twins. `bare` learns what `m` has learned and nothing else happens to it: no
refusals, no questions, no copies. `pieces` has every block cut in two; `other` has dense rows for sparse ones
and the other way round; `dicts` learns one row after the other.
"""

from __future__ import annotations

import argparse
import copy
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

import onmargin as om

from .contents import content, differences, not_finite
from .programs import Line, Program, draw_program

OURS = (ValueError, TypeError)


class Broken(Exception):
    """A promise that was not kept."""


class Failure(NamedTuple):
    """What went wrong, and the shortest program found that shows it."""

    seed: int
    why: str
    program: Program

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.why}\n{self.program.text()}\n"


def reloaded(m: Any) -> Any:
    """Through a file."""
    with tempfile.TemporaryDirectory() as folder:
        om.save(m, f"{folder}/m.onm")
        return om.load(f"{folder}/m.onm")


def waiting(m: Any) -> int:
    """An action that waits for its reward."""
    return next(iter(getattr(m, "pending_", None) or {}), 0)


def broken(X: Any, how: str) -> Any:
    """A matrix that is none."""
    if how == "starts":
        X.indptr[0] = -(10**6)
    elif how == "ends":
        X.indptr[-1] += 10**6
    elif how == "short":
        X.data = X.data[: len(X.data) // 2]
    elif X.nnz:
        X.indices[-1] = -5 if how == "places" else 10**6
    return X


def space(m: Any) -> dict[str, Any]:
    """What a line sees."""
    return {
        "m": m, "np": np, "pd": pd, "sp": sp, "om": om, "nan": np.nan, "inf": np.inf, "copy": copy,
        "pickle": pickle, "reloaded": reloaded, "waiting": waiting, "broken": broken,
    }  # fmt: skip


class Player:
    """A model and its twins."""

    def __init__(self, program: Program) -> None:
        self.learner = program.learner
        self.m, self.bare, self.pieces, self.other = (
            eval(program.learner.text, space(None)) for _ in range(4)
        )
        self.last = content(self.m)
        self.exact = program.learner.kind.exact
        self.cut = self.exact and program.learner.takes in ("labels", "numbers", "points", "played")
        self.turns = self.cut and "float32" not in program.learner.text
        self.dicts = eval(program.learner.text, space(None)) if self.turns else None

    def play(self, line: Line) -> None:
        """One line, and what must hold after it."""
        before = self.last
        try:
            answer = self.run(self.m, line.text)
        except Exception as error:
            self.refused(line, error, before)
            return
        if line.does == "copy":
            self.m = answer
        self.last = content(self.m)
        if line.does in ("ask", "copy"):
            self.same("it changed the model", before, self.last)
            if line.does == "ask":
                twin = self.run(copy.deepcopy(self.bare), line.text)
                if shown(twin) != shown(answer):
                    raise Broken(f"the twin answers {shown(twin)!r} and not {shown(answer)!r}")
            return
        self.follow(line)

    @staticmethod
    def run(m: Any, text: str) -> Any:
        if text.startswith("m = "):
            text = text.removeprefix("m = ")
        return eval(text, space(m))

    def refused(self, line: Line, error: Exception, before: Any) -> None:
        """Nothing has happened, and the line is one of ours."""
        if not isinstance(error, OURS) and not (line.does == "ask" and isinstance(error, AttributeError)):
            raise Broken(f"{type(error).__name__}: {error}") from error
        self.same(f"refused ({str(error)[:80]}), and changed", before, content(self.m))
        if line.does == "copy" and "refused" not in before:
            raise Broken(f"no copy: {error}")

    def follow(self, line: Line) -> None:
        """The twins learn it, too."""
        self.run(self.bare, line.text)
        now = self.last
        self.same("what happened in between shows", content(self.bare), now)
        if bad := not_finite(now):
            raise Broken(f"not finite: {bad}")
        if self.cut:
            parts = [line.text]
            if line.block is not None and line.cut:
                parts = [part.call("partial_fit", self.learner) for part in line.block.cut(line.cut)]
            for part in parts:
                self.run(self.pieces, part)
            self.same("cut in two it is another", now, content(self.pieces))
        if self.turns:
            text, block = line.text, line.block
            if block is not None and block.names is None:
                text = block.call("partial_fit", self.learner, not block.sparse)
            self.run(self.other, text)
            self.near("dense and sparse", self.m, self.other)
        self.follow_by_dicts(line)

    def follow_by_dicts(self, line: Line) -> None:
        """A block row by row, as long as there are only blocks and dicts."""
        if self.dicts is None:
            return
        block = line.block
        announces = block is not None and "classes" in block.more  # (what `learn_one` cannot be told)
        if block is not None and block.names is None and not announces:
            for text in block.as_dicts(self.learner):
                self.run(self.dicts, text)
        elif line.text.startswith(("m.learn_one", "om.progressive(m, [(", "m.set_params")):
            self.run(self.dicts, line.text)
        else:
            self.dicts = None
            return
        if self.dicts.__sklearn_is_fitted__():
            self.near("tables and dicts", self.m, self.dicts)
        else:  # rows of weight 0 begin no model: its columns would have another order
            self.dicts = None

    @staticmethod
    def same(why: str, first: Any, second: Any) -> None:
        if found := differences(first, second):
            raise Broken(f"{why}: {'; '.join(found)}")

    @staticmethod
    def near(what: str, first: Any, second: Any) -> None:
        """They agree to nine digits."""
        for name in ("coef_", "intercept_"):
            mine, others = (getattr(each, name, None) for each in (first, second))
            if mine is not None and not np.allclose(
                mine, others, rtol=1e-9, atol=1e-9 * np.abs(mine).max(initial=1e-300)
            ):
                raise Broken(f"{what} differ: {name} {mine} {others}")


def shown(answer: Any) -> str:
    """Numbers to their last bit."""
    if isinstance(answer, pd.DataFrame | pd.Series):
        answer = answer.to_numpy()
    if isinstance(answer, np.ndarray):
        answer = answer.tolist()
    return repr(answer)


def verdict(program: Program) -> str | None:
    """None, or the promise that was broken."""
    line = None
    try:
        player = Player(program)
        for line in program.lines:
            player.play(line)
    except Broken as found:
        return f"{line and line.text[:60]} ... {found}"
    except Exception as error:  # of a twin
        return f"{line and line.text[:60]} ... a twin refuses: {type(error).__name__}: {error}"
    return None


def shortened(program: Program) -> Program:
    """Without the lines that it fails without, too."""
    at = len(program.lines) - 1
    while at >= 0:
        fewer = program._replace(lines=program.lines[:at] + program.lines[at + 1 :])
        if verdict(fewer) is not None:
            program = fewer
        at = min(at, len(program.lines)) - 1
    return program


def failures(seeds: range) -> Iterator[Failure]:
    """Play the programs of all seeds."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in seeds:
            program = draw_program(seed)
            if verdict(program) is not None:
                short = shortened(program)
                yield Failure(seed, verdict(short) or "", short)


def main(arguments: list[str]) -> int:
    """Print all failures; how many there are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=int(os.environ.get("ONMARGIN_SEED", "0")))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--most", type=int, default=20, help="failures to be shown")
    given = parser.parse_args(arguments)
    number = 0
    for failure in failures(range(given.first, given.first + given.count)):
        print(failure, flush=True)
        number += 1
        if number == given.most:
            break
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
