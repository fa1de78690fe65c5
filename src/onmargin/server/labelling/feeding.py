"""Unlabelled data streamed into a queue: rows of a file or of a set, as people read them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from threading import Event, Thread

import scipy.sparse as sp

from ...errors import BadInput, OnmarginError
from ...features.texts import Texts
from ...protocols.requested.further import after_tabs, unlabelled
from ...protocols.requested.reading import Reading, is_set
from ...sources.blocks import Block, Rows
from ...sources.by_name import format_of, streamed
from .items import Content, New
from .queue import Queue

log = logging.getLogger("onmargin.server")
FIRST, AT_ONCE = 200, 2000  # rows before the page has its first question; and from then on
MOST_ROWS = 1_000_000  # that people could ever be asked for


class Feeding(Thread):
    """Reads rows and adds them to a queue, some at a time, while people already label.

    A row has the key `NAME:number`, so that the same data streamed in again adds nothing. A row that the
    model could not learn from is passed over. `why` says what stopped it before the end; `queue.trouble`
    says both to people.
    """

    def __init__(self, queue: Queue, rows: Iterator[Content], name: str) -> None:
        super().__init__(name=f"feeding {name}", daemon=True)
        self._queue, self._rows, self._name, self._ended = queue, rows, name, Event()
        self.added, self.passed, self.why = 0, 0, ""

    def run(self) -> None:
        """Until the rows end, or `stop`."""
        try:
            place, size = 0, FIRST
            while not self._ended.is_set() and place < MOST_ROWS:
                some = list(islice(self._rows, size))
                if not some:
                    break
                self._add([New(x, {}, f"{self._name}:{place + at}") for at, x in enumerate(some)])
                place, size = place + len(some), AT_ONCE
        except (OnmarginError, OSError) as error:
            self.why = str(error)
            self._queue.trouble = f"no more rows come in after {self.added:,}: {error}"
            log.warning("no more rows of %s are streamed in: %s", self._name, error)

    def _add(self, news: Sequence[New]) -> None:
        """Those that can be learned from; where none of them can, neither can the rest."""
        good, why = [], ""
        for new in news:
            try:
                self._queue.checked(new.x)
                good.append(new)
            except BadInput as error:
                why = why or str(error)
        if not good:
            raise BadInput(why)
        self._queue.add(good)
        self.added, self.passed = self.added + len(good), self.passed + len(news) - len(good)
        if why:
            rows = "1 row was" if self.passed == 1 else f"{self.passed:,} rows were"
            self._queue.trouble = f"{rows} passed over, the last such for this: {why}"

    def stop(self) -> None:
        """No more rows; returns when the last ones are in."""
        self._ended.set()
        if self.is_alive():
            self.join()


def raw_contents(
    data: str, format: str | None, options: Mapping[str, object], on_error: str = "stop"
) -> Iterator[Content]:
    """Rows one after the other as texts, as names and values, or as numbers; labels are left aside."""
    if format is None and is_set(data):
        blocks: Iterator[Block] = Reading([data], options=dict(options)).peeked.blocks()
    else:
        format = format_of(data) if format is None else format
        kept = unlabelled(format, options) | ({"target": options["target"]} if "target" in options else {})
        blocks = streamed(data, format, {**kept, "on_error": on_error, "rows": AT_ONCE}).blocks()
    for block in blocks:
        yield from _contents(after_tabs(block.rows) if isinstance(block.rows, Texts) else block.rows)


def _contents(rows: Rows) -> Iterator[Content]:
    """One content a row; rows without any are left out."""
    if isinstance(rows, Texts):
        yield from (text for text in rows if text.strip())
    elif hasattr(rows, "to_pylist"):  # a table of pyarrow's
        yield from _records(rows.to_pylist())
    elif isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        yield from _records(rows)
    elif sp.issparse(rows):
        for at in range(rows.shape[0]):
            line = rows[[at]]
            if line.nnz:
                yield {str(place): float(x) for place, x in zip(line.indices, line.data, strict=True)}
    elif hasattr(rows, "shape"):
        values = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
        yield from (list(map(float, row)) for row in values)
    else:
        raise BadInput(f"rows of this format ({type(rows).__name__}) cannot be shown; use a table or texts")


def _records(records: Sequence[Mapping[str, object]]) -> Iterator[Content]:
    """Names and values; of a record with a `text` that. What is missing is left out, if need be all of it."""
    for record in records:
        if isinstance(record.get("text"), str):
            if str(record["text"]).strip():
                yield str(record["text"])
            continue
        known = {
            name: _plain(value) for name, value in record.items() if value is not None and value == value
        }
        if known:
            yield known


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | str | bool) else str(value)
