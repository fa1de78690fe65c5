"""A compiler for parts, which are inlined into loops and never called by themselves.

Numba optimises every function by itself and makes machine code and a door for Python of it, before it is
inlined, optimised and made into machine code again as a piece of the loop. A part needs none of that: it is
lowered, and the loop optimises all of it at once. Loops compile in about six tenths of the time.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class PartLibrary(JITCodeLibrary):
    """Code to be linked into loops; it is neither optimised nor made into machine code here."""

    def _optimize_final_module(self) -> None:
        """Left to the loop."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Numba's own lowering, into a `PartLibrary`."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function; loops find its code by an entry that nobody calls."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, own = state["cr"], list[int]()
        nobody_calls = own.sort  # (Numba wants a built-in, and each part its own)
        state.targetctx.insert_user_function(nobody_calls, lowered.fndesc, [state.library])
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))  # (later versions have it)
        state["cr"] = lowered._replace(cfunc=nobody_calls)
        return True


class PartCompiler(CompilerBase):
    """Numba's passes, with the lowering of parts."""

    def define_pipelines(self) -> list[PassManager]:
        """The one pipeline."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = PassManager("part")
        for each, what in usual.passes:
            passes.add_pass(PartLowering if each is NativeLowering else each, what)
        passes.finalize()
        return [passes]


INLINED: dict[str, Any] = {
    "pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip
"""Numba's options for a part."""
