"""Machine code on disk: a second process compiles nothing, edited source never runs old code."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config

import onmargin
from onmargin import warm
from onmargin.compiled.checks import first_not_finite
from onmargin.compiled.parts import OPTIONS, cache_folders, fingerprint, own_sources, part, plain, specialise
from onmargin.learn import queries, rounds
from onmargin.learn.kernel_spaces import many, uses
from onmargin.learn.paired.draws import draw_rounds
from onmargin.learn.spaces import linear, ridge

PACKAGE = Path(onmargin.__file__).parent

# Learns, answers, takes a dict; prints what every specialisation did, and the weights after rows and dict.
LEARN = """
import numpy as np, scipy.sparse as sp
import onmargin as om
from onmargin.compiled import parts
X = np.random.default_rng(0).standard_normal((30, 3))
y = (X[:, 0] > 0).astype(int)
model = om.PassiveAggressiveClassifier(C=0.5).partial_fit(X, y, classes=[0, 1])
weights = [float(model.coef_[0, 0]).hex()]
"""
ANSWER = """
model.predict(sp.csr_matrix(X))
om.progressive(om.PassiveAggressiveClassifier(), sp.csr_matrix(X), y)
model.learn_one({0: 1.0, 1: 2.0}, 0)
model.predict_one({0: 1.0})
weights.append(float(model.coef_[0, 0]).hex())
"""
READY = """
from numba.core.base import BaseContext
readied, refresh = [], BaseContext.refresh
BaseContext.refresh = lambda context: (readied.append(context), refresh(context))[1]
"""
PRINT = """
hits = sum(sum(f.stats.cache_hits.values()) for f in parts._specialised.values())
misses = sum(sum(f.stats.cache_misses.values()) for f in parts._specialised.values())
print(hits, misses, *weights)
"""


def run(home: Path, cache: Path, script: str = LEARN + ANSWER + PRINT) -> tuple[int, int, list[str]]:
    environment = {**os.environ, "PYTHONPATH": str(home), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    hits, misses, *weights = done.stdout.split()
    return int(hits), int(misses), weights


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that a test may edit."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "onmargin", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_second_process_compiles_nothing_and_edited_source_never_runs_old_code(home: Path, tmp_path: Path):
    first_hits, first_misses, weights = run(home, tmp_path)
    assert first_hits == 0 and first_misses > 0 and len(set(weights)) == 2
    hits, misses, again = run(home, tmp_path)
    assert misses == 0 and hits == first_misses
    assert again == weights
    _, misses, (*learned, readied) = run(home, tmp_path, f"{READY}{LEARN}weights.append(len(readied)){PRINT}")
    assert (misses, learned, readied) == (0, weights[:1], "0")  # nor does Numba get ready to compile

    source = home / "onmargin" / "learn" / "steps.py"
    text = source.read_text()
    edited = text.replace(
        "return slope * min(now.weight * hyper.C", "return 0.5 * slope * min(now.weight * hyper.C"
    )
    assert edited != text
    source.write_text(edited)
    _, misses, other = run(home, tmp_path, LEARN + PRINT)  # (one loop tells it: each takes seconds)
    assert misses > 0 and other != weights[:1]

    source.write_text(text)  # edit back: the old code is right again, and still there
    hits, misses, back = run(home, tmp_path)
    assert (misses, back) == (0, weights) and hits == first_misses


@pytest.mark.parametrize("collects", [True, False])
def test_the_import_of_a_name_leaves_the_garbage_collector_as_it_was(collects: bool):
    change, wanted = ("enable", "True") if collects else ("disable", "False")
    script = f"import gc; gc.{change}(); from onmargin import Perceptron; print(gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == wanted


def test_no_reference_counting_is_in_force():
    """`_nrt` is a private flag of Numba: if it went away, allocation would go unnoticed."""
    assert OPTIONS["_nrt"] is False

    def allocates(n):
        return np.zeros(n).sum()

    with pytest.raises(Exception, match="(?i)nrt|alloc|reference"):
        specialise(allocates)(3)


def made(constant):
    """A part with a number in its closure."""

    def step(margin, loss, slope, size, pull, now, hyper):
        return constant * loss / size

    return step


def test_fingerprint_sees_constants_closures_and_helpers():
    assert fingerprint(made(1.0)) == fingerprint(made(1.0))
    assert fingerprint(made(1.0)) != fingerprint(made(2.0))
    spaces: dict[str, object] = {}
    for number in (1, 2):
        exec(f"def helper(): return {number}\ndef use(): return helper()", scope := {"__name__": "script"})
        spaces[str(number)] = scope["use"]
    assert fingerprint(spaces["1"]) != fingerprint(spaces["2"])


def test_specialise_is_memoised_and_names_its_parts():
    roles = {"decide": rounds.decide, "demand": rounds.demand}
    first = specialise(rounds.learn, **roles)
    assert specialise(rounds.learn, **roles) is first
    assert "sign_binary" in first.__name__


def test_a_part_is_still_a_python_function():
    assert part(lambda x: x + 1).py_func(1) == 2


def test_only_compiled_and_learn_hold_what_is_compiled():
    """Editing any other file recompiles nothing; theirs are all in the fingerprint."""
    marks = re.compile(r"^\s*@(part|routine|summing|formula|specialise|njit)\b|^\s*@overload\(", re.M)
    holders = {path for path in PACKAGE.rglob("*.py") if marks.search(path.read_text())}
    own = {path.parent for path in PACKAGE.rglob("kept.py")}  # folders with a fingerprint of their own
    of_learners = {path for path in holders if path.parent not in own}
    assert {path.relative_to(PACKAGE).parts[0] for path in of_learners} == {"compiled", "learn"}


def test_modules_may_share_their_last_name():
    """The counted moves of two Spaces have two names."""
    moves = {ridge.move, uses.move, linear.move, many.move}
    assert len({plain(queries.counting(move)).__name__ for move in moves}) == len(moves)


@pytest.mark.skipif(config.DISABLE_JIT, reason="plain Python has no cache")
def test_stale_machine_code_is_cleared_wherever_it_lies():
    """Of another fingerprint, in the cache folders of compiled/, learn/ and their subfolders."""
    folders = cache_folders()
    assert Path(first_not_finite.stats.cache_path) in folders
    assert Path(specialise(rounds.learn).stats.cache_path) in folders
    assert Path(draw_rounds.stats.cache_path) in folders
    stale, fresh = [], []
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        stale.append(folder / "loop.loop_00000000_12345678-1.py311.nbi")
        fresh.append(folder / f"loop.loop_{own_sources()}_12345678-1.py311.nbi")
    for path in stale + fresh:
        path.touch()
    try:
        assert warm.clear_stale() >= len(stale)
        assert not any(path.exists() for path in stale) and all(path.exists() for path in fresh)
    finally:
        for path in fresh:
            path.unlink()
