"""A process that dies while it saves leaves a whole file: the old model or the new one."""

from __future__ import annotations

import os
import signal
import time
import warnings

import numpy as np
from tests.soaking import either, soaked

import onmargin as om


def save_forever(models, path):
    try:
        while True:
            for model in models:
                om.save(model, path)
    finally:
        os._exit(1)


@soaked
def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path):
    draw, path = np.random.default_rng(0), tmp_path / "m.onm"
    X = draw.normal(size=(10, 400))
    models = [om.Perceptron(classes=(0, 1), rate=rate).partial_fit(X, np.arange(10) % 2) for rate in (1, 2)]
    known = [model.coef_.tobytes() for model in models]
    om.save(models[0], path)
    met = set()
    for _ in range(either(8, 600)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # (of a fork beside threads)
            child = os.fork()
        if child == 0:
            save_forever(models, path)
        time.sleep(draw.uniform(0.0, 0.01))
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL  # (and not by an error of its own)
        met.add(known.index(om.load(path).coef_.tobytes()))
    assert len(met) == 2 or either(1, 0)
    om.save(models[1], path)
    assert om.load(path).coef_.tobytes() == known[1]
