"""onmargin serve: learners that are always on, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

HELP = """Serve models over HTTP: every acknowledged label is durable, and a page asks for those that matter.

Everything lies in one folder. Beyond loopback the environment must have ONMARGIN_TOKEN (and may have
ONMARGIN_READ_TOKEN, which may only read and predict)."""


def serve(
    dir: Annotated[Path, typer.Option("--dir", help="The folder of the server; made where it is not there.")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0: any that is free.", min=0, max=65535)] = 8000,
    verify: Annotated[
        bool, typer.Option("--verify", help="Do not serve: replay the journal and compare, bit for bit.")
    ] = False,
    journal: Annotated[
        str | None, typer.Option(help="postgresql://...: the journal is there. [SQLite in the folder]")
    ] = None,
    snapshot_every: Annotated[int, typer.Option(help="Examples between two snapshots of a model.")] = 100_000,
    keep_days: Annotated[
        float | None, typer.Option(help="Compact what is older, up to a snapshot. [keep all]")
    ] = None,
    keep_megabytes: Annotated[
        float | None, typer.Option(help="Compact what is more, up to a snapshot. [keep all]")
    ] = None,
    prediction_hours: Annotated[
        float, typer.Option(help="How long a prediction waits for a late label; 0: not at all.")
    ] = 24.0,
    pages: Annotated[bool, typer.Option(help="Pages for people: dashboard, labelling.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="With --verify: a line of JSON a model.")] = False,
) -> None:
    from ..errors import BadFile, extra

    try:
        from ..server.serving import serve as run
        from ..server.settings import Settings
    except ImportError as error:
        raise extra((error.name or "a package").partition(".")[0], "server") from None
    settings = Settings(
        journal=journal, snapshot_every=snapshot_every, keep_days=keep_days, keep_megabytes=keep_megabytes,
        prediction_hours=prediction_hours,
    )  # fmt: skip
    if not verify:
        run(
            dir,
            settings,
            host,
            port,
            lambda url: print(f"onmargin serves {dir} at {url}", flush=True),
            pages=pages,
        )
        return
    from ..server.service import Service

    if not dir.is_dir():
        raise BadFile(f"{dir} does not exist; wanted the folder of a server")
    service = Service(dir, settings)
    try:
        wrong = 0
        for found in service.verify():
            wrong += bool(found.wrong)
            if as_json:
                print(json.dumps(found._asdict()), flush=True)
                continue
            told = "; ".join(found.wrong) or f"{_some(found.compared, 'comparison')}, all bit for bit"
            print(f"{found.model}: {_some(found.rounds, 'round')} replayed; {told}", flush=True)
    finally:
        service.close()
    if wrong:
        raise BadFile(f"of {_some(wrong, 'model')} the journal says something else")


def _some(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


serve.__doc__ = HELP
