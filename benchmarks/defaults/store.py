"""Outcomes kept as JSON lines, out of git: what was measured once need not be measured again."""

from __future__ import annotations

import json
from pathlib import Path

from .jobs import Outcome


class Store:
    """Outcomes by key; the last line of a key counts. `resume=False` measures anew, and keeps it."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path, self._found = path, dict[str, Outcome]()
        if resume and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, *values = json.loads(line)
                self._found[key] = Outcome(*values)

    def get(self, key: str) -> Outcome | None:
        """What is known."""
        return self._found.get(key)

    def forget(self, who: str) -> None:
        """A contestant whose default has changed."""
        self._found = {key: kept for key, kept in self._found.items() if not key.startswith(f"{who} | ")}

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep it at once: a run that is stopped loses nothing."""
        self._found[key] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, *outcome]) + "\n")
