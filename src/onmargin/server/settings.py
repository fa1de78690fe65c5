"""How a server is set: limits, how often it saves, how long it keeps what."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BadInput, shown

DAY = 86_400.0
MEGABYTE = 2**20


@dataclass(frozen=True)
class Settings:
    """Defaults for one machine; every number is checked.

    journal : a PostgreSQL URL; None: SQLite in the server's folder.
    snapshot_every : learned examples of a model between two snapshots.
    snapshots_kept : the newest so many; and one a day as far back as the journal is kept.
    keep_days, keep_megabytes : of the journal (None: for ever). What is older than the newest snapshot that
        this leaves is compacted: nobody can travel there any more, and its keys are forgotten.
    prediction_hours, prediction_megabytes : how long, and how much of it, predictions wait for a late label.
    most_waiting, most_waiting_bytes : examples that may wait for the journal, and bytes of the requests that
        brought them; more are told to come back (429).
    most_bytes, most_features, most_examples, most_models, most_text : of a body, of an example, of a request,
        of a server, of a text (characters).
    recent : rounds of the error "of late".
    """

    journal: str | None = None
    snapshot_every: int = 100_000
    snapshots_kept: int = 3
    keep_days: float | None = None
    keep_megabytes: float | None = None
    prediction_hours: float = 24.0
    prediction_megabytes: float = 256.0
    most_waiting: int = 50_000
    most_waiting_bytes: int = 256 * MEGABYTE
    most_bytes: int = 8 * MEGABYTE
    most_features: int = 10_000
    most_examples: int = 10_000
    most_models: int = 100
    most_text: int = 1_000_000
    recent: int = 1000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name == "journal" or value is None and name in ("keep_days", "keep_megabytes"):
                continue
            least = 0 if name.startswith("prediction") else 1 if isinstance(value, int) else 1e-9
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < 1e15:
                raise BadInput(f"{name}={shown(value)}; wanted a number of at least {least}")
