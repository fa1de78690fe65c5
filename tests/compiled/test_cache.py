"""Machine code on disk: a second process compiles nothing, edited source never runs old code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onmargin
from onmargin.compiled.parts import OPTIONS, fingerprint, part, specialise
from onmargin.learn import rounds

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
