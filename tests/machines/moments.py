"""Ctrl-C at every moment of a call, one after the other: where Python would deliver it in our own code.

That is where a function begins, after a call has returned, and where a loop goes back.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

OURS = "/onmargin/interface/", "/onmargin/models/", "/onmargin/features/"
AFTER = ("CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD")
_moments: dict[CodeType, set[int]] = {}


def moments_of(code: CodeType) -> set[int]:
    """Offsets of the instructions before which a signal may be delivered."""
    if code not in _moments:
        found, before = set(), ""
        for instruction in dis.get_instructions(code):
            if before in AFTER:
                found.add(instruction.offset)
            before = instruction.opname
        _moments[code] = found
    return _moments[code]


def stopped(call: Callable[[], Any], moment: int) -> bool:
    """Make the call, and stop it at its n-th moment, if it has so many."""
    passed = 0

    def strike() -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            raise KeyboardInterrupt

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode" and passed < moment and frame.f_lasti in moments_of(frame.f_code):
            strike()
        return inside

    def begun(frame: FrameType, event: str, _: Any) -> Any:
        if not any(part in frame.f_code.co_filename for part in OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if passed < moment:
            strike()
        return inside

    try:
        sys.settrace(begun)
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def each_moment(prepare: Callable[[], Any], call: Callable[[Any], Any], step: int = 1) -> Iterator[Any]:
    """What `prepare` makes, after the call was stopped at every `step`-th moment; until none is left."""
    moment = 1
    while True:
        made = prepare()
        if not stopped(lambda made=made: call(made), moment):
            return
        yield made
        moment += step
