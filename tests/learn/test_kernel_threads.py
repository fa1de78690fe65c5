"""Many vectors: several tiles, shared by threads, give the sums of one table in one thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

import onmargin as om
from onmargin.compiled.threads import Works, threads_allowed
from onmargin.models.kernel.products import ENOUGH, TILE, sharing
from tests.soaking import either
from tests.students import PLAIN

DRAW = np.random.default_rng(0)
X, Y = DRAW.normal(size=(2800, 4)), DRAW.choice([-1, 1], 2800)  # no rule: nearly all rows are kept


def learned(threads, **options):
    """A learner that keeps more vectors than threads are worth while for."""
    with threadpool_limits(threads, "blas"):
        model = om.PassiveAggressiveClassifier(
            kernel="rbf", gamma=5.0, C=0.3, classes=(-1, 1), **(PLAIN | options)
        )
        model.partial_fit(X[:2000], Y[:2000]).partial_fit(X[2000:], Y[2000:])
        return model, model.decision_function(X[:300]), model.decision_function(X[:20])


@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"average": True}], ids=str)
def test_threads_and_tiles_do_not_matter(options):
    """Three tiles; the same support, coefficients and answers, and those of an explicit Gram matrix."""
    one, *alone = learned(1, **options)
    two, *shared = learned(2, **options)
    assert one.n_support_ > max(ENOUGH, 2 * TILE)
    assert one.support_.tolist() == two.support_.tolist()
    near = 1e-9 if "dtype" in options else 1e-5
    assert_allclose(two.dual_coef_, one.dual_coef_, atol=near)
    by_hand = (rbf_kernel(X[:300], X[one.support_], gamma=5.0) + 1.0) @ one.dual_coef_[0]
    for answers in (alone, shared):
        assert_allclose(answers[0], by_hand, atol=20 * near)
        assert_allclose(answers[1], by_hand[:20], atol=20 * near)


def test_limits_are_undone_also_where_they_overlap():
    """Who asks while others share goes alone; afterwards BLAS may do what it might before."""
    with threadpool_limits(2, "blas"):
        with sharing(ENOUGH) as first, sharing(ENOUGH) as second:
            assert (first, second) == (2, 1) and threads_allowed() == 1
        assert threads_allowed() == 2


def test_works_are_shared_with_whoever_waits_and_come_back_in_their_order():
    """Two works that wait for each other end: two threads are at them, the caller's and another."""
    both, seen = threading.Barrier(2, timeout=60), set()

    def meet(number):
        seen.add(threading.get_ident())
        both.wait()
        return number

    found = Works([*(partial(meet, number) for number in (0, 1)), lambda: 2, lambda: 3], 2).results()
    assert found == [0, 1, 2, 3] and threading.get_ident() in seen and len(seen) == 2


@pytest.mark.parametrize("error", [IndexError, KeyboardInterrupt], ids=lambda error: error.__name__)
@pytest.mark.parametrize("mine", [True, False], ids=["the caller's", "another's"])
def test_a_work_that_fails_stops_the_others_and_is_told(error, mine):
    """Whatever it fails with, and whoever was at it; what nobody has begun is not begun."""
    both, caller, begun = threading.Barrier(2, timeout=60), threading.get_ident(), []

    def fail_in_one():
        both.wait()
        if (threading.get_ident() == caller) == mine:
            raise error("it did")
        time.sleep(0.05)

    with pytest.raises(error, match="it did"):
        Works([fail_in_one, fail_in_one, *(partial(begun.append, n) for n in range(10))], 2).results()
    time.sleep(0.1)
    assert begun == []


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_an_average_of_the_stoptron_is_the_perceptrons_while_there_is_room(kernel):
    options = {"kernel": kernel, "gamma": 1.0, "average": True, "classes": (-1, 1), "dtype": "float64"}
    stoptron = om.Stoptron(budget=500, **options).partial_fit(X[:400], Y[:400])
    perceptron = om.Perceptron(fit_intercept=False, **options).partial_fit(X[:400], Y[:400])
    assert stoptron.support_.tolist() == perceptron.support_.tolist()
    assert_allclose(stoptron.dual_coef_, perceptron.dual_coef_, rtol=1e-9, atol=1e-12)
    assert not np.allclose(stoptron.dual_coef_, np.sign(stoptron.dual_coef_))  # it is no last hypothesis


STOPPED = """
import random, signal
import numpy as np, onmargin as om
from onmargin.compiled.threads import threads_allowed
from threadpoolctl import threadpool_limits

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
random.seed(0)
draw = np.random.default_rng(0)
X, y = draw.normal(size=(3300, 8)), draw.choice([-1, 1], 3300)
made = om.PassiveAggressiveClassifier(kernel="rbf", gamma=5.0, C=0.3, classes=(-1, 1))
with threadpool_limits(2, "blas"):
    made.partial_fit(X[:3000], y[:3000])
    whole = made.clone(include_attributes=True).partial_fit(X[3000:], y[3000:]).dual_coef_
    answers, stopped = made.decision_function(X[:1200]), 0
    while stopped < {count}:
        model = made.clone(include_attributes=True)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.03 * random.random())
            model.decision_function(X[:1200])
            model.partial_fit(X[3000:], y[3000:])
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, 0)
            stopped += 1
        assert threads_allowed() == 2
    assert np.array_equal(made.decision_function(X[:1200]), answers)
    assert np.array_equal(made.partial_fit(X[3000:], y[3000:]).dual_coef_, whole)
print("sound")
"""


def test_ctrl_c_leaves_no_thread_waiting_and_blas_its_threads():
    """An executor's locks stayed taken now and then, for good; BLAS stayed at one thread."""
    code = STOPPED.format(count=either(30, 500))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["sound"], done.stderr
