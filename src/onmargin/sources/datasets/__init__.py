"""Examples to try things on: generated streams whose best rule is known, and real sets by name."""

from .catalogue import Entry, Listing, load, names
from .fetching import fetch
from .generated import Stream, circle, ellipses, imbalanced, separable, sparse_words
from .harder import Views, drifting_classes, keyword_patterns, related_tasks, switching, views

__all__ = [
    "Entry", "Listing", "Stream", "Views", "circle", "drifting_classes", "ellipses", "fetch", "imbalanced",
    "keyword_patterns", "load", "names", "related_tasks", "separable", "sparse_words", "switching", "views",
]  # fmt: skip
