"""Pages for people, in Python: dashboard, one model, labelling; served by the same application."""

from __future__ import annotations

import secrets

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from nicegui import Client, ui
from nicegui import app as pages

from ...errors import OnmarginError
from ..bound import Bounds
from ..labelling.desk import Desk
from ..refusals import NotFound, status_of
from .dashboard import dashboard
from .label import LabelPage
from .model import model_page
from .theme import ICON, refused

PERSON = "onmargin-person"  # the cookie that tells one browser from another
YEAR = 31_536_000


def attach(app: FastAPI, desk: Desk) -> None:
    """Give an application its pages. Once a process: NiceGUI is one application of its own."""
    service, bounds = desk.service, Bounds(desk.service)

    @ui.page("/")
    def _dashboard(request: Request) -> None:
        dashboard(service, bounds, _origin(request))

    @ui.page("/models/{name}")
    def _model(name: str, request: Request) -> Response | None:
        try:
            model_page(service, bounds, name)
        except OnmarginError as error:
            return _refusal(request, "Not found", error)
        return None

    @ui.page("/models/{name}/label")
    def _label(name: str, request: Request) -> Response | None:
        who = request.cookies.get(PERSON) or secrets.token_hex(8)
        ui.add_head_html(
            f"<script>document.cookie = '{PERSON}={who}; path=/; max-age={YEAR}; samesite=lax'</script>"
            if PERSON not in request.cookies
            else ""
        )
        try:
            LabelPage(desk.queue(name), name, who, _origin(request)).build()
        except OnmarginError as error:
            return _refusal(request, "No labelling here", error)
        return None

    @pages.exception_handler(404)
    def _nowhere(request: Request, error: Exception) -> Response:
        asked = request.url.path
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return _refusal(request, "Not found", NotFound(f"there is no page {asked}"))
        said = f"there is no {request.method} {asked}; /docs has every route"
        return JSONResponse({"detail": said}, 404)

    ui.run_with(
        app, title="onmargin", favicon=ICON, dark=None, language="en-US", tailwind=False,
        show_welcome_message=False, reconnect_timeout=30.0,
    )  # fmt: skip


def _origin(request: Request) -> str:
    """The server, as the browser knows it: for commands that can be copied."""
    return str(request.base_url).rstrip("/")


def _refusal(request: Request, title: str, error: OnmarginError) -> Response:
    """A page that says why not, with the status that HTTP has for it."""
    with Client(ui.page(""), request=request) as client:
        refused(title, str(error))
        response: Response = client.build_response(request, status_of(error))
    return response
