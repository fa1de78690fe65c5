"""`make docs`: run every script of the gallery, and write the pages that programs know better."""

from __future__ import annotations

import runpy
import tempfile
from pathlib import Path

from . import command_line, seeds, side_by_side

for script in sorted((Path(__file__).parent / "gallery").glob("plot_*.py")):
    print(f"running {script.name}")
    runpy.run_path(str(script), run_name="__main__")

print("writing command_line.md")
command_line.PAGE.write_text(command_line.page(), encoding="utf-8")
print("writing seeds.md")
seeds.PAGE.write_text(seeds.page(), encoding="utf-8")
if side_by_side.absent():
    print(f"left as it is: moving_from_vowpal_wabbit.md ({side_by_side.absent()})")
else:
    print("writing moving_from_vowpal_wabbit.md")
    with tempfile.TemporaryDirectory() as folder:
        side_by_side.write_table(Path(folder))
