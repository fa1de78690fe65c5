"""The rules of the house, so that they stay: who may hold what, who may touch whom, what is declared once."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import onmargin as om
from onmargin.estimators import every
from onmargin.interface.parameters.fields import GROUPS
from onmargin.models.paired.model import PairedModel
from onmargin.models.weights import Model

PACKAGE = Path(om.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
TEXTS = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in SOURCES}
TREES = {name: ast.parse(text) for name, text in TEXTS.items()}
NAMED_TUPLE = {"_replace", "_asdict", "_fields", "_make"}


def nodes(*folders: str) -> Iterator[tuple[str, ast.AST]]:
    """Every node of the files in these folders."""
    for name, tree in TREES.items():
        if name.split("/")[0] in folders:
            yield from ((name, node) for node in ast.walk(tree))


def models() -> set[str]:
    """The names of all classes of models."""
    assert PairedModel in Model.__subclasses__()[0].__subclasses__() or issubclass(PairedModel, Model)

    def below(cls: type) -> Iterator[str]:
        yield cls.__name__
        for child in cls.__subclasses__():
            yield from below(child)

    every()  # all modules are loaded
    return set(below(Model))


@pytest.mark.parametrize("name", sorted(every()))
def test_at_most_six_classes_of_ours_stand_behind_an_estimator(name):
    own = [cls for cls in every()[name].__mro__ if cls.__module__.startswith("onmargin.")]
    assert len([cls for cls in own if cls not in GROUPS]) <= 6


@pytest.mark.parametrize("group", sorted(GROUPS, key=lambda cls: cls.__name__))
def test_a_group_of_parameters_has_no_methods(group):
    made_by_dataclass = {"__init__", "__replace__"}
    assert not {name for name, value in vars(group).items() if callable(value)} - made_by_dataclass
    assert dataclasses.is_dataclass(group)


@pytest.mark.parametrize("words", ["me: Any = self", "cast(Any", 'cast("Any'])
def test_no_way_around_the_types(words):
    assert [name for name, text in TEXTS.items() if words in text] == []


def test_nobody_hands_on_unknown_attributes():
    """(The package itself loads its names on first use, and so do those that learners import.)"""
    found = [name for name, node in nodes(*{n.split("/")[0] for n in TEXTS}) if _is_getattr(node)]
    assert set(found) <= {"__init__.py", "sources/__init__.py", "features/__init__.py"}


def _is_getattr(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__getattribute__")


def test_types_stay_strict():
    text = "\n".join(TEXTS.values())
    assert len(re.findall(r"\bAny\b", text)) <= 700
    assert text.count("type: ignore") <= 20
    settings = (PACKAGE.parent.parent / "pyproject.toml").read_text()
    assert 'module = ["onmargin.compiled.*", "onmargin.learn.*"]' in settings
    assert settings.count("[[tool.mypy.overrides]]") == 2 and "strict = true" in settings


ABOVE = ("interface", "estimators", "protocols", "results", "experiments", "cli.py", "demo.py", "warm.py")


def test_only_models_know_what_kind_of_model_they_are():
    names = models()
    asked = [
        f"{name}:{node.lineno}"
        for name, node in nodes(*ABOVE)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and names & {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
    ]
    assert asked == []


def test_the_arrays_of_a_model_are_its_own():
    found = [
        f"{name}:{node.lineno}"
        for name, node in nodes(*ABOVE)
        if isinstance(node, ast.Attribute) and node.attr in ("space", "hyper", "desk")
    ]
    assert found == []


def test_protocols_and_results_use_only_what_has_a_name():
    """No private part of another object."""
    found = [
        f"{name}:{node.lineno} {node.attr}"
        for name, node in nodes("protocols", "results")
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in NAMED_TUPLE
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert found == []


def test_every_public_learner_is_declared_once():
    """The classes of the registry are the learners of the package's table, each in the module it names."""
    public = {name for name, cls in every().items() if not cls.__dict__.get("inside", False)}
    table = {
        name
        for name in om.__all__
        if isinstance(getattr(om, name), type) and hasattr(getattr(om, name), "fit")
    }
    assert public == table
    for name in public:
        assert getattr(om, name) is every()[name]


def test_every_parameter_is_declared_with_its_limits():
    for cls in every().values():
        for field in dataclasses.fields(cls):
            assert "declared" in field.metadata, (cls, field.name)
        assert {field.name for field in dataclasses.fields(cls)} == set(cls._get_param_names())


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_first_line_says_what_a_module_holds(name):
    said = ast.get_docstring(TREES[name])
    assert said and len(said.splitlines()[0]) <= 100


def test_files_hold_one_noun():
    """The largest noun is the learner itself."""
    long = {name: text.count("\n") for name, text in TEXTS.items() if text.count("\n") > 470}
    assert set(long) <= {"interface/learner.py"} and max(long.values(), default=0) <= 520


def test_folders_can_be_taken_in_at_a_glance():
    """The experiments are a list: one is added without knowing the others."""
    sizes = Counter(name.rpartition("/")[0] for name in TEXTS)
    assert {folder: size for folder, size in sizes.items() if size > 20} == {
        "experiments": sizes["experiments"]
    }


def _asking(tests: Path) -> list[Path]:
    return [*tests.glob("*conformance.py"), tests / "test_banditron.py", tests / "test_tracking.py"]


def test_every_learner_goes_through_the_checks_of_scikit_learn():
    """By its name in a file of checks (a new learner is entered there)."""
    tests = Path(__file__).parent / "estimators"
    text = "".join(path.read_text() for path in _asking(tests))
    asked = {name for name in every() if f"om.{name}" in text}
    assert {name for name, cls in every().items() if not cls.__dict__.get("inside", False)} - asked == set()
