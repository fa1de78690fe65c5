"""Every code block of the README and the docs runs, and prints what it says it prints."""

import contextlib
import io
import os
import re
import runpy
from pathlib import Path

import pytest

import onmargin as om
from onmargin.models.table import ROWS, Row

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
TABLES = [  # without Python
    "docs/benchmarks.md",
    "docs/cluster_costs.md",
    "docs/command_line.md",
    "docs/moving_from_vowpal_wabbit.md",
    "docs/seeds.md",
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall((ROOT / page).read_text())
    scope: dict[str, object] = {}
    ran = 0
    for number, (language, code) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, f"{page}, block {number}", "exec"), scope)
        following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
        expected = following[1] if following[0] == "text" else ""
        assert printed.getvalue() == expected
        ran += 1
    assert ran > 0 or page in TABLES


def test_every_public_name_is_documented():
    readme = (ROOT / "README.md").read_text()
    for name in om.__all__:
        thing = getattr(om, name)
        assert name == "__version__" or thing.__doc__, name
    for learner in om.__all__:
        if isinstance(getattr(om, learner), type) and hasattr(getattr(om, learner), "partial_fit"):
            assert f"`{learner}`" in readme
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert om.__version__ in changes


def test_every_part_names_its_formula():
    for recipe in (row for row in ROWS.values() if isinstance(row, Row)):
        for part in (
            *recipe.task,
            recipe.loss,
            recipe.step,
            recipe.query,
            recipe.space.score,
            recipe.space.move,
        ):
            assert part.__doc__, part


def test_the_figure_of_the_readme_is_what_its_script_draws(tmp_path):
    """The same names with the same errors at the ends of the curves."""
    drawn = tmp_path / "curves.svg"
    runpy.run_path(str(ROOT / "docs/gallery/plot_learning_curves.py"))["main"](drawn)
    labels = re.compile(r">([A-Z][^<]*%|[^<]*flipped|[^<]*classes)<")
    shown = labels.findall((ROOT / "docs/learning_curves.svg").read_text())
    assert shown == labels.findall(drawn.read_text()) and len(shown) >= 10


def test_the_figure_of_the_architecture_has_every_room_in_its_layer(tmp_path):
    """The rooms of the committed figure are those its script draws: the layers that import-linter keeps.

    How often they import each other may have changed a little since; `make docs` counts anew.
    """
    script = runpy.run_path(str(ROOT / "docs/gallery/plot_architecture.py"))
    script["main"](tmp_path / "drawn.svg")
    words = re.compile(r">([a-z_]+)</text>")
    for figure in (tmp_path / "drawn.svg", ROOT / "docs/architecture.svg"):
        assert words.findall(figure.read_text()) == script["rooms"]()


def test_import_is_light():
    """`import onmargin` loads none of the heavy modules."""
    import subprocess
    import sys

    heavy = ("numpy", "numba", "sklearn", "scipy", "pandas")
    code = f"import sys, onmargin; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    linked = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in linked if not ((ROOT / page).parent / link).exists()] == []
