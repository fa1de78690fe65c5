"""Parameters of algorithms on the command line: every option that a command does not have itself."""

from __future__ import annotations

from collections.abc import Mapping

import typer
from typer.core import TyperCommand

KEPT = "onmargin.parameters"  # where a context keeps them


class WithParameters(TyperCommand):
    """A command whose further options (`-C 0.1`, `--rate 1`, `--fit-intercept=false`) are the algorithm's.

    In onmargin.toml they stand beside the command's own. One without a value is `true`.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Take them out of the words, wherever they stand; the rest is parsed as ever."""
        takes = {
            word: not getattr(option, "is_flag", False)
            for option in self.params
            for word in (*option.opts, *option.secondary_opts)
            if word.startswith("-")
        } | {"--help": False}
        own = {option.name for option in self.params}
        found = {
            name: _written(value) for name, value in (ctx.default_map or {}).items() if name not in own
        }
        rest: list[str] = []
        words = list(args)
        while words:
            word = words.pop(0)
            name, equals, value = word.partition("=")
            if word == "--":
                rest += [word, *words]
                break
            if name in takes:
                rest.append(word)
                if takes[name] and not equals and words:
                    rest.append(words.pop(0))
            elif not _is_option(name):
                rest.append(word)
            else:
                if not equals and not name.startswith("--") and len(name) > 2:  # -C0.1
                    name, value = name[:2], name[2:]
                elif not equals:
                    value = "true" if not words or _is_option(words[0]) else words.pop(0)
                found[name.lstrip("-").replace("-", "_")] = value
        ctx.meta[KEPT] = found
        return super().parse_args(ctx, rest)


def parameters(ctx: typer.Context) -> Mapping[str, str]:
    """What was given, by name, as it was typed."""
    found: Mapping[str, str] = ctx.meta[KEPT]
    return found


def _is_option(word: str) -> bool:
    """-C, --rate; not -, not -0.5."""
    return len(word) > 1 and word[0] == "-" and not (word[1].isdigit() or word[1] == ".")


def _written(value: object) -> str:
    """A value of the settings file as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_written, value)) if isinstance(value, list) else str(value)
