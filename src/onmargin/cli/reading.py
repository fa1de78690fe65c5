"""DATA on the command line: a path, a pipe, or a set by its name; what all commands that read share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..sources.blocks import Source

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A path, a glob, - for standard input, or a set by name.")
]
Format = Annotated[
    str | None,
    typer.Option(help="svmlight, vw, csv, jsonl, parquet or text; by the ending unless given."),
]
Target = Annotated[str | None, typer.Option(help="The column of the target (csv, jsonl, parquet).")]
Text = Annotated[str | None, typer.Option(help="The column that is text (csv, jsonl, parquet).")]
OnError = Annotated[str, typer.Option(help="Lines that cannot be read: stop, or skip and count them.")]


def opened(
    data: str, format: str | None, on_error: str = "stop", labelled: bool = True, **columns: str | None
) -> Source:
    """The source of these words; a file goes before a set of the same name. `labelled`: lines of text are."""
    from ..errors import BadInput
    from ..sources.by_name import format_of, open_source

    options: dict[str, object] = {name: column for name, column in columns.items() if column is not None}
    if on_error != "stop":
        options["on_error"] = on_error
    if data != "-" and format is None and not Path(data).exists():
        from ..sources.blocks import Source
        from ..sources.datasets.catalogue import load, names

        if data in names():
            found = load(data, as_source=True)
            assert isinstance(found, Source)
            return found
    if data == "-" and format is None:
        raise BadInput("standard input has no ending; give --format svmlight, vw, csv, jsonl or text")
    format = format or format_of(data)
    if format == "text" and not labelled:
        options["labelled"] = False
    return open_source(data, format, **options)
