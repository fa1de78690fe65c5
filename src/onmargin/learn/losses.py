"""How much do we mind? loss(margin, required) -> (loss, slope); slope 0 means passive."""

from __future__ import annotations

from ..compiled.parts import part


@part
def mistake(margin, required):
    """1 where the margin is not positive (the theory's mistake), 0 elsewhere."""
    if margin <= 0.0:
        return 1.0, 1.0
    return 0.0, 0.0


@part
def hinge(margin, required):
    """[required - margin]_+"""
    if margin < required:
        return required - margin, 1.0
    return 0.0, 0.0


@part
def watchful(margin, required):
    """The hinge's value, but never passive: the step has a gate of its own (CW, SCW)."""
    return max(required - margin, 0.0), 1.0
