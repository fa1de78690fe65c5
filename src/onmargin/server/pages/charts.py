"""Charts and tables as markup: lines over rounds, bars of features, who was taken for whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

WIDE, HIGH = 1000.0, 100.0  # of the drawing; it is stretched to the page
MOST = 12  # classes of a table of confusions
LONG = 24  # characters of a word beside a bar from which it may take several lines
FAR_OUT = 3.0  # heights: a curve leaves the drawing at its top, it does not run along it


class Line(NamedTuple):
    """A curve and its name; `kind` is its look, "one" or "two"."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    kind: str = "one"


def percent(value: float | None) -> str:
    """As people read it; a dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.1f} %"


def amount(value: float) -> str:
    """Short, with thousands apart."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def chart(
    title: str, lines: Sequence[Line], *, top: float | None = None, shares: bool = True,
    unit: tuple[str, str] = ("round", "rounds"),
    marks: Sequence[float] = (), mark: str = "drift", caption: str = "",
) -> str:  # fmt: skip
    """Curves over rounds; the legend says where each ends, so that nobody needs to see the picture."""
    lines = [line for line in lines if len(line.x)]
    if not lines:
        empty = f'<p class="soft small">{escape(caption or "Nothing to draw yet.")}</p>'
        return f'<figure class="chart"><h3>{escape(title)}</h3>{empty}</figure>'
    far = max(max(line.x) for line in lines) or 1.0
    most = top if top is not None else _round_up(max(map(_usual_height, lines)))
    said = percent if shares else amount
    drawn = "".join(f'<path class="line {line.kind}" d="{_path(line, far, most)}"/>' for line in lines)
    grid = "".join(
        f'<line class="grid" x1="0" x2="{WIDE:g}" y1="{HIGH * at:g}" y2="{HIGH * at:g}"/>'
        for at in (0, 0.5, 1)
    )
    alarms = "".join(
        f'<line class="drift" y1="0" y2="{HIGH:g}" x1="{WIDE * at / far:.1f}" x2="{WIDE * at / far:.1f}"/>'
        for at in marks
    )
    ticks = "".join(
        f'<span class="tick y" style="top:{100 * at:g}%">{said(most * (1 - at)).replace(".0 %", " %")}</span>'
        for at in (0, 0.5, 1)
    )
    ends = f'<span class="tick x first">0</span><span class="tick x last">{far:,.0f} {unit[far != 1]}</span>'
    legend = "".join(
        f'<li class="{line.kind}">{escape(line.name)}: {said(line.y[-1])}</li>' for line in lines
    )
    if marks:
        legend += f'<li class="drift">{escape(mark)}: {len(marks)}</li>'
    foot = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="chart"><h3>{escape(title)}</h3><ul class="legend">{legend}</ul>'
        '<div class="plot" aria-hidden="true">'
        f'<svg viewBox="0 0 {WIDE:g} {HIGH:g}" preserveAspectRatio="none">'
        f"{grid}{alarms}{drawn}</svg>{ticks}{ends}</div>{foot}</figure>"
    )


def _path(line: Line, far: float, most: float) -> str:
    points = [
        f"{WIDE * x / far:.1f} {HIGH * (1 - min(max(y / most, 0.0), FAR_OUT)):.2f}"
        for x, y in zip(line.x, line.y, strict=True)
    ]
    return "M" + "L".join(points if len(points) > 1 else [*points, f"{WIDE:g} {points[0].split()[1]}"])


def _usual_height(line: Line) -> float:
    """Of all but its first part, by rounds: the very first rounds may stick out."""
    begin = line.x[-1] / 20
    return max(y for x, y in zip(line.x, line.y, strict=True) if x >= begin)


def _round_up(value: float) -> float:
    """To 1, 2 or 5 times a power of ten."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if value <= step * power)


def bars(title: str, rows: Sequence[tuple[str, float, str]], caption: str = "") -> str:
    """Words with a bar each, of the length of their number; (word, number, what it is called)."""
    if not rows:
        return f'<h3>{escape(title)}</h3><p class="soft small">{escape(caption or "Nothing yet.")}</p>'
    longest = max(abs(number) for _, number, _ in rows) or 1.0
    lines = "".join(
        f'<li><span class="word" title="{escape(word)}">{escape(word)}</span>'
        f'<span><span class="bar{" minus" if number < 0 else ""}" '
        f'style="display:block;width:{100 * abs(number) / longest:.1f}%"></span></span>'
        f'<span class="n">{escape(said)}</span></li>'
        for word, number, said in rows
    )
    foot = f'<p class="soft small">{escape(caption)}</p>' if caption else ""
    look = "bars long" if max(len(word) for word, _, _ in rows) > LONG else "bars"
    return f'<h3>{escape(title)}</h3><ul class="{look}">{lines}</ul>{foot}'


def confusion(classes: Sequence[object], counts: Mapping[tuple[str, str], int]) -> str:
    """A table: a row for each truth, a column for each answer; shaded by the share within the row."""
    names = [str(name) for name in classes]
    head = "<h3>Truth down, answer across</h3>"
    if not names or not counts:
        return f'{head}<p class="soft small">No label yet.</p>'
    if len(names) > MOST:
        wrong = sorted(((n, *pair) for pair, n in counts.items() if pair[0] != pair[1]), reverse=True)[:MOST]
        worst = [(f"{truth} as {guess}", float(n), f"{n:,}") for n, truth, guess in wrong]
        return bars(
            f"Most frequent confusions of {len(names)} classes", worst, "" if worst else "No mistake yet."
        )
    answers = [*names, *sorted({guess for _, guess in counts} - set(names))]
    columns = "".join(f'<th scope="col" class="n">{escape(name)}</th>' for name in answers)
    body = ""
    for truth in names:
        row = [counts.get((truth, guess), 0) for guess in answers]
        total = sum(row) or 1
        cells = "".join(f'<td style="--share:{count / total:.3f}">{count:,}</td>' for count in row)
        body += f'<tr><th scope="row">{escape(truth)}</th>{cells}</tr>'
    table = f'<table class="confusion"><tr><td style="background:none"></td>{columns}</tr>{body}</table>'
    return f'{head}<div class="scroll" tabindex="0" role="group" aria-label="Confusion matrix">{table}</div>'
