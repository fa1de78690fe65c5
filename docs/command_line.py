"""docs/command_line.md: what every command says of itself with --help, in one page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parent / "command_line.md"
WIDTH = 78  # as in a terminal of 80 columns
HEAD = """# The command line

Written by `make docs` from `onmargin COMMAND --help`; a test compares them.

Results go to standard output, remarks and live bars to standard error, and only where it is a terminal.
`--json` prints JSON lines instead of text; `NO_COLOR` is minded; a refusal is one line and exit code 2,
Ctrl-C is 130. `onmargin --install-completion` makes the shell complete commands and options.

Options may also stand in `onmargin.toml` in the folder at hand, a table for each command (`[data.list]`
too), by their long names; what is typed goes before:

```toml
[learn]
algorithm = "arow"
r = 0.1
passes = 2
```
"""


def commands() -> Iterator[tuple[str, str]]:
    """(name, help) of the program and of each command, in their order."""
    from typer import Context
    from typer.main import get_command

    from onmargin.cli.app import app

    def told(command: object, name: str) -> Iterator[tuple[str, str]]:
        yield name, command.get_help(Context(command, info_name=name, terminal_width=WIDTH))
        for own, inside in getattr(command, "commands", {}).items():
            yield from told(inside, f"{name} {own}")

    yield from told(get_command(app), "onmargin")


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, text in commands():
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        parts.append(f"## {name}\n\n```console\n{lines}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
