"""onmargin data: real sets by name: what there is, how to get it, where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, json_line, progress, table

if TYPE_CHECKING:
    from ..sources.datasets.catalogue import Entry

app = typer.Typer(no_args_is_help=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name of 'onmargin data list'.")]


@app.callback()
def _top() -> None:
    """Real sets by name: list them, get them, or say where they lie (the folder that ONMARGIN_DATA names)."""


@app.command("list")
def list_sets(
    containing: Annotated[str, typer.Argument(help="Only names that contain this.")] = "",
    as_json: Json = False,
) -> None:
    """List the sets: task, size, licence, and whether they are here."""
    from ..sources.datasets.catalogue import names

    entries = [entry for entry in names().values() if containing in entry.name]
    if as_json:
        for entry in entries:
            json_line(_facts(entry))
        return
    headings = ("name", "task", "licence", "rows", "test", "columns", "here")
    table(headings, ([
        entry.name, entry.task, entry.licence, f"{entry.rows:,}", f"{entry.test_rows:,}" if entry.test_rows else "-",
        f"{entry.columns:,}" if entry.columns else "text", _size(entry.bytes) if entry.is_here else "no",
    ] for entry in entries), words=3)  # fmt: skip


@app.command()
def get(name: Name, as_json: Json = False) -> None:
    """Bring a set from its publisher, if it is not here: address, size and licence are shown."""
    from ..sources.datasets.catalogue import _entry
    from ..sources.datasets.fetching import fetch

    entry = _entry(name)
    before = entry.is_here
    with progress() as tell:
        paths = fetch(name, tell)
    facts = {**_facts(entry), "fetched": not before, "paths": [str(path) for path in paths]}
    if as_json:
        json_line(facts)
        return
    print(f"{name}: {'was here' if before else 'fetched, checksums are right'}, {_size(entry.bytes)}")
    print(f"from: {facts['from']}\nlicence: {entry.licence}")
    for path in paths:
        print(path)


@app.command()
def path(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A set; the folder of all unless given.")] = "",
    as_json: Json = False,
) -> None:
    """Say where a set lies: its files, one a line, those for testing last."""
    from ..errors import NoFile
    from ..sources.datasets.catalogue import _entry
    from ..sources.real import folder

    if not name:
        json_line({"folder": str(folder())}) if as_json else print(folder())
        return
    entry = _entry(name)
    if not entry.is_here:
        raise NoFile(f"{name} is not in {folder()}; see 'onmargin data get {name}', or set ONMARGIN_DATA")
    paths = [str(folder() / file) for file in (*entry.files, *entry.test_files)]
    if as_json:
        json_line({"name": name, "paths": paths})
        return
    print("\n".join(paths))


def _facts(entry: Entry) -> dict[str, object]:
    from ..sources.datasets.fetching import comes_from

    return {
        "name": entry.name, "task": entry.task, "rows": entry.rows, "test_rows": entry.test_rows,
        "columns": entry.columns, "classes": entry.classes, "licence": entry.licence, "about": entry.about,
        "from": comes_from(entry), "here": entry.is_here, "bytes": entry.bytes,
    }  # fmt: skip


def _size(count: int) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count = round(count / 1000, 1)  # type: ignore[assignment]
    return f"{count:.3g} GB"
