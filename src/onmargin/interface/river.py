"""What River asks of an estimator beside learn_one and predict_one.

Our classes do not inherit from River's: they are registered with its base classes, at once if
River is loaded, otherwise at the moment it is.
"""

from __future__ import annotations

import copy
import gc
import importlib.abc
import importlib.machinery
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..errors import plain_number
from .guard import SLOTS, Change, Guard
from .twins import frozen

Variants = tuple[Mapping[str, object], ...]

_waiting: list[tuple[type, str]] = []
_names: dict[tuple[type, Any], list[str]] = {}


SHARED = (type, ModuleType, FunctionType, *weakref.ProxyTypes)  # by all learners, or somebody else's
COMPILER = ("numba", "llvmlite")  # machine code is shared too, and leads to all of the compiler


def bytes_kept(learner: object) -> int:
    """Memory of a learner and of all that it alone holds."""
    met: set[int] = set()
    size, pending = 0, [learner]
    while pending:
        own = []
        for held in pending:
            kind = type(held)  # (a proxy whose object is gone may not be asked)
            if issubclass(kind, SHARED) or kind.__module__.partition(".")[0] in COMPILER or id(held) in met:
                continue
            met.add(id(held))
            size += sys.getsizeof(held) + (held.nbytes if isinstance(held, np.ndarray) else 0)
            own.append(held)
        pending = gc.get_referents(*own)
    return size


class River(BaseEstimator):  # type: ignore[misc]
    """River's bookkeeping, in terms of scikit-learn's parameters."""

    __slots__ = SLOTS
    _guard: Guard | None
    _change: Change | None
    river_base = ""  # the class of River's that this one is registered with
    not_in_sklearn: ClassVar[Mapping[str, str]] = {}  # scikit-learn's checks that do not apply: why
    variants: ClassVar[Variants] = ({},)  # parameters to compile ahead with
    _entropy: int | None = None  # what random_state=None stands for, drawn once a model

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """With a guard of its own, however it is made (pickle, deepcopy and clone too)."""
        self: Self = super().__new__(cls)
        self._guard, self._change = Guard(), None
        return self

    def _original(self) -> Any:
        """Itself, or what this is a twin of."""
        return self if self._change is None else self._change.owner

    def __getstate__(self) -> dict[str, Any]:
        return frozen(self).__dict__  # others may go on learning while it is written

    def __copy__(self) -> Self:
        """With the same parameters, and a state of its own: both may go on learning."""
        twin: Self = type(self).__new__(type(self))
        twin.__dict__.update(self.__getstate__())
        return twin

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 (scikit-learn's name)
        """scikit-learn's, with NumPy's numbers as plain ones."""
        return repr_of(_in_plain_numbers(self), N_CHAR_MAX)

    def not_in_river(self) -> Mapping[str, str]:
        """Checks of River's that do not apply, each with its reason."""
        return {}

    def clone(self, new_params: dict[str, object] | None = None, include_attributes: bool = False) -> Self:
        """A fresh learner with the same parameters (and state, with `include_attributes`).

        Where `random_state` is None the copies share the entropy, so that they agree.
        """
        if include_attributes:
            twin: Self = copy.deepcopy(self).set_params(**(new_params or {}))
            return twin
        params = {name: copy.deepcopy(value) for name, value in self.get_params(deep=False).items()}
        twin = type(self)(**(params | (new_params or {})))
        if self._entropy is None:
            self._entropy = int(np.random.SeedSequence().generate_state(1)[0])
        twin._entropy = self._entropy
        return twin

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """scikit-learn reads the constructor's signature at every call; here once for each constructor."""
        read: Callable[[], list[str]] = super()._get_param_names
        if (cls, cls.__init__) not in _names:
            _names[cls, cls.__init__] = read()
        return list(_names[cls, cls.__init__])

    def _get_params(self) -> dict[str, object]:
        params: dict[str, object] = self.get_params(deep=False)
        return params

    def mutate(self, new_attrs: dict[str, object]) -> None:
        """Change parameters in place."""
        self.set_params(**new_attrs)

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
        return bytes_kept(self)

    @property
    def _memory_usage(self) -> str:
        from river.utils.pretty import humanize_bytes

        return str(humanize_bytes(self._raw_memory_usage))

    @classmethod
    def _unit_test_params(cls) -> Iterator[Mapping[str, object]]:
        yield {}

    def _unit_test_skips(self) -> set[str]:
        return set(self.not_in_river())


repr_of: Callable[[BaseEstimator, int], str] = BaseEstimator.__repr__


def _stand_in(cls: type) -> type:
    """A class of the same name and parameters whose repr is scikit-learn's own (it looks for that)."""
    return type(cls.__name__, (BaseEstimator,), {"__init__": inspect.getattr_static(cls, "__init__")})


def _in_plain_numbers(value: object) -> object:
    """A learner's stand-in with plain numbers as parameters; other values with plain numbers in them."""
    if not isinstance(value, River):
        return plain_number(value)
    double: object = object.__new__(_stand_in(type(value)))
    params = value.get_params(deep=False).items()
    double.__dict__.update({name: _in_plain_numbers(param) for name, param in params})
    return double


def register(cls: type) -> None:
    """Make River's isinstance tests say yes, now or when River is imported."""
    base: str = getattr(cls, "river_base", "")
    if not base:
        return
    if "river.base" in sys.modules:
        getattr(sys.modules["river.base"], base).register(cls)
    else:
        _waiting.append((cls, base))
        if not any(isinstance(finder, _Watch) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Watch())


class _Watch(importlib.abc.MetaPathFinder):
    """Waits for `import river.base`, then steps aside."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "river.base":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                run(module)
                for cls, base in _waiting:
                    getattr(module, base).register(cls)
                _waiting.clear()

            spec.loader.exec_module = run_and_register  # type: ignore[method-assign]
        return spec
