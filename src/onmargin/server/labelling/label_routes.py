"""Doors for labels: items in and out as lines of JSON, and Label Studio's backend; thin routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from ...errors import BadInput
from . import exchange
from .desk import Desk
from .label_studio import Backend
from .queue import Queue

Json = dict[str, object]
Told = Annotated[Json, Body()]


def label_routes(desk: Desk) -> APIRouter:
    """Routes under /v1/models/{name}/items and /label-studio/{name}."""
    router = APIRouter()

    @router.post("/v1/models/{name}/items", status_code=201, tags=["labelling"])
    async def take(name: str, request: Request) -> Json:
        """Items to be labelled: lines of JSON, ours, doccano's or Prodigy's; labels in them are learned."""
        body = await request.body()
        return await run_in_threadpool(_take, desk.queue(name), body)

    @router.get("/v1/models/{name}/items", tags=["labelling"], response_class=PlainTextResponse)
    def give(name: str, style: str = "plain") -> PlainTextResponse:
        """Every item that has a label, a line each: style plain, doccano or prodigy."""
        queue = desk.queue(name)
        text = "".join(exchange.written(queue.said(), style, queue.labels()))
        return PlainTextResponse(text, media_type="application/x-ndjson")

    @router.get("/label-studio/{name}/health", tags=["label studio"])
    def health(name: str) -> Json:
        """Is there such a model?"""
        return {"status": "UP", "model_version": Backend(desk, name).version}

    @router.post("/label-studio/{name}/setup", tags=["label studio"])
    def setup(name: str, body: Told) -> Mapping[str, object]:
        """Label Studio connects a project."""
        return Backend(desk, name).setup(body)

    @router.post("/label-studio/{name}/predict", tags=["label studio"])
    def predict(name: str, body: Told) -> Mapping[str, object]:
        """Label Studio asks for predictions for tasks."""
        return Backend(desk, name).predict(body)

    @router.post("/label-studio/{name}/webhook", status_code=201, tags=["label studio"])
    def webhook(name: str, body: Told) -> Mapping[str, object]:
        """Label Studio tells of an annotation, which is learned before this is answered."""
        return Backend(desk, name).told(body)

    return router


def _take(queue: Queue, body: bytes) -> Json:
    try:
        text = body.decode("utf-8-sig")  # (editors of Windows put a mark first)
    except UnicodeDecodeError as error:
        raise BadInput(f"byte {error.start} of the body is not UTF-8; nothing was taken") from None
    known = queue.known()
    lines = list(exchange.read(text.split("\n"), lambda line: queue.check(line.new.x, line.label, known)))
    before = len(queue)
    numbers = queue.add(line.new for line in lines)
    labels = {n: line.label for n, line in zip(numbers, lines, strict=True) if line.label is not None}
    skipped = [n for n, line in zip(numbers, lines, strict=True) if line.skipped]
    learned = queue.take(labels)
    for number in skipped:
        queue.skip("import", number)
    return {"added": len(queue) - before, "labelled": learned, "items": len(queue)}
