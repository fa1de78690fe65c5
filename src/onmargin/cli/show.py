"""onmargin show: what a model is, when and on what it was trained, what it has learned."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, cast

import typer

from .learned import brief
from .output import Json, json_line, table
from .predict import plain

MOST_CLASSES = 20  # whose features are shown


def show(
    model: Annotated[str, typer.Argument(help="The model's file.", metavar="MODEL")],
    top: Annotated[int, typer.Option(min=0, help="Features to show for each class.")] = 10,
    as_json: Json = False,
) -> None:
    """Say what MODEL is, when and on what it was trained, and which features speak in it."""
    from ..protocols.requested.portrait import Portrait

    seen = Portrait(model, top)
    facts, trained = seen.facts(), seen.trained()
    if as_json:
        json_line({"file": model, **facts, "trained": trained or None})
        for one in seen.top:
            json_line({"class": plain(one.output), "feature": one.feature, "weight": one.weight})
        return
    print(f"{facts['model']} {_given(seen.parameters)}".rstrip())
    for step in seen.steps:
        print(f"  after {step}")
    for name, value in facts.items():
        if name not in ("model", "parameters", "steps"):
            print(f"  {name.replace('_', ' '):<16} {_said(value)}")
    for name, value in _plainly(trained).items():
        print(f"  {name:<16} {_said(value)}")
    if seen.top:
        outputs = [(name, list(lines)) for name, lines in groupby(seen.top, lambda one: one.output)]
        rows = [
            (brief(name), str(one.feature), f"{one.weight:+.6g}")
            for name, lines in outputs[:MOST_CLASSES]
            for one in lines
        ]
        table(("for", "feature", "weight"), rows, words=2)
        if len(outputs) > MOST_CLASSES:
            print(f"and {len(outputs) - MOST_CLASSES} classes more; --json has all")


def _plainly(trained: dict[str, object]) -> dict[str, object]:
    """Without what says nothing (0 lines skipped, all passes finished); each pass by its outcome."""
    found = dict(trained)
    passes = found.pop("earlier", None) or []
    if found.get("finished") == found.get("passes"):
        found.pop("finished", None)
    if not found.get("skipped"):
        found.pop("skipped", None)
    versions = found.pop("versions", None)
    for word in ("error", "mae", "ndcg", "loss"):
        outcomes = [one[word] for one in cast("list[dict[str, float]]", passes) if word in one]
        if outcomes:
            found[f"online {word}"] = outcomes
    return found if versions is None else {**found, "versions": versions}


def _given(parameters: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in parameters.items())


def _said(value: object) -> str:
    """On one line of a log."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        some = ", ".join(_said(plain(one)) for one in value[:12])
        return f"{some}, ... ({len(value)})" if len(value) > 12 else some
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
