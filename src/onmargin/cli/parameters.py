"""Options that a command does not know itself: --name value, for algorithm, format and features."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import typer

NEAR = 0.86  # how like an option of the command a word is that was meant to be it (no parameter is)
ANY = {"allow_extra_args": True, "ignore_unknown_options": True}  # settings of such a command


def told_apart(context: typer.Context, words: Sequence[str]) -> tuple[list[str], dict[str, object]]:
    """Data, and parameters by name: `-C 0.1`, `--fit-intercept false`, `--C=0.1`; onmargin.toml's too."""
    from ..errors import BadInput
    from ..protocols.requested.naming import typed

    known = {parameter.name for parameter in context.command.params}
    given = context.default_map or {}
    found: dict[str, object] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if name not in known
    }
    options = [word for parameter in context.command.params for word in parameter.opts]
    data: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            data.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        meant = get_close_matches(f"--{name}", options, 1, NEAR)
        if meant:
            raise BadInput(f"there is no option --{name}; did you mean {meant[0]}?")
        if not equals and not rest:
            raise BadInput(f"{word} has no value; wanted {word} VALUE")
        if word in ("--", "---") or not name:
            raise BadInput(f"{word!r} is no option; wanted --name value")
        found[name.replace("-", "_")] = typed(value if equals else rest.pop(0))
    return data, found
