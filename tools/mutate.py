"""Plant one-line faults in a copy of the tree, one at a time, and see whether the tests notice.

`python tools/mutate.py tools/faults.toml` runs all faults of the file, `--only WORD` some of them. A fault:

    [[fault]]
    file = "src/onmargin/learn/steps.py"
    old = "return min(now.weight * hyper.C, loss / size)"   # must be there exactly once
    new = "return min(hyper.C, loss / size)"
    tests = ["tests/learn/test_oracles.py"]                  # what is to notice it; none: all tests
    compiled = false                                         # false: as plain Python, which is faster

Tests run until the first that fails. Prints a line per fault (caught, by which test, in what time) and the
faults that survived, and leaves with 1 where there are any. Not part of `make test`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "out")
LIMIT = 900.0  # seconds; a fault that makes a loop endless is caught as well


class Fault(NamedTuple):
    """One line to be changed, and the tests that should notice."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    compiled: bool = False

    def __str__(self) -> str:
        return f"{self.file.removeprefix('src/onmargin/')}: {self.old.strip()} -> {self.new.strip()}"

    def planted(self, root: Path) -> str:
        """The file's text with the fault; refused where the old text is not there exactly once."""
        text = (root / self.file).read_text()
        if self.old == self.new or text.count(self.old) != 1:
            raise SystemExit(f"{self}: found {text.count(self.old)} times; wanted once, and another text")
        return text.replace(self.old, self.new)


class Outcome(NamedTuple):
    """Whether the tests noticed."""

    fault: Fault
    caught: bool
    said: str
    seconds: float


def read(path: Path) -> list[Fault]:
    """The faults of a file."""
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text()).get("fault", [])
    return [Fault(**{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]


def tree(folder: Path) -> Path:
    """A copy of what git would have: sources, tests and settings."""
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT))
    return folder / "tree"


def run(root: Path, fault: Fault, python: str) -> tuple[int, str]:
    """The tests of one fault: pytest's exit status, and what it said."""
    environment = {
        **os.environ, "PYTHONPATH": str(root / "src"), "NUMBA_DISABLE_JIT": "0" if fault.compiled else "1",
        "NUMBA_CACHE_DIR": str(root / "machine_code"),
    }  # fmt: skip
    quiet = [] if fault.compiled else ["-W", "ignore::RuntimeWarning"]  # NumPy scalars warn there
    command = [python, "-m", "pytest", "-n", "0", "-x", "-p", "no:cacheprovider", *quiet, *fault.tests]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, text=True, timeout=LIMIT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, f"FAILED (nothing came within {LIMIT:.0f} s)"
    return done.returncode, done.stdout


def sentence(said: str) -> str:
    """The line that names the test that failed."""
    found = re.findall(r"^(?:FAILED|ERROR)[^\n]*", said, re.MULTILINE)
    return found[-1][:150] if found else (said.strip().splitlines() or ["nothing was said"])[-1][:150]


def judge(fault: Fault, python: str) -> Outcome:
    """Plant, run, look: 1 (a test failed) and 2 (it cannot even be imported) are caught, 0 survived."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        root = tree(Path(folder))
        (root / fault.file).write_text(fault.planted(root))
        status, said = run(root, fault, python)
    if status not in (0, 1, 2):
        raise SystemExit(f"{fault}: pytest left with {status}\n{said[-2000:]}")
    return Outcome(fault, status != 0, sentence(said), time.perf_counter() - began)


def check_sound(faults: list[Fault], python: str) -> None:
    """Without a fault all chosen tests pass; otherwise everything would be caught."""
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        root = tree(Path(folder))
        for test, compiled in sorted({(test, fault.compiled) for fault in faults for test in fault.tests}):
            status, said = run(root, Fault("", "", "", (test,), compiled), python)
            if status:
                raise SystemExit(f"without a fault {test} already fails: {sentence(said)}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Plant faults, one at a time; do the tests notice?")
    parser.add_argument("faults", type=Path, help="a TOML file of [[fault]] tables")
    parser.add_argument("--only", default="", help="faults with this word in file, old or new text")
    parser.add_argument("--jobs", type=int, default=1, help="faults tried at the same time")
    parser.add_argument("--python", default=sys.executable, help="the interpreter with the packages")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    given = parser.parse_args()
    faults = [fault for fault in read(given.faults) if given.only in str(fault)]
    for fault in faults:
        fault.planted(ROOT)
    if not given.unchecked:
        check_sound(faults, given.python)
    survivors = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for outcome in pool.map(lambda fault: judge(fault, given.python), faults):
            word = "caught  " if outcome.caught else "SURVIVED"
            print(f"{word} {outcome.seconds:6.1f} s  {outcome.fault}\n    {outcome.said}", flush=True)
            survivors += [] if outcome.caught else [outcome.fault]
    print(f"{len(faults) - len(survivors)} of {len(faults)} faults were caught")
    for fault in survivors:
        print(f"  survived: {fault}")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
