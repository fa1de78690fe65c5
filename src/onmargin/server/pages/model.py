"""The page of one model: its panels, its bound, what it is made of, and doors to its data."""

from __future__ import annotations

import json
from html import escape

from nicegui import ui

from ..bound import Bounds
from ..service import Service
from .dashboard import ModelCard, keep_fresh
from .theme import page, tag


def model_page(service: Service, bounds: Bounds, name: str) -> None:
    """Everything about a model."""
    state = service.state(name)
    with page(name, [("Models", "/"), (name, None)]):
        with ui.element("div").classes("head"):
            tag("h1", escape(name), "grow")
            if state["task"] == "classes":
                tag("a", "Label", "button primary", href=f"/models/{escape(name)}/label")
        with ui.element("div").classes("stack"):
            tag("h2", "How it learns", "unseen")
            card = ModelCard(service, bounds, name, alone=True)
            tag("div", _about(service, name), "card stack")
    keep_fresh([card])


def _about(service: Service, name: str) -> str:
    state = service.state(name)
    told = {key: state[key] for key in ("algorithm", "task", "input", "parameters", "ask")}
    journal = f"/v1/models/{escape(name)}/journal"
    return f"""<h2>What it is</h2><pre tabindex="0">{escape(json.dumps(told, indent=1, default=str))}</pre>
<p class="small">
<a href="/v1/models/{escape(name)}/snapshot" download="{escape(name)}.onm">Download the model</a> (read it
with <code>om.load</code>), or all that it learned from:
<a href="{journal}" download="{escape(name)}.jsonl">JSON lines</a>,
<a href="{journal}?format=parquet" download="{escape(name)}.parquet">Parquet</a>.
Label Studio's address for it:
<code>/label-studio/{escape(name)}</code></p>"""
