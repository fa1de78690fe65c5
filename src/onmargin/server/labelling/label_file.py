"""A file for people to label in a browser: one model named after it, its rows streamed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...errors import BadInput, NoFile
from ...protocols.requested.reading import is_set
from ...sources.by_name import PACKED, format_of
from .desk import Desk
from .feeding import raw_contents


@dataclass
class LabelFile:
    """What is to be labelled, and by which model; `begin` gives it to a desk (which may have it already).

    algorithm, parameters : of the model. options : of the format (`text`: a column of texts; `target`: one
        that is left out). classes : all labels; None: any word.
    """

    data: str
    algorithm: str = "arow"
    parameters: Mapping[str, object] = field(default_factory=dict)
    classes: Sequence[object] | None = None
    format: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    on_error: str = "stop"

    def __post_init__(self) -> None:
        if not is_set(self.data):
            if not Path(self.data).exists():
                raise NoFile(f"there is no file {self.data}; wanted a path, or the name of a set")
            self.format = self.format or format_of(self.data)

    @property
    def name(self) -> str:
        """Of the model: the stem of the path, as far as a name may be so."""
        stem = Path(self.data).name
        for packed in PACKED:
            stem = stem.removesuffix(packed)
        kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in stem.partition(".")[0])
        return kept.strip("-")[:64] or "items"

    @property
    def path(self) -> str:
        """Of the page."""
        return f"/models/{self.name}/label"

    def begin(self, desk: Desk) -> None:
        """The model is there, and rows come in while people already label."""
        rows = raw_contents(self.data, self.format, self.options, self.on_error)
        first = next(rows, None)
        if first is None:
            raise BadInput(f"{self.data}: no row in it")
        if self.name not in desk.service.names():
            spec: dict[str, object] = {"algorithm": self.algorithm, "task": "classes", **self.parameters}
            if isinstance(first, str):
                spec["text"] = True
            desk.service.create(self.name, spec)
        queue = desk.queue(self.name)
        had = queue.acts.setting("classes")
        if self.classes is not None and had != list(self.classes):
            if had is not None:
                raise BadInput(f"{self.name} was begun with other classes ({had}); leave --classes out")
            queue.announce(self.classes)
        desk.feed(self.name, chain([first], rows))
