"""The table of array places: each group counts from 0, each name exists once in the package."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np

from onmargin.learn import vocabulary
from onmargin.learn.kernel_spaces.expansion import fresh_ledger
from onmargin.learn.spaces.coin import COIN
from onmargin.learn.spaces.fading import SHIFTING
from onmargin.learn.spaces.norms import PNORM
from onmargin.learn.spaces.pegasos import SHRUNK

SOURCE = Path(vocabulary.__file__)
PACKAGE = SOURCE.parents[1]


def places():
    """(name, place) of every line `NAME = number`, in order."""
    for line in ast.parse(SOURCE.read_text()).body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            (target,), value = line.targets, line.value.value
            if isinstance(target, ast.Name) and isinstance(value, int):
                yield target.id, value


def groups():
    """The places of each array: a group begins at 0."""
    found = []
    for name, place in places():
        if place == 0:
            found.append([])
        found[-1].append((name, place))
    return found


def bound_names(tree):
    """Names that a module assigns, wherever in it, or imports under another name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def test_every_group_counts_from_0_without_gaps():
    for group in groups():
        assert [place for _, place in group] == list(range(len(group)))
    assert len(groups()) == 12


def test_every_place_has_a_meaning():
    lines = {line.split(" = ")[0]: line for line in SOURCE.read_text().splitlines() if " = " in line}
    assert all("  # " in lines[name] for name, _ in places())


def test_a_name_exists_once_in_the_package():
    names = [name for name, _ in places()]
    assert len(names) == len(set(names))
    for path in PACKAGE.rglob("*.py"):
        taken = set(bound_names(ast.parse(path.read_text()))) & set(names)
        assert path == SOURCE or not taken, f"{path} gives {sorted(taken)} another meaning"


def test_no_other_module_numbers_the_places_of_an_array():
    """`A, B, C = range(3)` elsewhere are codes, not places: nothing is indexed by them."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        codes = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                called = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "range"
                codes |= {element.id for element in node.targets[0].elts} if called else set()
        used = {ast.unparse(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
        assert not codes & used, path


def test_arrays_are_as_long_as_their_groups():
    """`hyper.numbers` has a place for each choice, in the order of `MORE`; ledgers have theirs."""
    numbers, _, pegasos, coin, fading, norms, *_ = groups()
    chosen = [name for name, place in numbers if vocabulary.REMEMBERED <= place < vocabulary.USER_NUMBERS]
    other = {"free": "free_bias", "scale": "link_scale", "grain": "rounding"}
    assert [name.lower() for name in chosen] == [other.get(name, name) for name in vocabulary.MORE]
    hyper = vocabulary.hyper_of({"own": [7.0]}, 1, np.zeros(vocabulary.REMEMBERED))
    assert hyper.numbers[vocabulary.USER_NUMBERS :].tolist() == [7.0]
    for space, group in ((SHRUNK, pegasos), (COIN, coin), (SHIFTING, fading), (PNORM, norms)):
        assert len(space.fields["ledger"].begins) == len(group)
    assert len(fresh_ledger()) == vocabulary.LEDGER_LENGTH
