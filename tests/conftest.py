"""What all tests share: their order, what they are in `make soak`, and that CI skips none unnoticed.

Order: tests whose loops share parts lie together. Two workers begin with a half each and take from the
other's end when they are done (`--dist worksteal`), so few parts are compiled in both.

Soak: with ONMARGIN_SOAK=1 (as `make soak` sets it) property tests belong to it too, with more streams than
in `make test`, and so does what `make test` runs as plain Python; `soaking.py` has what others need to be
longer there.

Skips: see `skipping.py`.

Threads: one for BLAS, also in the processes that tests start. There is a worker for each core, and threads
that wait for each other burn both. Tests of threads ask for two themselves.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from .skipping import pytest_configure as pytest_configure
from .soaking import SOAKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # (before NumPy is imported)

# Every run draws the same examples and has no clock: what is refused was broken by the change. (With
# ONMARGIN_SEED others are drawn, as by the machines.)
settings.register_profile(
    "the same", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
if "ONMARGIN_SEED" not in os.environ:
    settings.load_profile("the same")

MORE = 8  # times as many examples
# Steps of a large rate feed on themselves and blow rounding up: many more streams find one beyond 1e-12.
AS_IT_IS = ("test_a_sweep_is_separate_runs",)

# What is in the name of a file tells what its loops share; others: linear learners.
FAMILIES = (
    ("kernel", "om2", "experiments"),
    ("paired", "pairs", "ranker", "candidate", "grouped", "reservoir", "online_auc"),
    ("sampler", "bbq", "asking", "banditron", "label_plan", "tracking", "drift"),
    ("pegasos", "optimum", "transfer"),
)


def family(path: str) -> int:
    """The place of a file's family in the order."""
    return next(
        (at for at, words in enumerate(FAMILIES) if any(word in path for word in words)), len(FAMILIES)
    )


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: family(item.nodeid.partition("::")[0]))
    if SOAKING:
        soak_properties(items)


def pytest_collection_finish() -> None:
    """Compiling makes many objects; a tenth of its time goes to looking for cycles among all there are."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="module", autouse=True)
def left_alone() -> None:
    """What earlier modules have left, machine code most of all, is not looked through again and again."""
    gc.freeze()


def soak_properties(items: list[pytest.Item]) -> None:
    """Mark what belongs; draw more examples of each property (their number lies in a private place)."""
    longer = set()
    for item in items:
        if item.get_closest_marker("uncompiled"):
            item.add_marker("soak")
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) and item.name not in AS_IT_IS:
            item.add_marker("soak")
            if test not in longer:
                given = test._hypothesis_internal_use_settings or settings.default
                test._hypothesis_internal_use_settings = settings(
                    given, max_examples=MORE * given.max_examples
                )
                longer.add(test)
