"""`make docs`: run every script of the gallery."""

from __future__ import annotations

import runpy
from pathlib import Path

for script in sorted((Path(__file__).parent / "gallery").glob("plot_*.py")):
    print(f"running {script.name}")
    runpy.run_path(str(script), run_name="__main__")
