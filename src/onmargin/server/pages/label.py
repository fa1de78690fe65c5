"""The page where people label: the item that is worth most, one key a class, skip, undo, back."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable
from functools import partial
from html import escape
from typing import NamedTuple

from nicegui import run, ui
from nicegui.events import GenericEventArguments

from ...errors import OnmarginError
from ..labelling.queue import Question, Queue
from ..labelling.standing import Standing
from .charts import Line, chart
from .showing import shown
from .theme import page, tag

SKIP, UNDO, BACK, FORWARD = "s", "u", "ArrowLeft", "ArrowRight"
TOOLS = ((BACK, "Back", "←"), (SKIP, "Skip", "S"), (UNDO, "Undo", "U"), (FORWARD, "Forward", "→"))
WORD = 12  # characters of a label up to which five stand side by side
EVERY = 1.5  # seconds between two looks at what others do


class Looked(NamedTuple):
    """What a page needs to know of the queue at once."""

    question: Question | None
    keys: dict[str, object]
    standing: Standing


class LabelPage:
    """One browser's view of a queue. All that happens comes as (key, item that was on the screen)."""

    def __init__(self, queue: Queue, name: str, who: str, origin: str) -> None:
        self._queue, self._name, self._who, self._busy = queue, name, who, Lock()
        self._origin = origin  # the server, as this browser knows it
        self._question: Question | None = None
        self._is_past = False  # looking back at an item of before?
        self._keys: dict[str, object] = {}  # on the screen, with their labels
        self._seen: Standing | None = None
        self._stop = False  # was it said that it is time to?

    def build(self) -> None:
        """The page, empty; its first question comes by itself."""
        crumbs = [("Models", "/"), (self._name, f"/models/{self._name}"), ("Label", None)]
        with page(f"Label for {self._name}", crumbs):
            tag("h1", f"Label for {escape(self._name)}", "unseen")
            with ui.element("div").classes("desk"):
                with ui.element("section").classes("stack").props('aria-label="Item"'):
                    self._item = tag(
                        "article", _SOON, "card item", aria_live="polite", aria_label="Item to label"
                    )
                    self._guess = tag("p", "", "soft small numbers")
                    self._answers = (
                        ui.element("div").classes("answers").props('role=group aria-label="Labels"')
                    )
                    self._more = tag("div")
                    self._tools = tag("div", _tools(), "tools", role="group", aria_label="Tools")
                    self._status = tag("p", "", "status", role="status")
                with ui.element("aside").classes("stack").props('aria-label="Progress"'):
                    self._verdict = tag("div", "", "card")
                    self._curve = tag("div", "", "card")
                    self._budget = tag("div", "", "card")
                    tag("div", _doors(self._name), "card")
        ui.on("onmargin-key", self._pressed)
        ui.on("onmargin-new", self._named)
        ui.on("onmargin-budget", self._planned)
        ui.on("onmargin-imported", self._go_on)
        ui.timer(0.01, self._go_on, once=True)
        ui.timer(EVERY, self._look_around)

    # ---- what a person does

    async def _pressed(self, event: GenericEventArguments) -> None:
        key, item = str(event.args.get("key")), event.args.get("item")
        async with self._busy:
            question = self._question
            number = None if question is None else question.item.number
            if item != number:
                return  # it was meant for what is no longer on the screen
            if key == UNDO:
                await self._undo()
            elif key in (BACK, FORWARD):
                await self._move(-1 if key == BACK else 1)
            elif number is None:
                return  # all is done: it may be looked at and taken back, and that is all
            elif key == SKIP:
                await self._do(partial(self._queue.skip, self._who, number), "skipped")
            elif key in self._keys:
                label = self._keys[key]
                await self._do(partial(self._queue.answer, self._who, number, label), f"{label}")

    async def _named(self, event: GenericEventArguments) -> None:
        label = str(event.args.get("label", "")).strip()
        async with self._busy:
            question = self._question
            if question is not None and label and event.args.get("item") == question.item.number:
                number = question.item.number
                await self._do(lambda: self._queue.answer(self._who, number, label), label)

    async def _do(self, act: Callable[[], object], word: str) -> None:
        """An answer or a skip, then the next question."""
        number = self._question.item.number if self._question is not None else -1
        try:
            await run.io_bound(act)
            self._say(f"Item {number}: {word}.")
        except OnmarginError as error:
            self._say(str(error), wrong=True)
        await self._next()

    async def _undo(self) -> None:
        try:
            number = await run.io_bound(self._queue.undo, self._who)
            self._say(f"Item {number}: taken back. Answer it again, or skip it.")
        except OnmarginError as error:
            self._say(str(error), wrong=True)
        await self._next()

    async def _move(self, by: int) -> None:
        """Back through what this person did, and forward to the question that waits."""
        past = await run.io_bound(self._queue.history, self._who) or []
        number = self._question.item.number if self._question is not None and self._is_past else None
        place = (past.index(number) if number in past else len(past)) + by
        if place < 0:
            self._say("This is the first item you labelled.")
        elif place >= len(past):
            self._say("")
            await self._next()
        else:
            found = await run.io_bound(self._looked_up, partial(self._queue.look, past[place]))
            if found is not None:
                self._is_past = True
                self._say(f"Back at item {past[place]}: a key changes its label, → goes forward.")
                self._show(*found)

    async def _planned(self, event: GenericEventArguments) -> None:
        given = str(event.args.get("value", "")).strip()
        try:
            self._queue.plan(int(given) if given else None)
            self._say(f"The budget is {int(given):,} labels." if given else "There is no budget now.")
        except OnmarginError as error:
            self._say(str(error), wrong=True)
        except ValueError:
            self._say(f"A budget of {given[:20]} labels; wanted a whole number.", wrong=True)
        await self._look_around()

    # ---- what is shown

    async def _go_on(self) -> None:
        async with self._busy:
            await self._next()
        await self._look_around()

    async def _next(self) -> None:
        self._is_past = False
        try:
            found = await run.io_bound(self._looked_up, partial(self._queue.ask, self._who))
            if found is not None:  # (it is where the server stops)
                self._show(*found)
        except OnmarginError as error:
            self._say(str(error), wrong=True)
        await self._progress()

    def _looked_up(self, ask: Callable[[], Question | None]) -> Looked:
        """All that waits for others who use the queue: in a thread, so that no other page waits with it."""
        return Looked(ask(), self._queue.keys(), self._queue.standing())

    async def _look_around(self) -> None:
        """Others label, items come in, and advice takes some time."""
        if self._question is None and not self._busy.locked():
            async with self._busy:
                await self._next()
        await run.io_bound(self._queue.advise)
        await self._progress()

    def _show(self, question: Question | None, keys: dict[str, object], standing: Standing) -> None:
        self._question = question
        if question is None:
            self._item.set_content(self._nothing(standing))
            self._item.props(remove="data-item")
            self._guess.set_content("")
        else:
            self._item.set_content(shown(question.item))
            self._item.props["data-item"] = question.item.number
            self._guess.set_content(_said(question))
        for part in (self._answers, self._more):
            part.set_visibility(question is not None)
        self._tools.set_visibility(bool(standing.items))
        self._buttons(question, keys)
        self._item.props["data-known"] = " ".join([*keys, SKIP, UNDO, BACK, FORWARD])
        self._item.update()

    def _buttons(self, question: Question | None, keys: dict[str, object]) -> None:
        if list(keys.items()) != list(self._keys.items()) or not self._answers.default_slot.children:
            self._keys = keys
            self._answers.clear()
            longest = max((len(str(label)) for label in keys.values()), default=0)
            self._answers.classes(replace="answers wide" if longest > WORD else "answers")
            with self._answers:
                for key, label in keys.items():
                    word = escape(str(label))
                    sign = "" if word == key else f'<kbd class="keys">{key.upper()}</kbd> '
                    tag(
                        "button", f'{sign}<span title="{word}">{word}</span>', type="button",
                        onclick=f"onmarginPress('{key}')", aria_keyshortcuts=key,
                    )  # fmt: skip
            self._more.set_content("" if self._queue.is_closed else _NEW_LABEL)
        said = None if question is None or question.said is None else question.said.label
        for button, label in zip(self._answers.default_slot.children, keys.values(), strict=False):
            button.props["aria-pressed"] = "true" if said is not None and label == said else "false"
            button.props["disabled"] = question is None
            button.update()

    def _nothing(self, standing: Standing) -> str:
        if not standing.items:
            return _empty(f"{self._origin}/v1/models/{self._name}/items")
        if standing.left > 0:
            return (
                "<div><h2>Others hold the last items</h2><p class='soft'>Every item that is left is on "
                "somebody else's screen. One comes back when its time runs out.</p></div>"
            )
        return (
            f"<div><h2>All done</h2><p class='soft'>{escape(standing.verdict[1].capitalize())}. "
            "Back and Undo still change answers.</p></div>"
        )

    async def _progress(self) -> None:
        standing = await run.io_bound(self._queue.standing)
        if standing is None or standing == self._seen:
            return
        self._seen = standing
        stop, why = standing.verdict
        told, self._stop = self._stop, stop
        look = "stop" if stop else "good" if standing.items else ""
        head = "Time to stop" if stop else "Go on" if standing.items else "Waiting for items"
        why = why.split(": ", 1)[1] if why.startswith(("stop: ", "go on: ")) else why
        if stop and not told:  # (on a phone the advice is far below, and a reader does not see it change)
            self._say(f"Time to stop: {why}.")
        self._verdict.set_content(
            f'<div class="notice {look}"><h2>{head}</h2>'
            f'<p class="small soft">{escape(why[:1].upper() + why[1:])}.</p></div>'
        )
        so_far, late = standing.curve()
        at = list(range(1, len(so_far) + 1))
        self._curve.set_content(chart(
            "Guesses that were right", [Line("last 20", at, late), Line("all", at, so_far, "two")],
            top=1.0, unit=("guess", "guesses"),
            caption="It asks for what it finds hardest: these are its weakest guesses."
            if at else "No guess has met its answer yet.",
        ))  # fmt: skip
        self._budget.set_visibility(bool(standing.items))
        self._budget.set_content(_budget(standing))

    def _say(self, text: str, wrong: bool = False) -> None:
        self._status.classes(replace="status error" if wrong else "status")
        self._status.set_content(escape(text[:1].upper() + text[1:]))


