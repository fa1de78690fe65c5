"""The figure: for every default a dot per set, how far it is from its peer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from ..figure import INK
from . import sets
from .contestants import MATCHES, OURS
from .running import Found
from .verdicts import POINTS, RELATIVE, Score, capped, score, tally

COLOURS = {"win": "#1b7f5c", "tie": "#9aa5b1", "loss": "#d1694f"}
TITLES = {
    "fit": "fit: test error, points",
    "last": "one pass: test error, points",
    "online": "streams: online error, percent",
}
LIMIT = {"fit": 30.0, "last": 30.0, "online": 100.0}


def draw(path: Path, found: Found) -> None:
    """Three panels, a line per default, against its first peer in the list."""
    names = sets.names()
    table = {job: _first_scores(job, names, found) for job in TITLES}
    table = {job: scores for job, scores in table.items() if scores}
    if not table:
        return
    rows = [who for who in OURS if any(who in scores for scores in table.values())]
    plt.rcParams["svg.hashsalt"] = "defaults"  # the same numbers, the same file
    figure, panels = plt.subplots(
        1, len(table), figsize=(4.6 * len(table) + 2, 0.42 * len(rows) + 1.3), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    said = "A dot is a set, the bar their median, the band is level; wins/ties/losses against the peer named."
    figure.suptitle(said, x=0.01, ha="left", fontsize=9, color=INK)
    for panel, (job, scores) in zip(panels[0], table.items(), strict=True):
        _panel(panel, job, rows, scores)
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def _first_scores(job: str, names: list[str], found: Found) -> dict[str, Score]:
    scores: dict[str, Score] = {}
    for match in MATCHES:
        if match.job == job and match.ours not in scores:
            met = score(match, names, found)
            if met is not None:
                scores[match.ours] = met
    return scores


def _differences(met: Score) -> np.ndarray:
    ours, peer = capped(met.ours), capped(met.peer)
    away = 100.0 * (ours - peer) / np.maximum(peer, 1e-9) if met.match.job == "online" else ours - peer
    return np.asarray(np.clip(away, -LIMIT[met.match.job], LIMIT[met.match.job]))


def _panel(panel: Any, job: str, rows: list[str], scores: dict[str, Score]) -> None:
    level = 100 * RELATIVE if job == "online" else POINTS
    panel.axvspan(-level, level, color="#eef1f4", zorder=0)
    panel.axvline(0.0, color=INK, lw=0.8, zorder=1)
    rng = np.random.default_rng(0)
    for y, who in enumerate(rows):
        if who not in scores:
            continue
        met = scores[who]
        away = _differences(met)
        colours = [COLOURS[word] for word in met.verdicts]
        panel.scatter(
            away, y + rng.uniform(-0.22, 0.22, len(away)), s=17, c=colours, alpha=0.8, lw=0, zorder=3
        )
        panel.plot([np.median(away)] * 2, [y - 0.34, y + 0.34], color=INK, lw=1.8, zorder=4)
        said = f"{met.match.peer}  {tally(met.verdicts)}"
        panel.text(1.0, y - 0.42, said, ha="right", va="center", fontsize=6.5, color=INK,
                   transform=panel.get_yaxis_transform(), zorder=5)  # fmt: skip
    panel.set_xscale("symlog", linthresh=level, linscale=0.4)
    panel.set_xlim(-1.15 * LIMIT[job], 1.15 * LIMIT[job])
    ticks = (-100, -30, -10, 0, 10, 30, 100) if job == "online" else (-30, -10, -3, -1, 0, 1, 3, 10, 30)
    panel.set_xticks(ticks, [f"{tick:+d}" if tick else "0" for tick in ticks], fontsize=8)
    panel.minorticks_off()
    panel.set_yticks(range(len(rows)), rows, fontsize=9)
    panel.set_ylim(len(rows) - 0.4, -0.75)
    panel.set_title(TITLES[job], loc="left", fontsize=10, color=INK)
    panel.set_xlabel("better than the peer  |  worse", fontsize=8, color=INK)
    panel.tick_params(length=0, colors=INK)
    panel.grid(axis="y", color="#e5e8ec", zorder=0)
    for side in panel.spines.values():
        side.set_visible(False)
