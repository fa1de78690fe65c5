"""The first page: every model side by side, live."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import run, ui

from ...errors import OnmarginError
from ..bound import Bounds
from ..service import Service
from .charts import chart
from .panels import Json, Pace, confusions, errors, features, loss, numbers
from .theme import page, tag

EVERY = 1.0  # seconds
FEW = 5  # classes whose confusions fit into half a card
WORKED_OUT = chart("Loss against its bound", (), caption="Being worked out …")


class ModelCard:
    """One model's panels, redrawn when it has learned something."""

    def __init__(self, service: Service, bounds: Bounds, name: str, alone: bool = False) -> None:
        self._service, self._bounds, self._name, self._pace = service, bounds, name, Pace()
        self._event: object = None
        self._bounded: object = None
        state = service.state(name)
        with ui.element("article").classes("card stack").props(f'aria-label="{escape(name)}"'):
            if not alone:
                self._head(state)
            self._numbers = tag("div", numbers(state, service.settings.recent, 0.0))
            with ui.element("div").classes("pair even"):
                self._errors, self._loss = tag("div"), tag("div", WORKED_OUT)
            with ui.element("div").classes("pair"):
                self._features, self._confusions = tag("div"), tag("div")

    def _head(self, state: Json) -> None:
        address = f"/models/{escape(self._name)}"
        said = f"{escape(state['algorithm'])}, {'texts' if state['input'] == 'text' else 'numbers'}"
        with ui.element("div").classes("row"):
            link = f'<a href="{address}">{escape(self._name)}</a>'
            tag("h2", f'{link} <span class="soft small">{said}</span>')
            if state["task"] == "classes":
                tag("a", "Label", "button", href=f"{address}/label", aria_label=f"Label for {self._name}")

    async def refresh(self) -> None:
        """As it is now."""
        recent = self._service.settings.recent
        try:
            state = self._service.state(self._name)
        except OnmarginError:
            return  # it is gone; the page is built anew when it is loaded again
        self._numbers.set_content(numbers(state, recent, self._pace.see(int(state["rounds"]))))
        if state["event"] == self._event:
            return
        self._event = state["event"]
        found = await run.io_bound(self._looked_up)
        if found is not None:
            history, weights, pairs = found
            self._errors.set_content(errors(state, history, recent))
            self._features.set_content(features(weights, state["task"]))
            self._confusions.set_content(confusions(pairs) if state["task"] == "classes" else "")
            for panel in (self._features, self._confusions):
                panel.classes("whole" if len(pairs["classes"]) > FEW else "")

    async def refresh_bound(self) -> None:
        """The same for the bound, which a replay finds: seconds, for which nothing else should wait."""
        if self._event == self._bounded:
            return
        self._bounded = self._event
        try:
            found = await run.io_bound(self._bounds.of, self._name)
        except OnmarginError:
            return  # (it is gone)
        if found is not None:  # (it is where the server stops)
            self._loss.set_content(loss(found))

    def _looked_up(self) -> tuple[Json, Sequence[Json], Json] | None:
        service, name = self._service, self._name
        try:
            return service.history(name), service.top_features(name), service.confusion(name)
        except OnmarginError:
            return None


def dashboard(service: Service, bounds: Bounds, origin: str) -> None:
    """All models; where there is none, lines to begin with. `origin`: the server, as the browser knows it."""
    with page("Models", [("Models", None)]):
        names = service.names()
        with ui.element("div").classes("head"):
            tag("h1", "Models", "grow")
            tag("p", '<a href="/docs">HTTP API</a> · <a href="/metrics">metrics</a>', "small")
        if not names:
            tag("div", _BEGIN.replace("ORIGIN", escape(origin)), "card stack")
        with ui.element("div").classes("cards"):
            cards = [ModelCard(service, bounds, name) for name in names]
    keep_fresh(cards)

    def look_around() -> None:
        if service.names() != names:
            ui.navigate.reload()

    ui.timer(EVERY, look_around)


def keep_fresh(cards: Sequence[ModelCard]) -> None:
    """Live: all that is quickly known of every card, and bounds as they are found."""

    async def refresh() -> None:
        for card in cards:
            await card.refresh()

    async def refresh_bounds() -> None:
        for card in cards:
            await card.refresh_bound()

    ui.timer(EVERY, refresh)
    ui.timer(EVERY, refresh_bounds)


_BEGIN = """<h2>No model yet</h2><p class="soft">Make one, and teach it something:</p>
<pre tabindex="0">curl ORIGIN/v1/models/sms -d '{"algorithm": "arow", "text": true}'
curl ORIGIN/v1/models/sms/learn -d '{"text": "Win a prize now", "y": "spam"}'</pre>
<p class="soft">or label a file: <code>onmargin label messages.txt --web --save messages.d</code></p>"""
