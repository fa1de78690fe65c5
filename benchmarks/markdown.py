"""Tables in Markdown that are readable in a log too."""

from __future__ import annotations

WIDTH = 80
Cells = list[list[str]]


def table(heads: list[str], lines: Cells, right: frozenset[int] | set[int] = frozenset()) -> list[str]:
    """Columns as wide as their widest cell; those in `right` flush right."""
    widths = [max(len(line[k]) for line in [heads, *lines]) for k in range(len(heads))]

    def row(cells: list[str]) -> str:
        placed = [
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(placed) + " |"

    rule = ["-" * (width - 1) + ":" if k in right else "-" * width for k, width in enumerate(widths)]
    return [row(cells) for cells in (heads, rule, *lines)]


def short(value: float) -> str:
    """About three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
