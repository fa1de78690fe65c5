"""Figures worth showing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
MEASURED = {"error_rate": "online error", "mae": "mean absolute error, online"}


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise extra("matplotlib", "plots") from None
    return plt


def learning_curves(runs: dict[str, Any], ax: Any = None, title: str = "") -> Any:
    """Error so far against rounds, one line a run, each named at its end. Returns the figure.

    Runs that agree at every point share one line and one name.
    """
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    lines: list[tuple[str, np.ndarray, np.ndarray]] = []
    for name, run in runs.items():
        at, error = run.curve()
        for number, (other, _, drawn) in enumerate(lines):
            if np.array_equal(drawn, error):
                lines[number] = (f"{other} = {name}", at, error)
                break
        else:
            lines.append((name, at, error))
    rounds = max(run.rounds for run in runs.values())
    first = max(1.0, rounds / 400)
    top = max(float(np.max(error[at >= first], initial=0.0)) for _, at, error in lines) * 1.05 or 1.0
    ends = []
    percent = all(run.kind == "labels" for run in runs.values())
    for number, (name, at, error) in enumerate(lines):
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
        ax.plot(at, error, style, color=colour, lw=1.8)
        ends.append((float(error[-1]), f"{name}  {_said(float(error[-1]), percent)}", colour))
    ax.set(xscale="log", xlim=(first, rounds), ylim=(0, top), xlabel="examples seen")
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel("online error so far" if percent else "mean online loss so far")
    if percent:
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends)
    return ax.figure


def _name_ends(ax: Any, ends: list[tuple[float, str, str]]) -> None:
    """Texts beside the ends of the lines, pushed apart where they would overlap."""
    placed = -np.inf
    bottom, top = ax.get_ylim()
    for value, text, colour in sorted(ends):
        placed = max((value - bottom) / (top - bottom), placed + 0.06)
        ax.text(1.01, placed, text, color=colour, transform=ax.transAxes, va="center", fontsize=9)


def _said(value: float, percent: bool) -> str:
    return f"{100 * value:.1f} %" if percent else f"{value:.3g}"


def sweep_lines(
    rows: list[dict[str, Any]],
    configs: list[dict[str, Any]],
    criterion: str,
    best: int,
    better: Callable[[np.ndarray], float] = min,
    ax: Any = None,
) -> Any:
    """The criterion against the parameter with the most numbers, a line for each choice of the others.

    The best configuration is marked and named. Returns the figure.
    """
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    along, places, names = _long_axis(configs)
    percent = criterion == "error_rate"
    lines: dict[str, list[tuple[float, float]]] = {}
    for row, config in zip(rows, configs, strict=True):
        rest = ", ".join(f"{name}={_short(config[name])}" for name in config if name != along)
        lines.setdefault(rest, []).append((places[repr(config.get(along))], row[criterion]))
    ends = []
    for number, (name, points) in enumerate(lines.items()):
        at, error = np.array(sorted(points)).T
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
        ax.plot(at, error, style, color=colour, lw=1.8, marker="o", ms=3.5)
        known = error[np.isfinite(error)]
        if name and known.size:
            ends.append((float(known[-1]), f"{name}  best {_said(float(better(known)), percent)}", colour))
    top, value = configs[best], rows[best][criterion]
    ax.plot(places[repr(top.get(along))], value, "o", ms=11, mfc="none", mec="black", mew=1.5)
    said = ", ".join(f"{name}={_short(v)}" for name, v in top.items())
    ax.set_title(f"best: {said}  ({_said(value, percent)})", loc="left", fontsize=11)
    values = list(places.values())
    if names is not None:
        ax.set_xticks(values, names)
    elif min(values) > 0 and max(values) > 20 * min(values):
        ax.set_xscale("log")
    ax.set_xlabel(along)
    ax.set_ylabel(MEASURED.get(criterion, f"{criterion}, online"))
    if percent:
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends)
    return ax.figure


def kernel_bars(names: list[str], weights: np.ndarray, ax: Any = None) -> object:
    """The weight of every kernel, the heaviest on top. Returns the figure."""
    if ax is None:
        height = 1.2 + 0.32 * len(names)
        _, ax = _pyplot().subplots(figsize=(7, height), layout="constrained")
    order = np.argsort(weights, kind="stable")
    ax.barh(np.arange(len(order)), weights[order], color=COLOURS[0], height=0.7)
    ax.set_yticks(np.arange(len(order)), [names[j] for j in order])
    for place, j in enumerate(order):
        ax.text(weights[j], place, f" {weights[j]:.3g}", va="center", fontsize=9)
    ax.set_xlim(0, 1.15 * max(float(weights.max(initial=0.0)), 1e-12))
    ax.set_title("weights of the kernels", loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure


def label_curves(rows: list[dict[str, Any]], measure: str = "error", ax: Any = None) -> object:
    """Error or F1 against labels used, a line a rule, its spread as a band. Returns the figure."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    ends = []
    for number, rule in enumerate(rules):
        mine = sorted((row for row in rows if row["rule"] == rule), key=lambda row: row["labels"])
        at = np.array([row["labels"] for row in mine])
        value = np.array([row[measure] for row in mine])
        band = np.array([row[f"{measure}_spread"] for row in mine])
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(at, value, color=colour, lw=1.8, marker="o", ms=3.5)
        ax.fill_between(at, value - band, value + band, color=colour, alpha=0.15, lw=0)
        ends.append((float(value[-1]), f"{rule}  {_said(float(value[-1]), measure == 'error')}", colour))
    ax.set(xscale="log", xlabel="labels asked for", ylabel="test error" if measure == "error" else "F1")
    if measure == "error":
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends)
    return ax.figure


