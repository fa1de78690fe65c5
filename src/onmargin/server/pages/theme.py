"""What every page shares: style, head and main, a way back, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import files

from nicegui import ui

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' "
    "height='32' rx='8' fill='%231d5a9e'/%3E%3Cpath d='M7 24 25 8M7 17l9-8M16 23l9-8' stroke='white' "
    "stroke-width='2.4' stroke-linecap='round' fill='none'/%3E%3C/svg%3E"
)
Crumb = tuple[str, str | None]


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


STYLE, SCRIPT = _resource("style.css"), _resource("keys.js")


def tag(name: str, content: str = "", classes: str = "", **attributes: object) -> ui.html:
    """A plain element of HTML; `content` is markup, so what users wrote must be escaped."""
    made = ui.html(content, sanitize=False, tag=name).classes(classes)
    for key, value in attributes.items():
        made.props[key.replace("_", "-")] = value
    return made


@contextmanager
def page(title: str, crumbs: Sequence[Crumb] = ()) -> Iterator[None]:
    """Head, way back, and the main part, which is filled within."""
    around = ui.context.client.content.parent_slot
    if around is not None:
        around.parent.tag = "div"  # (Quasar's page is a <main> around everything; ours is the only one)
    ui.page_title(f"{title} · onmargin")
    ui.add_head_html(f"<style>{STYLE}</style><script>{SCRIPT}</script>")
    with ui.element("div").classes("om"):
        tag("a", "To the content", "skip-link", href="#content")
        with ui.element("header").classes("top"), ui.element("div"):
            tag("a", "on<span>margin</span>", "mark", href="/", aria_label="onmargin: all models")
            tag("nav", _crumbs(crumbs), "crumbs", aria_label="Where you are")
            words = "<span aria-hidden='true'>◐</span> <span class='word'>Light or dark</span>"
            tag("button", words, "quiet small theme", type="button", onclick="onmarginTheme()")
        with ui.element("main").props("id=content tabindex=-1"):
            yield


def _crumbs(crumbs: Sequence[Crumb]) -> str:
    words = [
        f'<li><a href="{escape(address)}">{escape(word)}</a></li>'
        if address is not None
        else f'<li aria-current="page">{escape(word)}</li>'
        for word, address in crumbs
    ]
    return f"<ol>{''.join(words)}</ol>" if words else ""


def refused(title: str, why: str) -> None:
    """A page that says in one line what is wrong, and where to go."""
    with page(title, [("Models", "/"), (title, None)]):
        tag("h1", escape(title))
        tag("p", f"{escape(why[:1].upper() + why[1:])}.", "notice stop", style="margin-top: 1rem")
        tag("p", '<a href="/">All models</a>', style="margin-top: 1rem")
