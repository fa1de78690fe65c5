"""The first use of a name loads its module, and looks through or changes nothing else of the process."""

import subprocess
import sys

FIRST_USE = """
import gc
import numpy as np, numba, sklearn.base
thorough = []
gc.callbacks.append(lambda phase, info: thorough.append(phase) if info["generation"] == 2 else None)
import onmargin as om
model = om.PassiveAggressiveClassifier().partial_fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
print(len(thorough), gc.get_freeze_count(), gc.isenabled())
"""
GARBAGE = """
import gc, weakref
class Knot: pass
knot = Knot(); knot.itself, seen = knot, weakref.ref(knot)
{before}
del knot
import onmargin as om
om.Perceptron
print(gc.get_freeze_count() {sign} 0, gc.isenabled())
gc.enable()
gc.collect()
print(seen() is None)
"""


def said(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_first_use_does_not_look_through_all_objects_of_the_process():
    assert said(FIRST_USE) == ["0", "0", "True"]


def test_what_was_garbage_before_an_import_is_found_after_it():
    assert said(GARBAGE.format(before="", sign="==")) == ["True", "True", "True"]


def test_what_a_program_has_frozen_or_switched_off_stays_so():
    assert said(GARBAGE.format(before="gc.freeze(); gc.disable()", sign=">")) == ["True", "False", "False"]
