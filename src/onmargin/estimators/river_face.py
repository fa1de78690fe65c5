"""What River asks of an estimator beside learn_one and predict_one.

Our classes do not inherit from River's: they are registered with its base classes, at once if
River is loaded, otherwise at the moment it is.
"""

from __future__ import annotations

import copy
import importlib.abc
import importlib.machinery
import sys
from typing import Any

import numpy as np

_waiting: list[tuple[type, str]] = []


class RiverFace:
    """River's bookkeeping, in terms of scikit-learn's parameters."""

    _river_base = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls._river_base and not cls.__name__.startswith("Linear"):
            register(cls, cls._river_base)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Any:
        """A fresh learner with the same parameters (and state, with `include_attributes`).

        Where `random_state` is None the copies share the entropy, so that they agree.
        """
        me: Any = self
        if include_attributes:
            return copy.deepcopy(me).set_params(**(new_params or {}))
        params = {name: copy.deepcopy(value) for name, value in me.get_params(deep=False).items()}
        twin = type(me)(**(params | (new_params or {})))
        if me._entropy is None:
            me._entropy = int(np.random.SeedSequence().generate_state(1)[0])
        twin._entropy = me._entropy
        return twin

    def _get_params(self) -> dict[str, Any]:
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return params

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change parameters in place."""
        self.set_params(**new_attrs)  # type: ignore[attr-defined]

    @property
    def _supervised(self) -> bool:
        return True

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _tags(self) -> set[str]:
        return set()

    @property
    def _mutable_attributes(self) -> set[str]:
        return set()

    @property
    def _is_stochastic(self) -> bool:
        return False

    @property
    def _raw_memory_usage(self) -> int:
        from river.base import Base

        usage: int = Base._raw_memory_usage.fget(self)  # type: ignore[attr-defined]
        return usage

    @property
    def _memory_usage(self) -> str:
        from river.utils.pretty import humanize_bytes

        return str(humanize_bytes(self._raw_memory_usage))

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {}

    def _unit_test_skips(self) -> set[str]:
        from .conformance import river

        return set(river(self))

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Margins are not probabilities; calibrate them with CalibratedClassifierCV."""
        raise NotImplementedError(
            f"{type(self).__name__} gives margins, not probabilities; use predict_one, or calibrate"
        )


def register(cls: type, base: str) -> None:
    """Make River's isinstance tests say yes, now or when River is imported."""
    if "river.base" in sys.modules:
        getattr(sys.modules["river.base"], base).register(cls)
    else:
        _waiting.append((cls, base))
        if not any(isinstance(finder, _Watch) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Watch())


class _Watch(importlib.abc.MetaPathFinder):
    """Waits for `import river.base`, then steps aside."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "river.base":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_register(module: Any) -> None:
                run(module)
                for cls, base in _waiting:
                    getattr(module, base).register(cls)
                _waiting.clear()

            spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
