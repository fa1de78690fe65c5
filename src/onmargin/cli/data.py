"""onmargin data: real sets by name: what there is, how to get it, where it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .output import Json, console, json_line, progress

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
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    drawn.add_column("name", no_wrap=True)
    drawn.add_column("task", no_wrap=True)
    for heading in ("rows", "test", "columns", "here"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    drawn.add_column("licence")
    for entry in entries:
        sizes = (f"{size:,}" if size else none for size, none in (
            (entry.rows, ""), (entry.test_rows, "-"), (entry.columns, "text"),
        ))  # fmt: skip
        here = _size(entry.bytes) if entry.is_here else "no"
        licence = entry.licence.partition(" (")[0].partition(",")[0]
        drawn.add_row(entry.name, entry.task.partition(",")[0], *sizes, here, licence)
    console().print(drawn)


@app.command()
def get(name: Name, as_json: Json = False) -> None:
    """Bring a set from its publisher, if it is not here: address, size and licence are shown."""
    from ..sources.datasets.catalogue import entry_of
    from ..sources.datasets.fetching import fetch

    entry = entry_of(name)
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
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A set; the folder of all unless given.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Say where a set lies: its files, one a line, those for testing last."""
    from ..errors import NoFile
    from ..sources.datasets.catalogue import entry_of
    from ..sources.real import folder

    if not name:
        json_line({"folder": str(folder())}) if as_json else print(folder())
        return
    entry = entry_of(name)
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
    units = ("B", "kB", "MB", "GB")
    power = min(len(str(count)) - 1, 9) // 3
    return f"{count / 1000**power:.3g} {units[power]}"
