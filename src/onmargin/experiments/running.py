"""Experiments run in processes, kept by content: what is known already is not run again.

In the folder at hand: `report.html`, and of every experiment NAME.csv, NAME.md, NAME.png, NAME.svg (and
GIFs). `kept/NAME-KEY/` has what a run came to; the key is the digest of all that it rests on.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from ..errors import BadInput, OnmarginError, extra, shown
from . import NAMES
from .experiment import Animation, Experiment
from .outcome import Outcome

FRAMES = 15  # of an animation, a second
Tell = Callable[[str, int, int], None]  # what, done, total


class Result(NamedTuple):
    """What became of one experiment: an outcome, or why there is none."""

    name: str
    quick: bool
    outcome: Outcome | None
    seconds: float  # that the run took, now or when it was kept
    kept: bool  # was it known already?
    files: tuple[str, ...] = ()  # figures, beside the report
    missing: str = ""  # data or packages that are not here, in one line
    broke: str = ""  # a traceback: a flaw of ours
    warned: tuple[str, ...] = ()  # what learners had to say while it ran

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.outcome is None:
            return "broke" if self.broke else "not run"
        return "holds" if self.outcome.holds else "fails"

    @property
    def failed(self) -> list[str]:
        """The claims that do not hold."""
        return [] if self.outcome is None else [c.text for c in self.outcome.claims if not c.holds]


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments of these names in the order of the report; "all", or none named: every one."""
    unknown = [name for name in names if name != "all" and name not in NAMES]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], NAMES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are all, {', '.join(NAMES)}"
        raise BadInput(f"there is no experiment {shown(unknown[0])}; {hint}")
    return [name for name in NAMES if not names or "all" in names or name in names]


def exit_code(results: Sequence[Result]) -> int:
    """1: a claim fails (or we do); 2: something could not be run; 0: all claims hold."""
    if any(result.broke or result.failed for result in results):
        return 1
    return 2 if any(result.outcome is None for result in results) else 0


def run(
    names: Sequence[str], folder: Path, quick: bool = False, tell: Tell = lambda what, done, total: None
) -> list[Result]:
    """Run them on all cores, those that take long first; write what belongs in the folder."""
    try:
        import matplotlib.figure  # noqa: F401 (before anything is run that could not be drawn)
    except ImportError:
        raise extra("matplotlib", "plots") from None
    experiments = [Experiment(name, quick) for name in chosen(names)]
    folder.mkdir(parents=True, exist_ok=True)
    tell("what is known already", 0, len(experiments))
    places = {each.name: folder / "kept" / f"{each.name}-{each.key()}" for each in experiments}
    found: dict[str, Result] = {}
    waiting = []
    for experiment in experiments:
        kept = _kept(experiment, places[experiment.name])
        if kept is None:
            waiting.append(experiment)
        else:
            found[experiment.name] = kept
    waiting.sort(key=lambda experiment: -experiment.seconds)
    for result in _played(waiting, places, len(experiments), tell):
        found[result.name] = result
    results = [found[experiment.name] for experiment in experiments]
    for result in results:
        _write(result, places[result.name], folder)
    from .report import page

    (folder / "report.html").write_text(page(results, folder), encoding="utf-8")
    return results


def play(name: str, quick: bool, place: Path) -> Result:
    """Run and draw one; what it came to is kept there. (In a process of its own, where there are several.)"""
    experiment = Experiment(name, quick)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            outcome = experiment.run()
        seconds = time.perf_counter() - start
        warned = tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in heard))
        files = _keep(experiment, outcome, seconds, warned, place)
    except OnmarginError as error:
        return Result(name, quick, None, 0.0, False, missing=str(error))
    except Exception:
        return Result(name, quick, None, 0.0, False, broke=traceback.format_exc())
    return Result(name, quick, outcome, seconds, False, files, warned=warned)


def _played(waiting: list[Experiment], places: dict[str, Path], total: int, tell: Tell) -> Iterator[Result]:
    done = total - len(waiting)
    workers = min(len(waiting), os.cpu_count() or 1)
    if workers < 2:
        for experiment in waiting:
            tell(f"{done} of {total}: {experiment.name}", done, total)
            yield play(experiment.name, experiment.quick, places[experiment.name])
            done += 1
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_alone)
    with pool:
        running: dict[Future[Result], str] = {}
        queue = list(waiting)
        try:
            while queue or running:
                while queue and len(running) < workers:
                    first = queue.pop(0)
                    running[pool.submit(play, first.name, first.quick, places[first.name])] = first.name
                tell(f"{done} of {total}: {', '.join(running.values())}", done, total)
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    del running[future]
                    done += 1
                    yield future.result()
        except BaseException:  # Ctrl-C: what runs is not waited for
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _alone() -> None:
    """One thread for BLAS: there is a process for each core. Ctrl-C is the first process' to answer."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # what is loaded later


# ---- what is kept


def _kept(experiment: Experiment, place: Path) -> Result | None:
    """What an earlier run came to; None: there was none, or what is there cannot be read."""
    try:
        told = json.loads((place / "run.json").read_text(encoding="utf-8"))
        outcome = Outcome.from_json((place / "outcome.json").read_text(encoding="utf-8"))
        files = tuple(map(str, told["files"]))
        if not all((place / name).exists() for name in files):
            return None
        warned = tuple(map(str, told["warned"]))
        seconds = float(told["seconds"])
        return Result(experiment.name, experiment.quick, outcome, seconds, True, files, warned=warned)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(
    experiment: Experiment, outcome: Outcome, seconds: float, warned: tuple[str, ...], place: Path
) -> tuple[str, ...]:
    """Outcome and figures, whose names are returned; `run.json` is written last: without it none is kept."""
    import matplotlib

    place.mkdir(parents=True, exist_ok=True)
    (place / "outcome.json").write_text(outcome.json(), encoding="utf-8")
    files = [f"{experiment.name}.png", f"{experiment.name}.svg"]
    with matplotlib.rc_context({"svg.hashsalt": "onmargin", "svg.fonttype": "path"}):
        figure = experiment.figure(outcome)
        figure.savefig(place / files[0], dpi=144)
        figure.savefig(place / files[1], metadata={"Date": None})
    if "matplotlib.pyplot" in sys.modules:  # it keeps what was made through it
        sys.modules["matplotlib.pyplot"].close(figure)
    for name, animation in experiment.animations(outcome).items():
        files.append(f"{name}.gif")
        save(animation, place / files[-1])
    told = {"name": experiment.name, "seconds": seconds, "files": files, "warned": warned}
    (place / "run.json").write_text(json.dumps(told), encoding="utf-8")
    return tuple(files)


def save(animation: Animation, path: Path) -> None:
    """As a GIF."""
    from matplotlib.animation import PillowWriter

    writer = PillowWriter(fps=FRAMES)
    with writer.saving(animation.figure, str(path), dpi=90):
        for frame in range(animation.frames):
            animation.draw(frame)
            writer.grab_frame()


def _write(result: Result, place: Path, folder: Path) -> None:
    """Tables and figures beside the report."""
    if result.broke:
        (folder / f"{result.name}.traceback.txt").write_text(result.broke, encoding="utf-8")
    if result.outcome is None:
        return
    (folder / f"{result.name}.csv").write_text(result.outcome.csv(), encoding="utf-8")
    (folder / f"{result.name}.md").write_text(result.outcome.markdown(), encoding="utf-8")
    for name in result.files:
        shutil.copyfile(place / name, folder / name)