def _said(question: Question) -> str:
    """What the model thinks, and what was said before."""
    if question.guess is None:
        return f"Item {question.item.number}. The model has no guess yet."
    guess, margin = question.guess
    by = f"by a margin of {margin:.2g}" if margin >= 0.01 else "by a hair"
    said = f"<b>{escape(str(guess))}</b>, {by}"
    return f"Item {question.item.number}. The model would say {said}."


def _budget(standing: Standing) -> str:
    budget = standing.budget
    whole = budget or standing.items or 1
    share = min(1.0, standing.answered / whole)
    of = f"of {budget:,} planned" if budget else f"of {standing.items:,} items"
    counts = "".join(
        f'<tr><th scope="row">{escape(str(k))}</th><td class="n">{n:,}</td></tr>'
        for k, n in standing.counts.items()
    )
    more = f'<tr><th scope="row"><i>skipped</i></th><td class="n">{standing.skipped:,}</td></tr>'
    others = f" {standing.held:,} on a screen now." if standing.held else ""
    trouble = standing.trouble[:1].upper() + standing.trouble[1:]
    trouble = f'<p class="notice stop small">{escape(trouble)}.</p>' if trouble else ""
    return (
        f'<h3>Labels</h3><p class="numbers"><b>{standing.answered:,}</b> {of}</p>'
        '<div class="meter" role="progressbar" aria-label="Labels given" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{100 * share:.0f}" style="margin:.5rem 0">'
        f'<div style="width:{100 * share:.1f}%"></div></div>'
        f'<table class="wide">{counts}{more}</table>'
        f'<p class="soft small" style="margin:.5rem 0">{standing.left:,} left.{others}</p>{trouble}'
        '<label class="small row">Budget '
        f'<input type="number" min="1" value="{budget or ""}" placeholder="none" '
        f"onchange=\"emitEvent('onmargin-budget', {{value: this.value}})\"></label>"
    )


