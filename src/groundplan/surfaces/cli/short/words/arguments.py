"""Parse the arguments of a short word: options in any place, `--` before what may look like one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.surfaces.cli.short.words.program_name import PROGRAM
from groundplan.surfaces.cli.short.words.table import COMMON_OPTIONS, Option, Word, WordArgument


class Line(msgspec.Struct, frozen=True):
    """A command line of a short word: the values of its arguments and options."""

    word: Word
    given: Mapping[str, list[str]]
    switches: frozenset[str] = frozenset()

    def first(self, name: str) -> str | None:
        """Return the last value given for a name, as everywhere on the command line; None if there is none."""
        values = self.given.get(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        """Return every value given for a name."""
        return list(self.given.get(name, ()))

    def has(self, switch: str) -> bool:
        """Return whether a switch is given."""
        return switch in self.switches


def parse_line(word: Word, argv: Sequence[str]) -> Line:
    """Return the values in the arguments of a word."""
    options = {name: option for option in (*word.options, *COMMON_OPTIONS) for name in option.names}
    given: dict[str, list[str]] = {}
    switches: set[str] = set()
    positional: list[str] = []
    rest = list(argv)
    while rest:
        text = rest.pop(0)
        if text == "--":
            positional += rest
            break
        if not text.startswith("-") or text == "-":
            positional.append(text)
            continue
        name, value = _split_option(text)
        option = options.get(name)
        if option is None:
            raise _unknown_option(word, name, list(options))
        if not option.value:
            if value is not None:
                raise usage_error(word, f"{name} takes no value")
            switches.add(option.key)
            continue
        if value is None:
            if not rest:
                raise usage_error(word, f"{name} needs a value, {option.value}")
            value = rest.pop(0)
        given.setdefault(option.key, []).append(value)
    if "help" not in switches:
        given |= _assign(word, positional)
    return Line(word, given, frozenset(switches))


def usage_error(word: Word, sentence: str, **details: Any) -> Exception:
    """Return the error for a command line that is not valid."""
    from groundplan.surfaces.cli.failures import UsageError
    from groundplan.surfaces.cli.short.words.program_name import get_program_name

    usage = f"{get_program_name()} {word.name} --help"
    return UsageError(f"{sentence}; see {usage}", help=usage, **details)


def _split_option(text: str) -> tuple[str, str | None]:
    """Return the name of an option and its value, if that is in the same text: `--tag=a` or `-ta`."""
    if text.startswith("--"):
        name, has_value, value = text.partition("=")
        return name, value if has_value else None
    return text[:2], text[2:] or None


def _unknown_option(word: Word, name: str, known: Sequence[str]) -> Exception:
    near = find_nearest(name, known)
    hint = f", did you mean {near}" if near else ""
    return usage_error(word, f"no such option {quote_text(name)}{hint}", **({"near": near} if near else {}))


def _assign(word: Word, texts: list[str]) -> dict[str, list[str]]:
    """Return the texts by the arguments that they are for."""
    values: dict[str, list[str]] = {}
    for argument in word.arguments:
        taken = len(texts) if argument.many else 1
        own, texts = texts[:taken], texts[taken:]
        if own:
            values[argument.name.lower()] = [" ".join(own)] if argument.joined else own
        elif argument.required:
            raise usage_error(word, f"{argument.name} is missing: {argument.help[:1].lower()}{argument.help[1:-1]}")
    if texts:
        raise usage_error(word, f"{word.name} does not take {quote_text(texts[0])}")
    return values


def format_usage(word: Word) -> str:
    """Return the usage of a word on one line."""
    shown = [_format_argument(argument) for argument in word.arguments]
    return " ".join([PROGRAM, word.name, *shown, *(["[OPTIONS]"] if word.options else [])])


def _format_argument(argument: WordArgument) -> str:
    name = f"{argument.name}…" if argument.many else argument.name
    return name if argument.required else f"[{name}]"


def format_option(option: Option) -> str:
    """Return the names of an option, with the name of its value."""
    names = ", ".join(option.names)
    return f"{names} {option.value}" if option.value else names
