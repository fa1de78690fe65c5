"""The measured defaults as a page: who wins, and every number."""

from __future__ import annotations

import contextlib
import io
import textwrap
from pathlib import Path
from typing import NamedTuple

from ..machine import machine
from ..markdown import WIDTH, table
from . import sets, wabbit
from .contestants import EVERYBODY, MATCHES, OURS, SHORT
from .running import Found
from .verdicts import CAP, POINTS, RELATIVE, capped, score, tally

JOBS = {
    "fit": "`fit`, then test error",
    "last": "One pass of `partial_fit`, then test error",
    "online": "Streams: every row is answered, then learned",
}


class Section(NamedTuple):
    """A kind of target: its sets, and beside them the raw ones."""

    title: str
    measure: str
    groups: tuple[str, ...]
    raw: tuple[str, ...] = ()  # sets that are judged apart: columns as they came


SECTIONS = [
    Section("Labels", "wrong labels, percent", ("text", "dense", "small", "raw"), tuple(sets.GROUPS["raw"])),
    Section("Label sets", "100 (1 - micro F1)", ("labels",)),
    Section(
        "Numbers", "mean absolute error, percent of the median's", ("numbers",),
        ("abalone.raw", "california.raw"),
    ),
    Section("Rankings", "100 (1 - NDCG@10)", ("queries",)),
]  # fmt: skip


def matches(section: Section, job: str, found: Found) -> list[str]:
    """Each of ours beside its peers: means, wins/ties/losses, and those on raw columns."""
    names = [name for group in section.groups for name in sets.GROUPS[group]]
    lines = []
    for match in (match for match in MATCHES if match.job == job):
        main = score(match, [name for name in names if name not in section.raw], found)
        raw = score(match, list(section.raw), found)
        if main is None:
            continue
        means = [f"{capped(values).mean():.1f}" for values in (main.ours, main.peer)]
        line = [_named(match.ours), match.peer, *means, tally(main.verdicts)]
        lines.append([*line, tally(raw.verdicts) if raw else ""] if section.raw else line)
    heads = ["default of", "peer", "ours", "peer", "w/t/l", *(["raw"] if section.raw else [])]
    return table(heads, lines) if lines else []


def _named(ours: str) -> str:
    """The section says whether it is a classifier: 80 columns are few."""
    return ours.removesuffix("Classifier").removesuffix("Regressor").removesuffix("Ranker")


def numbers(section: Section, job: str, found: Found) -> list[str]:
    """A line per set, a column per contestant, ours first; as many blocks as fit into 80 columns."""
    names = [name for group in section.groups for name in sets.GROUPS[group]]
    names = [name for name in names if any((name, job, who) in found for who in EVERYBODY)]
    text: list[str] = []
    if not names:
        return text
    first = max(len(name) for name in names)
    most = (WIDTH - first) // 6
    there = [one for one in EVERYBODY if any((name, job, one) in found for name in names)]
    sides = [[one for one in there if one in OURS], [one for one in there if one not in OURS]]
    for who in (side[at : at + most] for side in sides for at in range(0, len(side), most)):
        lines = [["set", *(SHORT[one] for one in who)]]
        for name in names:
            got = [found.get((name, job, one)) for one in who]
            lines.append([name, *("-" if g is None else "fails" if g.failed else _cell(g.mean) for g in got)])
        text += ["```text", *(f"{line[0]:<{first}}" + "".join(f"{c:>6}" for c in line[1:]) for line in lines)]
        text += ["```"]
    return text


