"""The application: thin routes around a service; what they take and give is in its OpenAPI document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import msgspec
from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse

from .. import __version__
from ..errors import OnmarginError
from .access import Access
from .documents import Documented, body_of, page, responses
from .examples import Examples, LabelledOnes, Late
from .exporting import FORMATS, exported
from .front import Front, Hot, decoded, problem
from .labelling.desk import Desk
from .measures import Measures
from .plain import Json, Plain
from .service import Service

Name = Annotated[str, Path(description="The name of a model: letters, digits, _ . or -.", max_length=200)]
Number = Annotated[int, Query(ge=0, le=2**63 - 1)]
read_plain = msgspec.json.Decoder(Json).decode


class Undoing(msgspec.Struct, forbid_unknown_fields=True):
    """Which event shall not have been."""

    event: int


read_undoing = msgspec.json.Decoder(Undoing).decode


def application(
    service: Service, access: Access | None = None, *, pages: bool = True, desk: Desk | None = None
) -> Front:
    """An ASGI application; closing it closes the service."""
    measures = Measures(service)

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(service.close)

    app = Documented(title="onmargin", version=__version__, docs_url=None, redoc_url=None, lifespan=living)
    add_errors(app)
    add_routes(app, service, measures)
    desk = desk or Desk(service)
    if pages:
        from .labelling.label_routes import label_routes
        from .pages import attach

        app.include_router(label_routes(desk))
        attach(app, desk)
    return Front(service, app, access or Access(), measures)


def add_errors(app: FastAPI) -> None:
    """Every refusal is one line, with its status."""

    def told(request: Request, error: Exception) -> Response:
        status, body, extra = problem(error)
        headers = {name.decode(): value.decode() for name, value in extra}
        return Response(body, status, headers, media_type="application/json")

    def misread(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
        body = msgspec.json.encode({"detail": f"{where}: {first['msg']}"})
        return Response(body, 422, media_type="application/json")

    app.add_exception_handler(OnmarginError, told)
    app.add_exception_handler(RequestValidationError, misread)


def add_routes(app: FastAPI, service: Service, measures: Measures) -> None:
    """All but the pages."""
    hot = Hot(service)

    def quick(last: str, kind: Plain, answer: str, text: str) -> None:
        """One that `Front` answers; here it is documented, and the same."""

        async def route(name: Name, request: Request) -> Response:
            status, body = await hot.routes[last](name, await request.body())
            return Response(body, status, media_type="application/json")

        app.add_api_route(
            f"/v1/models/{{name}}/{last}", route, methods=["POST"], summary=text, operation_id=last,
            tags=["models"], openapi_extra=body_of(kind), responses=responses(answer, busy=last != "predict"),
        )  # fmt: skip

    quick(
        "predict", Examples, "Answers", "Predict one example or a list; at once, by the model of the moment."
    )
    quick("learn", LabelledOnes, "Acknowledged", "Learn one example or a list; answered when it is durable.")
    quick("feedback", Late, "Acknowledged", "A late label for an earlier prediction.")

    @app.post("/v1/models/{name}", status_code=201, tags=["models"], openapi_extra=body_of(Json),
              responses=responses("State", 201))  # fmt: skip
    async def create(name: Name, request: Request) -> Response:
        """A new model: a name of `onmargin algorithms` and its parameters; also task, text, ask."""
        spec = decoded(read_plain, await request.body())
        return _json(await run_in_threadpool(service.create, name, spec), 201)

    @app.get("/v1/models", tags=["models"], responses=responses("Listed"))
    def models() -> Response:
        """All models."""
        return _json({"models": [service.state(name) for name in service.names()]})

    @app.get("/v1/models/{name}", tags=["models"], responses=responses("State"))
    def state(name: Name) -> Response:
        """What a model is, and how far it is."""
        return _json(service.state(name))

    @app.get("/v1/models/{name}/history", tags=["models"], responses=responses("History"))
    def history(name: Name, since: Number = 0) -> Response:
        """Points of its curves after a round."""
        return _json(service.history(name, since))

    @app.post("/v1/models/{name}/undo", tags=["models"], openapi_extra=body_of(Undoing),
              responses=responses("State", busy=True))  # fmt: skip
    async def undo(name: Name, request: Request) -> Response:
        """Take a wrong label back: the rest is learned anew without it."""
        given = decoded(read_undoing, await request.body())
        return _json(await run_in_threadpool(lambda: service.undo(name, given.event).result()))

    @app.get("/v1/models/{name}/snapshot", tags=["models"], responses=responses("File"))
    def snapshot(name: Name, round: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None) -> Response:
        """The model file (.onm, for om.load) as of a round."""
        file = service.snapshot(name, round)
        names = {"content-disposition": f'attachment; filename="{name}.onm"'}
        return Response(file, 200, names, media_type="application/octet-stream")

    @app.get("/v1/models/{name}/journal", tags=["models"], responses=responses("File"))
    def journal(name: Name, format: str = "jsonl") -> Response:
        """Everything that it has learned from: lines of JSON, or Parquet."""
        service.hosted(name)
        found = exported(service.past, name, format)
        return StreamingResponse(found, media_type=FORMATS[format])

    @app.get("/healthz", tags=["operations"], responses=responses("Health", bad=503))
    async def health() -> Response:  # (not behind those who wait for a thread)
        """503 where labels cannot be kept: a full disk, a journal that cannot be written."""
        found = service.health()
        return _json(found, 200 if found["ok"] else 503)

    @app.get("/metrics", tags=["operations"], responses=responses("Text"))
    def metrics() -> Response:
        """For Prometheus."""
        return Response(measures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        """This document, for people; nothing is loaded from elsewhere."""
        return Response(page(app.openapi()), media_type="text/html; charset=utf-8")


def _json(found: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(found), status, media_type="application/json")
