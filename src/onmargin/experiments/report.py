"""The page of `onmargin reproduce`: experiments with figure, table, claims and verdict, in one file."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import __version__
from ..results.report import STYLE as PLAIN
from ..sources.datasets.catalogue import names
from .experiment import Experiment, versions
from .outcome import Claim, Outcome
from .running import Result

STYLE = f"""{PLAIN}
body {{ max-width: 68rem; }} section {{ border-top: 1px solid #ccc; margin-top: 2.5rem; }}
dl {{ display: grid; grid-template-columns: 8rem 1fr; gap: .3rem 1rem; }}
dt {{ color: #555; }} dd {{ margin: 0; }}
img {{ max-width: 100%; height: auto; }} ul.claims {{ list-style: none; padding: 0; }}
.holds {{ color: #00664b; }} .fails, .broke {{ color: #b03a00; font-weight: 600; }} .not {{ color: #775500; }}
table.numbers {{ font-size: .85rem; }} table.numbers td, table.numbers th {{ white-space: nowrap; }}
a {{ color: inherit; }}
"""
MARKS = {"holds": "✓ holds", "fails": "✗ fails", "broke": "✗ broke", "not run": "not run"}


def page(results: Sequence[Result], folder: Path) -> str:
    """All of it as text; figures are those that lie in the folder."""
    experiments = [Experiment(result.name, result.quick) for result in results]
    pairs = list(zip(experiments, results, strict=True))
    body = [
        "<h1>The papers' experiments, run again</h1>",
        f'<p class="said">{_said(results)}</p>',
        _overview(pairs),
        *(_section(experiment, result, folder) for experiment, result in pairs),
        "<section><h2>Made with</h2>",
        _table([["onmargin", __version__], *([name, text] for name, text in versions().items())]),
        "</section>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>onmargin: the papers' experiments</title>\n<style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _said(results: Sequence[Result]) -> str:
    """The whole in one sentence."""
    claims = [claim for result in results if result.outcome is not None for claim in result.outcome.claims]
    held = sum(claim.holds for claim in claims)
    ran = [result for result in results if result.outcome is not None]
    said = f"{len(ran)} of {len(results)} experiments were run; {held} of {len(claims)} claims hold."
    if any(result.quick for result in results):
        said += (
            " This was the quick run: fewer repetitions or rounds; tolerances are wider where they say so."
        )
    return said


def _overview(pairs: Sequence[tuple[Experiment, Result]]) -> str:
    rows = []
    for experiment, result in pairs:
        claims = result.outcome.claims if result.outcome is not None else []
        held = f"{sum(claim.holds for claim in claims)} of {len(claims)}" if claims else ""
        seconds = f"{result.seconds:.0f} s" if result.outcome is not None else ""
        rows.append(
            f'<tr><td><a href="#{result.name}">{result.name}</a></td><td>{_safe(experiment.line)}</td>'
            f"<td>{_mark(result.verdict)}</td><td>{held}</td><td>{seconds}</td></tr>"
        )
    head = "<tr><th>experiment</th><th>what it is</th><th>verdict</th><th>claims</th><th>took</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(rows)}</table></div>'


def _section(experiment: Experiment, result: Result, folder: Path) -> str:
    outcome = result.outcome
    title = experiment.name if outcome is None else outcome.title
    facts = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in _facts(experiment))
    parts = [f'<section id="{experiment.name}"><h2>{_safe(title)}</h2>', f"<dl>{facts}</dl>"]
    if outcome is None:
        why = result.missing or result.broke.strip().splitlines()[-1]
        parts.append(f"<p>{_mark(result.verdict)}: {_safe(why)}</p>")
    else:
        parts += [_image(folder / name, title) for name in result.files if not name.endswith(".svg")]
        parts.append(f'<div class="wide">{_numbers(outcome)}</div>')
        parts.append(f'<ul class="claims">{"".join(map(_claim, outcome.claims))}</ul>')
        if result.warned:
            parts.append(f'<p class="said">While it ran: {_safe("; ".join(result.warned))}.</p>')
        parts.append(f"<p>Verdict: {_mark(result.verdict)}.</p>")
    return "\n".join([*parts, "</section>"])


def _facts(experiment: Experiment) -> Iterator[tuple[str, str]]:
    yield "answers", _safe(experiment.text("ANSWERS"))
    yield "protocol", _safe(experiment.text("PROTOCOL"))
    known = names()
    told = [f"{name} ({known[name].about}; {known[name].licence})" for name in experiment.data]
    yield "data", _safe("; ".join(told) if told else "generated")
    if experiment.text("STAND_IN"):
        yield "stand-in", _safe(experiment.text("STAND_IN"))
    yield "repetitions", f"{experiment.seeds}{' (quick)' if experiment.quick else ''}; mean ± deviation"
    short = " --quick" if experiment.quick else ""
    yield "again", f"<code>onmargin reproduce {experiment.name}{short}</code>"


def _image(path: Path, title: str) -> str:
    kind = path.suffix.removeprefix(".")
    data = b64encode(path.read_bytes()).decode("ascii")
    return f'<p><img alt="{_safe(title)}: {_safe(path.stem)}" src="data:image/{kind};base64,{data}"></p>'


def _numbers(outcome: Outcome) -> str:
    head, *lines = outcome.words()
    return _table(lines, head, "numbers")


def _table(rows: Sequence[Sequence[str]], head: Sequence[str] = (), kind: str = "") -> str:
    top = f"<tr>{''.join(f'<th>{_safe(word)}</th>' for word in head)}</tr>" if head else ""
    lines = "".join("<tr>" + "".join(f"<td>{_safe(word)}</td>" for word in row) + "</tr>" for row in rows)
    return f'<table class="{kind}">{top}{lines}</table>'


def _claim(claim: Claim) -> str:
    return f"<li>{_mark('holds' if claim.holds else 'fails')}: {_safe(claim.text)}</li>"


def _mark(verdict: str) -> str:
    return f'<span class="{verdict.split()[0]}">{MARKS[verdict]}</span>'


def _safe(text: str) -> str:
    return html.escape(text)
