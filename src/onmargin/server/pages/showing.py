"""An item as a person sees it on a page: a text well set, an image of its grey values, or a table."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np

from ..labelling.items import Item, numbers_of

LONG = 420  # characters from which a text is set smaller
MOST = 40  # lines of a table
EXACT = 1e15  # above which floats have no exact whole numbers to show
WORD = 30  # characters up to which a value stands to the right


def shown(item: Item) -> str:
    """Markup; whatever a user wrote is escaped."""
    if isinstance(item.x, str):
        look = 'text long" tabindex="0" role="group" aria-label="Text' if len(item.x) > LONG else "text"
        return f'<div class="{look}" dir="auto">{escape(item.x.strip())}</div>'
    side, values = item.side, numbers_of(item.x)
    if side is not None and values is not None:
        words = f"Item {item.number}: an image of {side} by {side} grey pixels"
        return f'<img alt="{words}" src="{image(values, side)}">'
    return _table(item)


def image(values: Sequence[float], side: int) -> str:
    """A square of grey values as the address of a PNG; the largest is white."""
    grey = np.array(values, float).reshape(side, side)
    grey = (grey - grey.min()) / max(float(np.ptp(grey)), 1e-300)
    rows = np.c_[np.zeros(side), np.round(255 * grey)].astype(np.uint8).tobytes()  # (each row: filter none)
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = [_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows)), _chunk(b"IEND", b"")]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _table(item: Item) -> str:
    """Names and values in their order; of very many the largest, and how many there are."""
    named: list[tuple[object, object]] = list(
        item.x.items() if isinstance(item.x, dict) else enumerate(item.x)
    )
    lines, more = named, ""
    if len(named) > MOST:
        lines = sorted(named, key=_size, reverse=True)[:MOST]
        more = f'<p class="soft small">The {MOST} largest of {len(named):,} values.</p>'
    body = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th><td class="{_kind(value)}">'
        f"{escape(value if isinstance(value, str) else _said(value))}</td></tr>"
        for name, value in lines
    )
    return f'<div class="scroll"><table class="wide">{body}</table></div>{more}'


def _kind(value: object) -> str:
    """How it is set: numbers and single words to the right, sentences as such."""
    return "words" if isinstance(value, str) and len(value) > WORD else "n"


def _size(line: tuple[object, object]) -> float:
    value = line[1]
    return abs(float(value)) if isinstance(value, int | float) else float("inf")


def _said(value: object) -> str:
    """Whole numbers as they are, others to six digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,.0f}" if value == int(value) and abs(value) < EXACT else f"{value:,.6g}"
