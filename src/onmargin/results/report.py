"""One page that says what a run came to: curve, confusions, top features, command, versions."""

from __future__ import annotations

import html
import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .. import __version__
from ..errors import OnmarginError, extra
from ..features.piped import is_pipeline, last_step
from .certificate import Certificate
from .confusion import Confusion
from .progress import Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHOLE_MATRIX = 20  # labels of which the whole matrix is drawn; of more, the pairs mixed up most often
TOP = 10  # features of an output
OUTPUTS = 30  # whose features are shown
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.said { color: #555; margin: .2rem 0 1.2rem; }
pre { background: #f4f4f4; padding: .7rem 1rem; overflow-x: auto; border-radius: 4px; white-space: pre-wrap; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #e4e4e4; }
td.n, th.n { text-align: right; } th { font-weight: 600; } tr.total td { border: 0; color: #555; }
table.mix th, table.mix td { text-align: right; border: 1px solid #fff; padding: .2rem .5rem; }
table.mix { font-size: .85rem; } .wide { overflow-x: auto; } svg { max-width: 100%; height: auto; }
.sides { display: flex; flex-wrap: wrap; gap: 1.2rem 2.5rem; align-items: flex-start; }
.sides h3 { font-size: .95rem; margin: 0 0 .3rem; } .bar { display: inline-block; height: .7rem; }
"""


class ByEpoch(Protocol):
    """A run in epochs: as a text with a line for each, and drawn."""

    def __str__(self) -> str: ...

    def plot(self, ax: Axes) -> object: ...


def write(
    path: str | os.PathLike[str],
    progress: Progress,
    model: object,
    command: str,
    facts: Mapping[str, object],
    counted: Confusion | None = None,
    certificate: Certificate | None = None,
    first: int = 0,
    epochs: ByEpoch | None = None,
) -> None:
    """Write the page: one HTML file that needs nothing beside it. The old file stays until all is there.

    progress : what the run came to. certificate : what theorems bound, where it was asked for.
    counted : confusions as they were counted along a stream; None: they are counted from `predictions` and
        `y` (if they were kept).
    model : the learner, or a Pipeline that ends in it: its features are shown by their names.
    command : what was typed. facts : what else to say of the run, by name. first : the number of the first
        column, where columns have no names. epochs : of many learners at once, in place of a curve.
    """
    target = Path(os.path.realpath(path))
    text = page(progress, model, command, facts, counted, certificate, first, epochs)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and not target.is_file():  # a device, a named pipe: no place for a draft
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def page(
    progress: Progress,
    model: object,
    command: str,
    facts: Mapping[str, object],
    counted: Confusion | None = None,
    certificate: Certificate | None = None,
    first: int = 0,
    epochs: ByEpoch | None = None,
) -> str:
    """The page as text; the same run gives the same bytes."""
    learner = last_step(model)
    name = type(learner).__name__
    sections = [
        ("", f"<pre>{_safe(command)}</pre>"),
        ("", _pairs({**_outcome(progress), **facts})),
        ("Epochs", _epochs(epochs)) if epochs is not None else ("Learning curve", _curve(progress)),
        ("Confusion matrix", _confusion(confusion(progress) if counted is None else counted)),
        ("Certificates", _certificate(certificate)),
        ("Top features", _features(model, learner, first)),
        ("Parameters", _pairs(_parameters(learner))),
        ("Made with", _pairs(_versions())),
    ]
    body = "\n".join(f"{title and f'<h2>{title}</h2>'}\n{text}" for title, text in sections if text)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(name)}: what it learned</title>\n<style>{STYLE}</style></head>\n<body>\n"
        f'<h1>{_safe(name)}</h1>\n<p class="said">{_said(progress)}</p>\n{body}\n</body></html>\n'
    )


# ---- sections


def _said(progress: Progress) -> str:
    """The run in one sentence."""
    rounds = f"{progress.rounds:,} examples, each answered before it was learned"
    if progress.kind == "labels":
        return f"{rounds}: {progress.mistakes:,} wrong, {progress.error_rate:.2%}."
    return f"{rounds}: mean loss {progress.totals.loss / max(progress.rounds, 1):.4g}."


def _outcome(progress: Progress) -> dict[str, object]:
    found: dict[str, object] = {"examples": progress.rounds}
    if progress.kind == "labels":
        found |= {"mistakes": progress.mistakes, "online error": f"{progress.error_rate:.4%}"}
    return found | {"updates": progress.updates, "mean loss": progress.totals.loss / max(progress.rounds, 1)}


def _curve(progress: Progress) -> str:
    """The learning curve as a drawing inside the page."""
    if not progress.rounds or len(progress.curve()[0]) < 2:
        return ""
    from .plots import learning_curves

    def draw(ax: Axes) -> None:
        learning_curves({"": progress}, ax=ax)
        ax.set_xlim(max(ax.get_xlim()[0], float(progress.curve()[0][0])))

    return _drawn(draw, "learning curve")


def _epochs(found: ByEpoch) -> str:
    """Drawn, and as it is said in the shell."""
    return _drawn(lambda ax: found.plot(ax=ax), "errors by epoch") + f"<pre>{_safe(found)}</pre>"


def _certificate(found: Certificate | None) -> str:
    """The rows, and both sides of one of them over the rounds."""
    if found is None:
        return ""
    course = found.courses.get(found.main)
    if course is None or len(course.left) < 2:
        return found.html
    return found.html + _drawn(lambda ax: found.plot(ax=ax), "bound")


def _drawn(draw: Callable[[Axes], object], name: str) -> str:
    """A figure inside the page."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise extra("matplotlib", "plots") from None
    drawn = StringIO()
    with rc_context({"svg.hashsalt": f"onmargin {name}" if name != "learning curve" else "onmargin",
                     "svg.fonttype": "path"}):  # fmt: skip
        figure = Figure(figsize=(9, 4.2), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    text = drawn.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)  # in HTML they are known
    return text.replace("<svg", f'<svg role="img" aria-label="{name}"', 1)


def _confusion(seen: Confusion | None) -> str:
    """Truths by answers, shaded by their share of the truth; of many labels, what was mixed up most."""
    if seen is None or not seen.counts:
        return ""
    labels, counts = seen.labels, seen.table()
    if len(labels) > WHOLE_MATRIX:
        lines = [[_label(mix.truth), _label(mix.answer), f"{mix.times:,}"] for mix in seen.mixed(TOP)]
        head = f"<p>{len(labels):,} labels; the pairs that were mixed up most often:</p>"
        return head + _table(("true", "answered", "times"), lines)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = []
    for place, label in enumerate(labels):
        if not counts[place].sum():  # answered, never true
            continue
        cells = "".join(
            f'<td style="background:{_shade(share[place, other], place == other)}"'
            f' title="true {_label(label)}, answered {_label(labels[other])}">{counts[place, other]:,}</td>'
            for other in range(len(labels))
        )
        rows.append(f"<tr><th>{_label(label)}</th>{cells}<td>{share[place, place]:.1%}</td></tr>")
    heads = "".join(f"<th>{'no answer' if label is None else _label(label)}</th>" for label in labels)
    top = f"<tr><th>true \\ answered</th>{heads}<th>right</th></tr>"
    return f'<div class="wide"><table class="mix">{top}{"".join(rows)}</table></div>'


def confusion(progress: Progress) -> Confusion | None:
    """Counted from the trace of a run; None for numbers and sets, or where none was kept."""
    if progress.kind != "labels" or progress.predictions is None or progress.y is None:
        return None
    truths, answers = np.asarray(progress.y), np.asarray(progress.predictions)
    if truths.ndim != 1 or answers.ndim != 1 or not len(truths):
        return None
    judged = np.ones(len(truths), bool) if progress.counted is None else np.asarray(progress.counted, bool)
    found = Confusion()
    found.add(truths[judged], answers[judged])
    return found


def _features(model: object, learner: object, first: int) -> str:
    """The heaviest features of every output, side by side, with bars."""
    ask = getattr(learner, "top_features", None)
    if ask is None:
        return ""
    try:
        found = ask(TOP, _names(model))
    except (OnmarginError, AttributeError):  # a learner of kernels has no weights of features
        return ""
    outputs, features, weights = (found[column].tolist() for column in ("class", "feature", "weight"))
    features = [name + first if isinstance(name, int) else name for name in features]
    lines = list(zip(outputs, features, weights, strict=True))
    largest = max((abs(line[2]) for line in lines), default=0.0) or 1.0
    groups = [(label, list(own)) for label, own in groupby(lines, key=lambda line: line[0])]
    sides = []
    for label, own in groups[:OUTPUTS]:
        rows = "".join(
            f'<tr><td>{_safe(feature)}</td><td class="n">{weight:+.4g}</td>'
            f'<td><span class="bar" style="width:{6 * abs(weight) / largest:.2f}rem;'
            f'background:{_side(weight)}"></span></td></tr>'
            for _, feature, weight in own
            if weight != 0.0
        )
        title = "" if label is None else f"<h3>for {_label(label)}</h3>"
        sides.append(f"<div>{title}<table>{rows}</table></div>")
    more = f"<p>{len(groups) - OUTPUTS} further outputs are left out.</p>" if len(groups) > OUTPUTS else ""
    return f'<div class="sides">{"".join(sides)}</div>{more}' if sides else ""


def _parameters(learner: object) -> dict[str, object]:
    get = getattr(learner, "get_params", None)
    return {name: repr(value) for name, value in get(deep=False).items()} if get else {}


def _versions() -> dict[str, object]:
    found: dict[str, object] = {"onmargin": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found | {"system": f"{platform.system()} {platform.machine()}"}


# ---- the steps before the learner


def _names(model: object) -> object:
    """What the steps before the learner call its columns; None: as the learner knows them."""
    if not is_pipeline(model) or len(model) < 2:
        return None
    try:
        return model[:-1].get_feature_names_out()
    except AttributeError:  # a step without names
        return None


# ---- words and colours


def _safe(value: object) -> str:
    return html.escape(str(value))


def _label(value: object) -> str:
    """Labels of files are numbers with a point; -1 is how they stand there."""
    return _safe(int(value) if isinstance(value, float) and value.is_integer() else value)


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return str(value)
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.6g}"


def _pairs(facts: Mapping[str, object]) -> str:
    """Names and values, one a line; a value that is a mapping itself is spelled out behind its name."""
    rows = []
    for name, value in facts.items():
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {_number(inner)}" for key, inner in value.items())
        rows.append(f"<tr><td>{_safe(name)}</td><td>{_safe(_number(value))}</td></tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_safe(heading)}</th>" for heading in headings)
    lines = "".join("<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{lines}</table>"


def _shade(share: float, right: bool) -> str:
    """Green for right answers, orange for wrong ones; the more, the darker. Black is read on all of them."""
    strength = 0.0 if share == 0 else 0.08 + 0.55 * float(share)
    return f"rgba({'0,158,115' if right else '213,94,0'},{strength:.2f})"


def _side(weight: float) -> str:
    return "#0072B2" if weight > 0 else "#D55E00"
