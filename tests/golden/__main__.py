"""Write golden files anew: `python -m tests.golden [FAMILY ...]`. See the package for when."""

from __future__ import annotations

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything is imported: plain Python is the same everywhere
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import sys  # noqa: E402
import warnings  # noqa: E402

import onmargin as om  # noqa: E402

from .expected import FILES, STORED, Expected, arrays_in, file_of, read, write  # noqa: E402
from .families import FAMILIES, answers, begun, drawn, facts, go_on  # noqa: E402


def main(names: list[str]) -> int:
    """Every family, or those that are named (the others stay as they are): teach, write, read, go on."""
    warnings.simplefilter("error")
    FILES.mkdir(exist_ok=True)
    for old in FILES.glob("*.onm"):
        if not names or old.stem not in FAMILIES:
            old.unlink()
    expected = read() if names else Expected(drawn(), {}, {}, {})
    for name in names or FAMILIES:
        om.save(begun(name, expected.stream), file_of(name))
        expected.arrays[name] = arrays_in(file_of(name))
        model = om.load(file_of(name))
        expected.facts[name] = facts(model)
        expected.answers[name] = answers(name, go_on(name, model, expected.stream), expected.stream)
    write(expected)
    size = sum(path.stat().st_size for path in [STORED, *FILES.iterdir()])
    print(f"{len(names or FAMILIES)} files and {STORED.name}, {size / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