def _tools() -> str:
    return "".join(
        f'<button type="button" onclick="onmarginPress(\'{key}\')" aria-keyshortcuts="{key}">{word}'
        f'<kbd class="keys">{sign}</kbd></button>'
        for key, word, sign in TOOLS
    )


_SOON = '<p class="soft">The first question comes …</p>'
_NEW_LABEL = """<form class="row new" onsubmit="event.preventDefault(); onmarginNew(this)">
<label class="small soft grow"><span>A label not seen before <kbd class="keys">+</kbd></span>
<input type="text" name="label" maxlength="100" autocomplete="off" aria-keyshortcuts="+"></label>
<button type="submit">Add and answer</button></form>"""


def _doors(name: str) -> str:
    at = f"/v1/models/{escape(name)}/items"
    links = " · ".join(
        f'<a href="{at}?style={s}" download="{escape(name)}.{s}.jsonl">{s}</a>'
        for s in ("plain", "doccano", "prodigy")
    )
    return f"""<h3>Import and export</h3>
<p class="small" style="margin-top:.35rem">Answers as JSONL: {links}</p>
<p class="small" style="margin-top:.5rem"><label>Add items (JSONL)
<input type="file" accept=".jsonl,.json,.ndjson" onchange="onmarginImport(this, '{at}')"></label></p>
<p id="import-said" class="small soft" role="status"></p>"""


def _empty(address: str) -> str:
    return f"""<div class="stack"><h2>No items yet</h2>
<p class="soft">Choose a file of JSON lines under <b>Add items</b>, such as
<code>{{"text": "Free entry!"}}</code> (doccano's and Prodigy's files are read as they are), or
stream one in:</p>
<pre>curl --data-binary @items.jsonl {escape(address)}</pre></div>"""
