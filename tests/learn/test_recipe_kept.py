"""A recipe of the user's functions on disk: machine code for the next process, models for the next day."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput

from ..students import stream
from .test_recipe import smooth, three_halves, three_norm

SCRIPT = """
import numpy as np
import onmargin as om
from onmargin.compiled import parts

CAP = 0.25

def capped(loss, size):
    return min(CAP, loss / size)

X = np.random.default_rng(0).standard_normal((30, 3))
model = om.OnlineClassifier(om.Recipe(step=capped))
om.progressive(model, X, X[:, 0] > 0)
hits = sum(sum(f.stats.cache_hits.values()) for f in parts._specialised.values())
misses = sum(sum(f.stats.cache_misses.values()) for f in parts._specialised.values())
print(hits, misses, float(model.coef_[0, 0]).hex())
"""


def run(script, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    hits, misses, weight = done.stdout.split()
    return int(hits), int(misses), weight


def test_second_process_compiles_nothing_and_an_edited_constant_counts(tmp_path):
    script, cache = tmp_path / "script.py", tmp_path / "cache"
    script.write_text(SCRIPT)
    hits, misses, weight = run(script, cache)
    assert hits == 0 and misses > 0
    assert run(script, cache) == (misses, 0, weight)
    script.write_text(SCRIPT.replace("CAP = 0.25", "CAP = 0.125"))
    _, anew, other = run(script, cache)
    assert anew > 0 and other != weight
    script.write_text("# a comment and two lines more\n\n" + SCRIPT)
    assert run(script, cache) == (misses, 0, weight)


# ---- om.save and om.load


def halves():
    """Another function of the same name."""

    def smooth(margin, required):
        gap = max(required - margin, 0.0)
        return 0.5 * gap * gap, gap

    return smooth


def commented():
    """The same function in other words."""

    def smooth(margin, required):
        """The squared hinge; for numbers the squared distance beyond epsilon."""
        gap = max(required - margin, 0.0)  # how far it is
        return (
            gap * gap,
            2.0 * gap,
        )

    return smooth


@pytest.fixture
def saved(tmp_path):
    """A model in mid-stream, and its file."""
    X, y, _ = stream("pa1.binary")
    recipe = om.Recipe(loss=smooth, step="sqrt", own=[3.0])
    model = om.OnlineClassifier(recipe, rate=0.2, average=True, classes=("no", "yes"))
    om.save(model.partial_fit(X[:30], y[:30]), tmp_path / "m.onm")
    return model, tmp_path / "m.onm"


def refused(path, parts):
    with pytest.raises(BadInput) as error:
        om.load(path, parts)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("function", [smooth, commented()], ids=["itself", "with a comment"])
def test_with_its_function_it_goes_on_bit_for_bit(saved, function):
    model, path = saved
    X, y, _ = stream("pa1.binary")
    twin = om.load(path, parts={"smooth": function})
    assert repr(twin) == repr(model) and twin.recipe.own.tolist() == [3.0]
    for learner in (model, twin):
        learner.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(twin.coef_, model.coef_)
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    assert twin.t_ == model.t_ == 60


def test_without_its_function_it_is_refused(saved):
    _, path = saved
    assert "'smooth'" in refused(path, None)
    assert "give it as parts={'smooth': ...}" in refused(path, {"rough": smooth})


def test_with_another_function_it_is_refused(saved):
    _, path = saved
    assert "not the function that the model was saved with" in refused(path, {"smooth": halves()})


def test_recipes_of_our_parts_need_no_functions(tmp_path):
    X, y, _ = stream("pa1.regression")
    recipe = om.Recipe("regression", loss="squared", step="sqrt", space="pnorm")
    model = om.OnlineRegressor(recipe, rate=0.05, p=1.5)
    om.save(model.partial_fit(X[:30], y[:30]), tmp_path / "m.onm")
    twin = om.load(tmp_path / "m.onm").partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(twin.coef_, model.partial_fit(X[30:], y[30:]).coef_)


def test_own_space_with_its_regulariser_is_saved_by_both_names(tmp_path):
    X, y, _ = stream("pa1.binary")
    model = om.OnlineClassifier(om.Recipe(space=(three_norm, three_halves)), classes=("no", "yes"))
    om.save(model.partial_fit(X, y), tmp_path / "m.onm")
    assert "three_halves" in refused(tmp_path / "m.onm", {"three_norm": three_norm})
    parts = {"three_norm": three_norm, "three_halves": three_halves}
    twin = om.load(tmp_path / "m.onm", parts=parts)
    np.testing.assert_array_equal(twin.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
