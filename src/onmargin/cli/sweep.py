"""onmargin sweep: many values of the parameters, one pass over the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, console, json_line, table
from .parameters import parameters
from .reading import Data, Format, OnError, Target, Text, opened

if TYPE_CHECKING:
    from ..results.sweep_result import SweepResult

FIGURES = (".png", ".svg", ".pdf")


def sweep(
    ctx: typer.Context,
    data: Data,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", "-a", help="A name of 'onmargin algorithms', or a family.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classes, numbers or queries; found from the targets unless given.")
    ] = None,
    scoring: Annotated[
        str | None, typer.Option(help="What to judge by: error_rate, mae, ndcg; auc, f1, ...")
    ] = None,
    figure: Annotated[str | None, typer.Option(help="Draw the outcome: a .png, .svg or .pdf file.")] = None,
    save: Annotated[str | None, typer.Option(help="Write the best model to this file.")] = None,
    format: Format = None,
    target: Target = None,
    text: Text = None,
    on_error: OnError = "stop",
    threads: Annotated[int | None, typer.Option(help="How many at once; one per core unless given.")] = None,
    as_json: Json = False,
) -> None:
    """Try many values of parameters in one pass over the data.

    Every other option is a parameter of the algorithm with the values to try: a range -C 1e-4..1e2:32 (32
    values, evenly in their logarithms), a list --step pa1,pa2, or one value.
    """
    from ..errors import BadInput
    from ..protocols.files import save as write
    from ..protocols.naming import named, task_of
    from ..protocols.ranges import spread
    from ..protocols.sweep import sweep as learn_all

    if figure is not None and Path(figure).suffix not in FIGURES:
        raise BadInput(f"--figure {figure}: wanted a name ending in {', '.join(FIGURES)}")
    values = {name: spread(typed) for name, typed in parameters(ctx).items()}
    grid = {name: some for name, some in values.items() if len(some) > 1}
    if not grid:
        raise BadInput("there is nothing to try; wanted several values of a parameter, as in -C 1e-4..1e2:32")
    source = opened(data, format, on_error, target=target, text=text)
    block = source.whole()
    task = task or task_of(block.targets, block.groups)
    chosen = named(algorithm, task, {name: some[0] for name, some in values.items()})
    model = chosen.model
    if "growing" in model.get_params(deep=False):  # all is there: fixed sizes, many models in one stretch
        model = model.set_params(growing=False)
    groups = block.groups if task == "queries" else None
    result = learn_all(
        model, grid, block.rows, block.targets, qid=groups, sample_weight=block.weights,
        scoring=scoring, threads=threads, verbose=int(console(stderr=True).is_terminal),
    )  # fmt: skip
    _tell(result, {"algorithm": chosen.name, "task": task, "skipped": source.skipped}, as_json)
    if figure is not None:
        Path(figure).parent.mkdir(parents=True, exist_ok=True)
        result.plot().savefig(figure, dpi=150)
        json_line({"figure": figure}) if as_json else print(f"figure: {figure}")
    if save is not None:
        best = result.best_model
        if source.features is not None:
            from sklearn.pipeline import Pipeline

            best = Pipeline([("features", source.features), ("model", best)])
        write(best, save)
        json_line({"saved": save}) if as_json else print(f"best model: {save}")


def _tell(result: SweepResult, facts: dict[str, object], as_json: bool) -> None:
    best = result.rows[result.best_index]
    if as_json:
        for row in result.rows:
            json_line(row)
        json_line({"best": result.best_params, result.criterion: best[result.criterion], **facts})
        return
    headings = [name for name in result.rows[0] if name != "rounds"]
    lines = []
    for number, row in enumerate(result.rows):
        mark = "* " if number == result.best_index else ""
        lines.append([_short(row[name]) if name != result.criterion else mark + _short(row[name]) for name in headings])
    table([name.replace("_", " ") for name in headings], lines, words=0)
    said = ", ".join(f"{name}={_short(value)}" for name, value in result.best_params.items())
    task, skipped = facts["task"], facts["skipped"]
    print(f"best of {len(result.rows)}: {said} ({facts['algorithm']}, {task}), {result.criterion} "
          f"{best[result.criterion]:.5g} online over {best['rounds']:,} examples")  # fmt: skip
    if skipped:
        print(f"skipped: {skipped:,} lines that could not be read")


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
