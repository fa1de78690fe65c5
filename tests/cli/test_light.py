"""Commands start without what scikit-learn loads for itself; whoever asks for it gets it."""

import json
import subprocess
import sys

from .processes import write_csv, write_svmlight

PROGRAM = """
import json, sys
from onmargin.cli.app import main
code = main(sys.argv[1:])
heavy = [
    "pandas.core", "scipy.stats._stats_py", "sklearn.pipeline", "sklearn.preprocessing", "pyarrow",
    "joblib.parallel", "numpy.f2py.f2py2e", "scipy.linalg._basic", "scipy.special._ufuncs",
    "scipy.sparse.linalg._isolve", "scipy.sparse.csgraph._laplacian", "rich.console",
]
print(json.dumps([code, [name for name in heavy if name in sys.modules]]))
import scipy.stats
assert abs(scipy.stats.norm.cdf(0.0) - 0.5) < 1e-15
from scipy.stats._continuous_distns import norm
assert norm is scipy.stats.norm
import joblib, numpy.testing, sklearn.utils.fixes, sklearn.utils.parallel, sklearn.utils.sparsefuncs
import scipy.linalg, scipy.sparse.csgraph, scipy.sparse.linalg, scipy.special
from scipy.special.cython_special import loggamma
import numpy as np
eye = scipy.sparse.csr_matrix(np.eye(2))
assert sklearn.utils.fixes._sparse_linalg_cg(eye, np.ones(2))[0].tolist() == [1.0, 1.0]
assert sklearn.utils.fixes.laplacian(eye).toarray().tolist() == [[0.0, 0.0], [0.0, 0.0]]
made = sklearn.utils.sparsefuncs.LinearOperator((2, 2), matvec=lambda v: v)
assert type(made) is not type and isinstance(made, scipy.sparse.linalg.LinearOperator)
assert issubclass(sklearn.utils.parallel.Parallel, joblib.Parallel) and joblib.cpu_count() >= 1
assert scipy.linalg.det(np.eye(2)) == 1.0 and scipy.special.expit(0.0) == 0.5
from sklearn.linear_model import LogisticRegression
assert LogisticRegression().fit([[0.0], [1.0]], [0, 1]).predict([[2.0]])[0] == 1
import pandas
assert pandas.DataFrame({"a": [1]}).shape == (1, 1)
"""


def _run(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_learning_from_text_loads_no_frames_no_statistics_no_pipelines(tmp_path):
    data = write_svmlight(tmp_path / "a.svm", 40)
    _run("learn", data, "--save", tmp_path / "m.onm", "--json")  # (Numba loads more where it has to compile)
    _run("predict", tmp_path / "m.onm", data, "--json")
    assert _run("learn", data, "--save", tmp_path / "m.onm", "--json") == [0, []]
    assert _run("predict", tmp_path / "m.onm", data, "--json") == [0, []]


def test_tables_load_what_they_need(tmp_path):
    data = write_csv(tmp_path / "a.csv")
    code, heavy = _run("learn", data, "--save", tmp_path / "m.onm", "--json")
    assert code == 0 and "pyarrow" in heavy and "sklearn.pipeline" in heavy
