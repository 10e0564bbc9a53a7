"""Convert errors of typer into usage errors with a suggestion."""

from __future__ import annotations

import re
from typing import Any

import typer

from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.short.words.table import WORDS

_NO_SUCH_COMMAND = re.compile(r"No such command '(.*)'\.?$", re.DOTALL)


def to_usage_error(error: typer.TyperException) -> UsageError:
    """Return an error of typer as a UsageError, with the nearest option or command."""
    ctx = getattr(error, "ctx", None)
    message = error.format_message()
    details: dict[str, Any] = {}
    near = None
    if hasattr(error, "possibilities"):  # an option that does not exist
        option = getattr(error, "option_name", "")
        sentence, near = f"no such option {quote_text(option)}", find_nearest(option, _list_options(ctx))
    elif ctx and (unknown := _NO_SUCH_COMMAND.match(message)):
        sentence, near = f"no such command {quote_text(unknown[1])}", find_nearest(unknown[1], _list_commands(ctx))
    else:
        sentence = " ".join(message.replace("Value error, ", "").split()).rstrip(".")
        sentence = sentence[:1].lower() + sentence[1:]
    if near:
        sentence += f"; did you mean {near}?"
        details["near"] = near
    if ctx:
        details["help"] = f"{ctx.command_path} --help"
        sentence += f"{'' if near else ';'} see {details['help']}"
    return UsageError(sentence, **details)


def _list_options(ctx: Any) -> list[str]:
    return [name for parameter in ctx.command.get_params(ctx) for name in parameter.opts if name.startswith("--")]


def _list_commands(ctx: Any) -> list[str]:
    words = [] if ctx.parent else [word.name for word in WORDS]  # also commands of the program itself
    return [*getattr(ctx.command, "commands", ()), *words]