def _long_axis(configs: list[dict[str, Any]]) -> tuple[str, dict[str, Any], list[str] | None]:
    """The parameter to draw along, where each of its values lies, and their names if they are no numbers."""
    names = list(dict.fromkeys(name for config in configs for name in config))
    values = {name: {repr(c.get(name)): c.get(name) for c in configs} for name in names}
    numeric = [name for name in names if all(_is_real(value) for value in values[name].values())]
    along = max(numeric or names, key=lambda name: len(values[name]))
    if along in numeric:
        return along, values[along], None
    places = {key: number for number, key in enumerate(values[along])}
    return along, places, [_short(value) for value in values[along].values()]


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def bound_curves(
    id: str, rounds: np.ndarray, left: np.ndarray, right: np.ndarray, counts: str = "", ax: Axes | None = None
) -> Figure:
    """What was counted against its bound, after these rounds. Returns the figure."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    assert ax is not None
    some = np.unique(np.linspace(0, max(len(left) - 1, 0), 500).astype(int)) if len(left) else slice(0)
    end = int(rounds[-1]) if len(rounds) else 1
    first = max(1, end // 400)
    ax.plot(rounds[some], left[some], color=COLOURS[0], lw=1.8)
    ax.plot(rounds[some], right[some], "--", color=COLOURS[1], lw=1.8)
    ax.fill_between(rounds[some], left[some], right[some], color=COLOURS[1], alpha=0.06, lw=0)
    late = rounds >= first
    top = float(max(np.max(right[late], initial=0.0), np.max(left[late], initial=0.0)))
    bottom = min(float(np.min(left[late], initial=0.0)), 0.0)
    if (
        bottom == 0
        and top > 50 * max(float(left[-1]) if len(left) else 0.0, 1e-12)
        and (left[late] > 0).any()
    ):
        ax.set(yscale="log", ylim=(0.5 * float(left[late][left[late] > 0].min()), 2 * top))
    else:
        ax.set_ylim(1.05 * bottom, 1.08 * top or 1.0)
    ax.set(xlim=(1, max(end, 2)), xlabel="rounds", ylabel=f"{counts or 'left side'} so far")
    ax.set_title(f"{id}: {counts or 'left'} against the bound", loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    for side, text, colour in ((left, counts or "left side", COLOURS[0]), (right, "bound", COLOURS[1])):
        if len(side):
            value = float(side[-1])
            ax.annotate(
                f"{text}  {value:,.4g}", (1.01, value), xycoords=("axes fraction", "data"), color=colour,
                va="center", fontsize=9, annotation_clip=False,
            )  # fmt: skip
    return cast("Figure", ax.figure)


def epoch_curves(
    runs: dict[str, list[float]], percent: bool, measured: str, ax: Axes | None = None
) -> Figure:
    """The error of each epoch, one line a run, each named at its end. Returns the figure."""
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(7, 4.2), layout="constrained")
    assert ax is not None
    count = max(map(len, runs.values()))
    ends = []
    ax.set_ylim(0, 1.08 * max(max(errors, default=0.0) for errors in runs.values()) or 1.0)
    for (name, errors), colour, style in zip(runs.items(), COLOURS, STYLES, strict=False):
        ax.plot(range(1, len(errors) + 1), errors, f"o{style}", color=colour, lw=1.8, ms=5)
        ends.append((errors[-1], f"{name}  {_said(errors[-1], percent)}", colour))
    ax.set(xlim=(0.8, count + 0.2), xlabel="epoch", ylabel=f"{measured}, online")
    ax.set_xticks(np.unique(np.linspace(1, count, min(count, 10)).round().astype(int)))
    if percent:
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, lw=0.6)
    _name_ends(ax, ends)
    return cast("Figure", ax.figure)
