"""The OpenAPI document of the routes, and a page of it that loads nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from .examples import Examples, LabelledOnes, Late
from .hosted import Prediction
from .plain import Json, Plain

REF = "#/components/schemas/{name}"


class Answers(msgspec.Struct):
    """Of one example, or of a list of them."""

    one: Prediction | list[Prediction]


class Acknowledged(msgspec.Struct):
    """Durable and applied: the numbers of the events, and what the model could not take in."""

    events: list[int]
    rounds: int
    counted: int
    refused: dict[str, str]


class Problem(msgspec.Struct):
    """One line: what was given, what was wanted, what to do."""

    detail: str


KINDS = (Examples, LabelledOnes, Late, Prediction, Acknowledged, Problem)
OBJECT: Json = {"type": "object"}
SCHEMAS, COMPONENTS = msgspec.json.schema_components(KINDS, ref_template=REF)
PREDICTION: Json = {"$ref": REF.format(name="Prediction")}
CONTENT: dict[str, Json] = {
    "Answers": {"application/json": {"schema": {
        "anyOf": [PREDICTION, {"type": "array", "items": PREDICTION}]}}},
    "Acknowledged": {"application/json": {"schema": {"$ref": REF.format(name="Acknowledged")}}},
    "State": {"application/json": {"schema": {
        "type": "object", "required": ["name", "algorithm", "parameters", "rounds", "classes", "features"]}}},
    "Listed": {"application/json": {"schema": {
        "type": "object", "properties": {"models": {"type": "array", "items": OBJECT}}}}},
    "History": {"application/json": {"schema": {
        "type": "object", "properties": {"points": {"type": "array", "items": OBJECT}}}}},
    "Health": {"application/json": {"schema": {
        "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}},
    "File": {"application/octet-stream": {}, "application/x-ndjson": {},
             "application/vnd.apache.parquet": {}},
    "Text": {"text/plain": {"schema": {"type": "string"}}},
    "Problem": {"application/json": {"schema": {"$ref": REF.format(name="Problem")}}},
}  # fmt: skip
WORDS = {
    400: "The body is no JSON.", 401: "No token, or a wrong one.", 403: "This token may only read.",
    404: "There is no such model, round, event or prediction.",
    408: "The rest of the body did not come.", 409: "There is a model of that name.",
    410: "That part of the past is compacted.", 413: "Larger than this server takes.",
    422: "Refused, in one line; nothing has changed.", 429: "Too much waits; come back after Retry-After.",
    500: "Durable, and not applied yet: do not send it again.",
    503: "The journal cannot be written, or not be read; nothing was learned.",
}  # fmt: skip


def responses(good: str, status: int = 200, busy: bool = False, bad: int = 0) -> dict[int | str, Json]:
    """What a route may answer."""
    found: dict[int | str, Json] = {status: {"description": good, "content": CONTENT[good]}}
    for code in (400, 401, 403, 404, 409, 410, 413, 422, 503, *([429, 500] if busy else [])):
        found[code] = {"description": WORDS[code], "content": CONTENT["Problem"]}
    if bad:
        found[bad] = {"description": WORDS[bad], "content": CONTENT[good]}
    return found


def body_of(kind: Plain) -> Json:
    """What a route takes."""
    schema: Json = msgspec.json.schema_components([kind], ref_template=REF)[0][0]
    slow = {"description": WORDS[408], "content": CONTENT["Problem"]}
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"408": slow},
    }


class Documented(FastAPI):
    """An application whose document has the kinds that msgspec reads."""

    def openapi(self) -> Json:
        """Made once."""
        if self.openapi_schema is None:
            found = get_openapi(
                title=self.title, version=self.version, routes=self.routes,
                description="Learners that are always on: every acknowledged label is durable.",
            )  # fmt: skip
            found.setdefault("components", {}).setdefault("schemas", {}).update(COMPONENTS)
            found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            self.openapi_schema = found
        return self.openapi_schema


STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
h2 { margin: 2rem 0 .3rem; font-size: 1.1rem; overflow-wrap: anywhere }
h2 b { color: light-dark(#0b5394, #8ab4f8) }
pre { overflow: auto; padding: .6rem; background: light-dark(#f4f4f4, #222); border-radius: .3rem }
table { border-collapse: collapse } td { padding: .1rem .8rem .1rem 0; vertical-align: top }
"""


def page(document: Json) -> str:
    """For people."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{escape(document['info']['title'])}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{STYLE}</style><main><h1>onmargin</h1>"
        f"<p>{escape(document['info'].get('description', ''))} As a document: "
        "<a href='openapi.json'>openapi.json</a>.</p>"
    ]
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            parts.append(_operation(path, method, told))
    parts.append("<h1>Kinds</h1>")
    for name, schema in document["components"]["schemas"].items():
        parts.append(f"<h2 id='{escape(name)}'>{escape(name)}</h2>{_code(schema)}")
    return "".join(parts) + "</main></html>"


def _operation(path: str, method: str, told: Json) -> str:
    text = told.get("description") or told.get("summary") or ""
    parts = [f"<h2><b>{method.upper()}</b> {escape(path)}</h2><p>{escape(text)}</p>"]
    for one in told.get("parameters", ()):
        if one["in"] == "query":
            parts.append(f"<p><code>?{escape(one['name'])}=</code> {escape(json.dumps(one['schema']))}</p>")
    for kind, held in told.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Takes {escape(kind)}:</p>{_code(held.get('schema', {}))}")
    rows = (
        f"<tr><td>{escape(code)}<td>{escape(one.get('description', ''))}"
        for code, one in sorted(told.get("responses", {}).items())
    )
    return "".join(parts) + f"<table>{''.join(rows)}</table>"


def _code(schema: Json) -> str:
    return f"<pre tabindex='0'>{escape(json.dumps(schema, indent=1))}</pre>"