def _cell(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else ">999"


def failures(found: Found) -> list[str]:
    """What did not end well, of ours."""
    return [
        f"- {who}, {job} on {name}: {outcome.failed[:160]}"
        for (name, job, who), outcome in sorted(found.items())
        if outcome.failed and who in OURS
    ]


def slow(found: Found) -> list[str]:
    """Seconds of `fit` over all sets and splits, and the share that warned of no convergence."""
    lines = []
    for who in EVERYBODY:
        own = [outcome for (_, job, one), outcome in found.items() if one == who and job == "fit"]
        if own:
            runs = sum(len(outcome.values) for outcome in own)
            warned = sum(outcome.warned for outcome in own)
            lines.append([who, f"{sum(o.seconds for o in own):.1f}", f"{100 * warned / max(1, runs):.0f} %"])
    return table(["default of", "seconds of fit", "not converged"], lines) if lines else []


SETTINGS = """
import onmargin as om

KNOBS = "average intercept_scaling max_iter C r confidence a lam rate radius loss regularizer step rule"
LEARNERS = [
    NAMES,
]
for name in LEARNERS:
    known = getattr(om, name)().get_params()
    print(f"{name}:", ", ".join(f"{knob}={known[knob]}" for knob in KNOBS.split() if knob in known))
"""


def _settings() -> list[str]:
    """A block of code and what it prints: the tests of the documents run it again."""
    names = ", ".join(f'"{name}"' for name in OURS if "." not in name)
    code = SETTINGS.strip().replace("NAMES", textwrap.fill(names, 92, subsequent_indent="    "))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    return ["```python", code, "```", "```text", *printed.getvalue().splitlines(), "```"]


def text(found: Found, absent: list[str], said: str) -> str:
    """The whole page."""
    lines = [
        "# Defaults",
        "",
        "What users get who set nothing: every default of ours beside its natural peer's on real",
        "sets. `make defaults` measures and writes this page; nothing in it is chosen by hand.",
        "",
        f"![A dot per set: the difference to the peer; left of the band is better]({FIGURE})",
        "",
        f"- {said}",
        "- Test error: on the given test set, or over random 70/30 splits; three seeds. Streams: three",
        "  orders. One where there are more than a million entries (streams: 10,000 rows, or the order",
        "  is time).",
        "- w/t/l: wins, ties, losses of ours (raw: those on columns as they came, which are not in the",
        f"  means); level is within {POINTS} points of test error, within",
        f"  {100 * RELATIVE:.0f} % of online error. A set counts at most {CAP:.0f} in means, as failures do.",
        "- Columns are standardised by the rows learned from; `.raw`: as they came. Texts: TF-IDF,",
        "  `.counts` word counts; `sms` and `enron` hashed into 2^18 columns (`enron`: rows of",
        "  length 1; `enron.time`: mailbox after mailbox). `mnist`: the first 10,000 rows. `elec2`",
        "  and `enron.time` are streams in their own order.",
        "- sk: scikit-learn; PA1: its SGD with the pa1 rate. River: one against the rest where there",
        "  are several classes, left out where its Python loop would take minutes. scikit-learn's",
        "  streams: blocks of at most a hundredth of the rows seen. VW: Vowpal Wabbit as it comes",
        "  (squared loss, one pass, `fit` too), `--oaa` for several classes. `PairedClassifier` is left",
        "  out where columns times classes are more than a million (a fit takes minutes).",
        *textwrap.wrap(f"- {machine()} {wabbit.version()}.", 96, subsequent_indent="  "),
        "",
    ]
    lines += [f"Absent: {line}" for line in absent] + ([""] if absent else [])
    lines += [
        "These defaults were measured (a test notices when they have changed since):",
        "",
        *_settings(),
        "",
    ]
    for section in SECTIONS:
        for job, title in JOBS.items():
            rows = matches(section, job, found)
            if rows:
                lines += [f"## {section.title}: {title}", "", f"{section.measure}; means.", "", *rows, ""]
    lines += ["## Time and warnings", "", *slow(found), ""]
    if failures(found):
        lines += ["## Failures of ours", "", *failures(found), ""]
    lines += ["# Every number", ""]
    for section in SECTIONS:
        for job, title in JOBS.items():
            blocks = numbers(section, job, found)
            if blocks:
                lines += [f"## {section.title}, {title}", "", f"{section.measure}.", "", *blocks, ""]
    return "\n".join(lines).rstrip() + "\n"


FIGURE = "defaults.svg"


def write(folder: Path, found: Found, absent: list[str], said: str) -> Path:
    """`defaults.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "defaults.md"
    path.write_text(text(found, absent, said), encoding="utf-8")
    return path
