"""What is known of one model, as panels: numbers, error over rounds, top features, confusions."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..bound import LossAndBound
from .charts import Line, amount, bars, chart, confusion, percent

Json = Mapping[str, Any]
SECONDS = 10.0  # over which the pace is measured
FEATURES = 8  # shown for each model


class Pace:
    """Labels a second, by what a page saw of late."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, rounds: int, at: float | None = None) -> float:
        """So many there are now; how many came a second."""
        now = time.monotonic() if at is None else at
        self._seen.append((now, rounds))
        while now - self._seen[0][0] > SECONDS:
            self._seen.popleft()
        began, before = self._seen[0]
        return max(0.0, (rounds - before) / (now - began)) if now > began else 0.0


def numbers(state: Json, recent: int, pace: float) -> str:
    """The figures in front."""
    labels, asked = int(state["rounds"]), int(state.get("queries", 0))
    late = min(recent, labels)
    if state["task"] in ("classes", "sets"):
        error = state["error"]
        first = _fact("Error of late", percent(state["recent"] if labels else None), f"last {late:,}")
        second = _fact("Error overall", percent(error), f"{state['mistakes']:,} of {labels:,}")
    else:
        first = _fact("Miss of late", amount(state["recent"]) if labels else "–", f"mean, last {late:,}")
        second = _fact("Loss", amount(state["loss"]), "in all")
    third = _fact("Labels used", f"{labels:,}", f"{asked:,} asked for")
    fourth = _fact("Pace", f"{amount(pace)} /s", "labels learned")
    drifts = state["drifts"]
    fifth = _fact("Drift", f"{len(drifts):,}", f"last at {drifts[-1]:,}" if drifts else "no alarm")
    return f'<dl class="facts">{first}{second}{third}{fourth}{fifth}</dl>'


def _fact(name: str, value: str, note: str) -> str:
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"


def errors(state: Json, history: Json, recent: int) -> str:
    """Progressive error: every example was answered before its label was used."""
    points = history["points"]
    at = [point["rounds"] for point in points]
    late = Line(f"last {recent:,}", at, [point["recent"] for point in points])
    if state["task"] in ("classes", "sets"):
        overall = Line("overall", at, [point["mistakes"] / point["rounds"] for point in points], "two")
        return chart(
            "Progressive error", [late, overall], marks=history["drifts"], mark="drift alarms",
            caption="Every example is answered before its label is used." if at else "No label yet.",
        )  # fmt: skip
    mean = Line("mean loss", at, [point["loss"] / point["rounds"] for point in points], "two")
    return chart("Progressive miss", [late, mean], shares=False, marks=history["drifts"], mark="drift alarms")


def loss(found: LossAndBound) -> str:
    """What it suffered so far, and what its theorem allows."""
    step = max(1, len(found.left) // 300)
    at = [*range(step, len(found.left), step), len(found.left)] if found.left else []
    lines = [
        Line(f"{found.counts} so far".replace("^2", "²"), at, [found.left[n - 1] for n in at]),
        Line("bound", at, [found.right[n - 1] for n in at], "two"),
    ]
    words = found.words[:1].upper() + found.words[1:] + "."
    return chart("Loss against its bound", lines, shares=False, caption=words)


def features(found: Sequence[Json], task: str = "classes") -> str:
    """What weighs most, and for which answer."""
    several = len({row["class"] for row in found}) > 1
    best = sorted(found, key=lambda row: -abs(row["weight"]))[:FEATURES]
    rows = [
        (
            f"{row['feature']} → {row['class']}" if several else str(row["feature"]),
            row["weight"],
            _signed(row),
        )
        for row in best
    ]
    if not rows:
        return bars("Top features", rows, "None yet, or this learner has no weights to name.")
    if task not in ("classes", "sets"):
        return bars("Top features", rows, "+ raises the answer, − lowers it.")
    side = "its class" if several else str(best[0]["class"])
    return bars("Top features", rows, f"+ speaks for {side}, − against it.")


def _signed(row: Json) -> str:
    return f"{row['weight']:+.3g}".replace("-", "−")


def confusions(found: Json) -> str:
    """Who was taken for whom."""
    counts: dict[tuple[str, str], int] = {}
    for truth, guess, count in found["pairs"]:
        pair = str(truth), "none" if guess is None else str(guess)
        counts[pair] = counts.get(pair, 0) + count
    return confusion(found["classes"], counts)
