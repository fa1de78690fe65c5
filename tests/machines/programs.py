"""Programs drawn at random: lines that learn, ask, copy and spoil, as text that runs as it stands.

`m` is the model. A line may be refused or not: the player (`playing.py`) knows what must hold in either case.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from .catalogue import Learner, draw_learner

COLUMNS = 4
WORDS = [f"'w{column}'" for column in range(COLUMNS)]
SPOILED = ["nan", "inf", "-inf", "1e200", "2e154", "1e308"]
NO_TARGETS = ["nan", "None", "'unheard of'", "[1]", "0.5", "1e300", "inf"]
NO_WEIGHTS = ["-1.0", "nan", "inf", "1e308"]
NO_VALUES = [*SPOILED, "'red'", "None", "1j", "[1.0]", "10**400"]
BROKEN = ["'starts'", "'ends'", "'places'", "'far'", "'short'"]


NEVER = "'never'"


def listed(texts: list[str]) -> str:
    """As a list."""
    return f"[{', '.join(texts)}]"


class Block(NamedTuple):
    """Rows as they are handed over."""

    rows: list[list[str]]
    targets: list[str]
    weights: list[str] | None
    names: list[str] | None  # of a frame's columns
    sparse: bool
    more: str = ""  # what else is given

    def table(self, sparse: bool | None = None) -> str:
        """The rows as text."""
        rows = listed([listed(row) for row in self.rows])
        if self.names is not None:
            return f"pd.DataFrame({rows}, columns={listed(self.names)})"
        return (
            f"sp.csr_matrix({rows})" if (self.sparse if sparse is None else sparse) else f"np.array({rows})"
        )

    def call(self, name: str, learner: Learner, sparse: bool | None = None) -> str:
        """A call of this method on the block."""
        given = [self.table(sparse)]
        if learner.takes != "points":
            given.append(listed(self.targets))
        elif name == "watch":
            given.append("None")
        if self.weights is not None:
            word = "w" if name == "learn_many" else "sample_weight"
            given.append(f"{word}={listed(self.weights)}")
        if self.more and name not in ("fit", "learn_many"):
            given.append(self.more)
        return (
            f"om.progressive(m, {', '.join(given)})" if name == "watch" else f"m.{name}({', '.join(given)})"
        )

    def as_dicts(self, learner: Learner) -> list[str]:
        """A call of `learn_one` for each row."""
        calls = []
        for place, (row, target) in enumerate(zip(self.rows, self.targets, strict=True)):
            x = f"{{{', '.join(f'{number}: {value}' for number, value in enumerate(row))}}}"
            weight = "" if self.weights is None else f", w={self.weights[place]}"
            calls.append(f"m.learn_one({x}{'' if learner.takes == 'points' else f', {target}'}{weight})")
        return calls

    def cut(self, place: int) -> tuple[Block, Block]:
        """Two blocks."""
        weights = self.weights or []
        first = self._replace(
            rows=self.rows[:place], targets=self.targets[:place], weights=weights[:place] or None
        )
        return first, self._replace(
            rows=self.rows[place:], targets=self.targets[place:], weights=weights[place:] or None
        )


class Line(NamedTuple):
    """`does`: learn, ask, copy or set. `block`, `cut`: the rows of a `partial_fit`, and where to cut them."""

    does: str
    text: str
    block: Block | None = None
    cut: int = 0


class Program(NamedTuple):
    """A learner, and what it goes through."""

    learner: Learner
    lines: list[Line]

    def text(self) -> str:
        """As a program."""
        return "\n".join([HEAD, f"m = {self.learner.text}", *(line.text for line in self.lines)])


HEAD = """import copy, pickle
import numpy as np, pandas as pd, scipy.sparse as sp, onmargin as om
from tests.machines.playing import broken, reloaded, waiting
nan, inf = np.nan, np.inf"""

COPIES = [
    "copy.deepcopy(m)", "pickle.loads(pickle.dumps(m))", "m.clone(include_attributes=True)", "copy.copy(m)",
    "reloaded(m)",
]  # fmt: skip
NUMBERS = [
    "C",
    "rate",
    "margin",
    "r",
    "lam",
    "delta",
    "gamma",
    "tol",
    "max_iter",
    "epsilon",
    "horizon",
    "budget",
    "average",
]
VALUES = ["0.5", "2.0", "-1.0", "nan", "None", "'x'", "0", "7", "True"]


class Writer:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.learner = draw_learner(self.draw)
        self.by_name = self.learner.takes not in ("groups", "candidates") and self.draw.random() < 0.3
        self.scale = self.draw.choice([1.0, 1.0, 1.0, 1.0, 1e-3, 1e3, 1e5])

    def program(self, length: int) -> Program:
        """So many lines."""
        writers = [
            (self.learning, 8), (self.spoiled, 5), (self.asking, 4), (self.copying, 2), (self.setting, 1),
        ]  # fmt: skip
        choices, weights = zip(*writers, strict=True)
        lines = [self.learning()]
        lines += [self.draw.choices(choices, weights)[0]() for _ in range(length)]
        return Program(self.learner, lines)

    # ---- parts

    def value(self) -> str:
        return repr(round(self.draw.gauss(0, 1) * self.scale, 3)) if self.draw.random() < 0.8 else "0.0"

    def target(self) -> str:
        takes = self.learner.takes
        if takes == "numbers":
            return repr(round(self.draw.gauss(0, 2), 2))
        if takes == "groups":
            return str(self.draw.randrange(3))
        if takes == "asked" and self.draw.random() < 0.2:
            return "None"
        return self.draw.choice(self.learner.labels)

    def block(self) -> Block:
        draw, takes = self.draw, self.learner.takes
        count = draw.choice([1, 2, 3, 5, 8])
        rows = [[self.value() for _ in range(COLUMNS)] for _ in range(count)]
        if draw.random() < 0.1:
            rows[0] = ["0.0"] * COLUMNS
        targets = [self.target() for _ in range(count)]
        weights, more = None, ""
        if takes in ("groups", "candidates"):
            sizes = [0] * (count // 2) + [1] * (count - count // 2)
            more = f"qid={sizes}"
            if takes == "candidates":
                chosen = {sizes.index(group) for group in set(sizes)}
                targets = [str(place in chosen) for place in range(count)]
        elif draw.random() < 0.3:
            weights = [draw.choice(["0.0", "0.5", "1.0", "2.0"]) for _ in range(count)]
        if takes in ("labels", "asked", "played") and not self.learner.announced:
            if "growing=True" not in self.learner.text or draw.random() < 0.2:
                more = f"classes={listed(self.learner.labels)}"
        names = WORDS if self.by_name else None
        if names is not None and draw.random() < 0.2:
            names = [*WORDS[1:], draw.choice(["'new'", "'w9'"])]
        return Block(rows, targets, weights, names, draw.random() < 0.4, more)

    def example(self) -> str:
        names = WORDS if self.by_name else [str(column) for column in range(COLUMNS)]
        chosen = [name for name in names if self.draw.random() < 0.7]
        if self.draw.random() < 0.15:
            chosen.append(self.draw.choice(["'new'", "'other'", "9", "'w7'"]))
        return f"{{{', '.join(f'{name}: {self.value()}' for name in chosen)}}}"

    @property
    def has_dicts(self) -> bool:
        return self.learner.takes not in ("groups", "candidates")

    # ---- lines

    def learning(self) -> Line:
        draw, learner = self.draw, self.learner
        names = ["partial_fit"] * 6 + [
            "fit",
            "learn_one",
            "learn_one",
            "learn_one",
            "watch",
            "learn_many",
            "each",
        ]
        if learner.takes == "played":
            names += ["act_one", "act_one", "reward"]
        if learner.takes == "asked":
            names += ["query", "query_one"]
        if learner.takes == "asked":
            names.remove("learn_many")
        return self.of(draw.choice(names if self.has_dicts else ["partial_fit", "partial_fit", "fit"]))

    def of(self, name: str) -> Line:
        draw, learner = self.draw, self.learner
        if name in ("learn_one", "act_one", "query_one"):
            weight = draw.choice(["", "", ", w=0.5", ", w=0.0", ", w=2.0"])
            if name != "learn_one":
                return Line("learn", f"m.{name}({self.example()})")
            target = "" if learner.takes == "points" else f", {self.target()}"
            return Line("learn", f"m.learn_one({self.example()}{target}{weight})")
        if name == "reward":
            return Line("learn", f"m.reward_one(waiting(m), {draw.choice(['0.0', '1.0', 'True', '2.0'])})")
        if name == "each":
            pairs = [f"({self.example()}, {self.target()})" for _ in range(draw.choice([1, 2, 4]))]
            return Line("learn", f"om.progressive(m, [{', '.join(pairs)}])")
        if name == "query":
            return Line("learn", f"m.query({self.block().table()})")
        block = self.block()
        if name == "learn_many" and block.names is None:
            block = block._replace(names=[str(column) for column in range(COLUMNS)])
        text = block.call(name, learner)
        if name != "partial_fit":
            return Line("learn", text)
        return Line("learn", text, block, draw.randrange(1, len(block.rows)) if len(block.rows) > 1 else 0)

    def spoiled(self) -> Line:
        """A line with one thing spoiled."""
        draw, learner = self.draw, self.learner
        if self.has_dicts and draw.random() < 0.4:
            x, y, weight = self.example(), self.target(), ""
            what = draw.choice(["x", "y", "w", "kind", "new and bad"])
            if what == "x":
                x = f"{{**{x}, {draw.choice(['0', WORDS[1], NEVER])}: {draw.choice(NO_VALUES)}}}"
            elif what == "y":
                x, y = f"{{**{x}, 'never': 1.0}}", draw.choice(NO_TARGETS)
            elif what == "w":
                x, weight = f"{{**{x}, 'never': 1.0}}", f", w={draw.choice(NO_WEIGHTS)}"
            elif what == "kind":
                x = draw.choice(["[1.0, 2.0]", "'text'", "None", "3.0"])
            else:
                x = f"{{**{x}, 'n1': 1.0, 'n2': {draw.choice(SPOILED)}, 'n3': 1.0}}"
            if learner.takes == "played" and draw.random() < 0.5:
                return Line("learn", f"m.act_one({x})")
            target = "" if learner.takes == "points" else f", {y}"
            if draw.random() < 0.2:
                pairs = f"({self.example()}, {self.target()}), ({x}, {y})"
                return Line("learn", f"om.progressive(m, [{pairs}])")
            return Line("learn", f"m.learn_one({x}{target}{weight})")
        name = draw.choice(
            ["partial_fit", "partial_fit", "fit", "watch"] if self.has_dicts else ["partial_fit", "fit"]
        )
        block, at = self.block(), draw.randrange(8)
        at %= len(block.rows)
        what = draw.choice(["x", "x", "y", "w", "shape", "classes", "broken"])
        if what == "x":
            block.rows[at][draw.randrange(COLUMNS)] = draw.choice(SPOILED)
        elif what == "y":
            block.targets[at] = draw.choice(NO_TARGETS)
        elif what == "w":
            weights = block.weights or ["1.0"] * len(block.rows)
            block = block._replace(weights=[*weights[:at], draw.choice(NO_WEIGHTS), *weights[at + 1 :]])
            if draw.random() < 0.3:
                block = block._replace(weights=["1.0"] * (len(block.rows) + 1))
        elif what == "classes":
            block = block._replace(
                more=draw.choice(["classes=[]", "classes=['q']", "classes=[0, 1, 2, 3]", "classes=3"])
            )
        text = block.call(name, learner)
        if what == "shape":
            table = draw.choice(
                [
                    "np.ones(3)",
                    "np.ones((2, 0))",
                    "np.ones((3, 2, 2))",
                    "None",
                    "np.ones((3, 7))",
                    "[[1, 2], [3]]",
                ]
            )
            text = text.replace(block.table(), table, 1)
        elif what == "broken":
            sparse = block._replace(names=None, sparse=True)
            text = sparse.call(name, learner).replace(
                sparse.table(), f"broken({sparse.table()}, {draw.choice(BROKEN)})", 1
            )
        return Line("learn", text)

    def asking(self) -> Line:
        draw = self.draw
        block = self.block()
        table = block.table() if draw.random() < 0.9 else "np.array([[nan, 1.0, 2.0, inf]])"
        qid = f", {block.more}" if block.more.startswith("qid") and self.learner.takes == "candidates" else ""
        asked = [
            "coef_",
            "intercept_",
            "t_",
            "classes_",
            "n_features_in_",
            "support_vectors_",
            "feature_names_in_",
        ]
        lines = [
            f"m.predict({table}{qid})",
            f"m.decision_function({table})",
            f"m.{draw.choice(asked)}",
            "m.top_features(2)",
        ]
        if self.has_dicts:
            lines += [f"m.predict_one({self.example()})"] * 3 + [f"m.explain({self.example()})"]
            lines += [
                f"m.predict_one({{'never': {draw.choice(NO_VALUES)}}})",
                "m.predict_one({'never met': 1.0})",
            ]
            if self.by_name:
                lines.append(f"m.predict_many({table})")
        return Line("ask", draw.choice(lines))

    def copying(self) -> Line:
        return Line("copy", f"m = {self.draw.choice(COPIES)}")

    def setting(self) -> Line:
        return Line("set", f"m.set_params({self.draw.choice(NUMBERS)}={self.draw.choice(VALUES)})")


def draw_program(seed: int, length: int = 8) -> Program:
    """The program of a seed."""
    return Writer(seed).program(length)
