"""Where examples come from: `om.sources.<format>.read` and `.stream`, each loaded on first use."""

from importlib import import_module
from types import ModuleType

FORMATS = ("csv", "jsonl", "parquet", "svmlight", "text", "vw")
LIVE = ("live", "nats_subject", "redis_stream")
_PUBLIC = (*FORMATS, *LIVE)

__all__ = [*_PUBLIC, "open_source", "split"]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        return import_module(f".{name}", __name__)
    if name == "open_source":
        module: ModuleType = import_module(".by_name", __name__)
        return module.open_source
    if name == "split":
        module = import_module(".parts", __name__)
        return module.split
    raise AttributeError(f"onmargin.sources has no {name!r}; known are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
