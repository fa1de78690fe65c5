"""How fast, against whom: `python -m benchmarks`.

One thread for everybody, set here because the libraries read it when they load.
"""

import os

for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"
