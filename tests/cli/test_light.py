"""Commands start without what scikit-learn loads for itself; whoever asks for it gets it."""

import json
import subprocess
import sys

from .processes import write_csv, write_svmlight

PROGRAM = """
import json, sys
from onmargin.cli.app import main
code = main(sys.argv[1:])
heavy = ["pandas.core", "scipy.stats._stats_py", "sklearn.pipeline", "sklearn.preprocessing", "pyarrow"]
print(json.dumps([code, [name for name in heavy if name in sys.modules]]))
import scipy.stats
assert abs(scipy.stats.norm.cdf(0.0) - 0.5) < 1e-15
from scipy.stats._continuous_distns import norm
assert norm is scipy.stats.norm
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
    assert _run("learn", data, "--save", tmp_path / "m.onm", "--json") == [0, []]
    assert _run("predict", tmp_path / "m.onm", data, "--json") == [0, []]


def test_tables_load_what_they_need(tmp_path):
    data = write_csv(tmp_path / "a.csv")
    code, heavy = _run("learn", data, "--save", tmp_path / "m.onm", "--json")
    assert code == 0 and "pyarrow" in heavy and "sklearn.pipeline" in heavy
