"""Items and labels as lines of JSON, in the styles of doccano, of Prodigy and of our own; in and out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...errors import BadInput, shown
from .acts import ANSWER, Act
from .items import Item, New

STYLES = ("plain", "doccano", "prodigy")
LABELS = ("label", "labels", "accept", "y")  # names under which a label may stand
ABOUT = ("id", "meta", "answer", "options", "key", "Comments", "cats", "spans")  # kept, and never learned
HIDDEN = "_"  # names that begin with it belong to whoever wrote the file (Prodigy's hashes)


class Line(NamedTuple):
    """An item from a file, with its label where it has one."""

    new: New
    label: str | int | float | None = None
    skipped: bool = False


def read(lines: Iterable[str], check: Callable[[Line], None] = lambda line: None) -> Iterator[Line]:
    """Lines of JSON of any of the styles; empty ones are passed over, a bad one is named by its number.

    check : refuses what could not be taken for other reasons.
    """
    for number, text in enumerate(lines, 1):
        if text.strip():
            try:
                found = line(json.loads(text))
                check(found)
                yield found
            except (json.JSONDecodeError, RecursionError):
                raise BadInput(f"line {number} is not JSON ({shown(text[:60])}); nothing was taken") from None
            except BadInput as error:
                why = str(error).removesuffix("; nothing was learned")
                raise BadInput(f"line {number}: {why}; nothing was taken") from None


def line(given: object) -> Line:
    """One item: {"text": ...}, {"x": ...} or an object of names and values; and a label, if there is one."""
    if isinstance(given, str):
        return Line(New(given))
    if not isinstance(given, dict):
        raise BadInput(f"got {shown(given)}; wanted an object such as {{'text': '...'}}")
    answer = given.get("answer", "accept")
    label = None if answer != "accept" else _label(given)
    about = {name: value for name, value in given.items() if name in ABOUT or name.startswith(HIDDEN)}
    return Line(New(_content(given), about, _key(given)), label, answer == "ignore")


def _content(given: dict[str, object]) -> object:
    if isinstance(given.get("text"), str):
        return given["text"]
    if "x" in given:
        return given["x"]
    apart = {*LABELS, *ABOUT}
    named = {
        name: value
        for name, value in given.items()
        if name not in apart and not name.startswith(HIDDEN) and value is not None
    }
    if not named:
        raise BadInput("it has neither a text nor any values")
    return named


def _key(given: dict[str, object]) -> str | None:
    key = given.get("key")
    return key if isinstance(key, str) else None


def _label(given: dict[str, object]) -> str | int | float | None:
    found = next((given[name] for name in LABELS if given.get(name) not in (None, [], "")), None)
    if isinstance(found, list):
        if len(found) > 1:
            raise BadInput(f"it has the labels {shown(found)}; wanted one")
        found = found[0]
    if isinstance(found, dict) and isinstance(found.get("text"), str):  # (doccano's with names)
        found = found["text"]
    if found is not None and (not isinstance(found, str | int | float) or isinstance(found, bool)):
        raise BadInput(f"its label is {shown(found)}; wanted a word or a number")
    return found


def written(answers: Iterable[tuple[Item, Act]], style: str, labels: Iterable[object]) -> Iterator[str]:
    """A line for every item that was answered (Prodigy's: or skipped), in a style."""
    if style not in STYLES:
        raise BadInput(f"style={shown(style)}; wanted one of {', '.join(STYLES)}")
    options = [{"id": label, "text": str(label)} for label in labels]
    for item, act in answers:
        if style != "prodigy" and act.what != ANSWER:
            continue
        yield json.dumps(_STYLED[style](item, act, options), ensure_ascii=False) + "\n"


def _named(item: Item) -> dict[str, object]:
    return {"text": item.x} if isinstance(item.x, str) else {"x": item.x}


def _plain(item: Item, act: Act, options: object) -> dict[str, object]:
    return {**_named(item), "label": act.label, "item": item.number, "who": act.who, "at": round(act.at, 3)}


def _doccano(item: Item, act: Act, options: object) -> dict[str, object]:
    return {"id": item.number, **_named(item), "label": [act.label]}


def _prodigy(item: Item, act: Act, options: object) -> dict[str, object]:
    meta = item.about.get("meta")
    answer: dict[str, object] = {"answer": "ignore"}
    if act.what == ANSWER:
        answer = {"accept": [act.label], "answer": "accept"}
    return {
        **_named(item), "options": options, **answer,
        "meta": {**(meta if isinstance(meta, dict) else {}), "item": item.number},
        "_annotator_id": act.who, "_timestamp": int(act.at),
    }  # fmt: skip


_STYLED = {"plain": _plain, "doccano": _doccano, "prodigy": _prodigy}
