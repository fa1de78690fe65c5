"""Do we ask for the label at all? ask(space, scores, now, hyper) -> bool"""

from __future__ import annotations

from ..compiled.parts import part


@part
def always(space, scores, now, hyper):
    """Full information: every label is read."""
    return True
