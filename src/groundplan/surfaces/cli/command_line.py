"""What a command takes, as data, and the one parser of every command line.

Options stand in any place, `--` before what may look like one. The same data makes `--help`, the completion of shells,
the reference and the manual page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from groundplan.configuration import SETTINGS, Settings
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.program_name import get_program_name

TRUE, FALSE = "true", "false"  # the given values of a switch
LONG_DASHES = ("\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212")


class Kind(StrEnum):
    """What a value is, for completion."""

    TEXT = "text"
    NODE = "node"
    PROJECT = "project"
    TAG = "tag"
    KEY = "key"
    FILE = "file"


class Parameter(NamedTuple):
    """An argument, which has no names, or an option: its names, the longest first. A switch has no value."""

    names: tuple[str, ...]
    value: str  # what the value is called
    help: str
    kind: Kind = Kind.TEXT
    many: bool = False
    required: bool = False
    joined: bool = False  # of several words for one text, the quotation marks may be left out
    key: str = ""  # the name by which its value is found
    type: type = str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    default: Any = None
    off: str = ""  # the name for the opposite of a switch
    section: str = ""  # of --help
    fields: tuple[str, ...] = ()  # that operations fill from it, as errors name them, with [] for any item
    is_piped: bool = False  # - stands for standard input
    may_be_empty: bool = False  # the value may be left out: the option alone stands for an empty one

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return bool(self.names) and not self.value

    @property
    def label(self) -> str:
        """What a message calls it."""
        return self.names[0] if self.names else " ".join(w for w in self.value.split() if w[0] != "[") or self.value


def argument(value: str, text: str = "", kind: Kind = Kind.TEXT, **others: Any) -> Parameter:
    """Return a positional argument."""
    return Parameter((), value, text, kind, **{"key": value.lower(), **others})


def option(*names: str, value: str = "", text: str = "", kind: Kind = Kind.TEXT, **others: Any) -> Parameter:
    """Return an option; without the name of a value it is a switch."""
    key = names[0].removeprefix("--").replace("-", "_") if names else ""
    return Parameter(names, value, text, kind, **{"key": key, **others})


class Command(NamedTuple):
    """One command: its words, what it takes, and the function that runs it."""

    words: tuple[str, ...]
    summary: str = ""
    run: Callable[..., Any] | None = None
    parameters: tuple[Parameter, ...] = ()
    about: str = ""  # below the summary, in --help
    synonyms: tuple[str, ...] = ()
    common: tuple[Parameter, ...] = ()  # options that other commands have, too

    @property
    def arguments(self) -> list[Parameter]:
        """Its positional arguments."""
        return [one for one in self.parameters if not one.names]

    @property
    def options(self) -> list[Parameter]:
        """Its own options."""
        return [one for one in self.parameters if one.names]


def make_flag(setting: str, otherwise: str = "") -> Parameter:
    """Return the option of a setting; `otherwise` is what holds if it is given nowhere, if that differs here."""
    row = SETTINGS[setting]
    otherwise = otherwise or row.otherwise or str(Settings._field_defaults[setting] or "")
    default = ", else ".join(filter(None, (row.variable, otherwise)))
    text = f"{row.help} Default: {default}." if default else row.help
    may_be_empty = row.flag.startswith("[")
    return option(f"--{setting}", value=row.flag, text=text, choices=row.choices, may_be_empty=may_be_empty)


PROJECT_OPTION = option(
    "--project", "-P", value="NAME", text="The project. Default: the configured, else the only one.", kind=Kind.PROJECT
)
CONFIG_OPTION = option(
    "--config",
    value="FILE",
    text="Configuration file. Default: the nearest groundplan.yaml, here or above.",
    kind=Kind.FILE,
)
HELP_OPTION = option("--help", "-h", text="Show this and exit.")
COMMON_OPTIONS: tuple[Parameter, ...] = (
    option("--json", text="Print the answer as JSON, one line for each call."),
    option("--no-pager", text="Print long output at once."),
    make_flag("db")._replace(kind=Kind.FILE),
    *map(make_flag, ("org", "agent", "person", "access")),
    CONFIG_OPTION,
    HELP_OPTION,
)


class Line(NamedTuple):
    """A parsed command line: the texts that were given, by the key of their parameter."""

    command: Command
    given: Mapping[str, list[str]]

    def find(self, key: str) -> str | None:
        """Return the text given for a parameter; None if there is none."""
        texts = self.given.get(key)
        return texts[-1] if texts else None

    def has(self, key: str) -> bool:
        """Return whether a switch is on."""
        return self.find(key) == TRUE

    def convert(self) -> dict[str, Any]:
        """Return the values of the command's own parameters."""
        return {one.key: self._convert(one) for one in self.command.parameters}

    def _convert(self, parameter: Parameter) -> Any:
        texts = self.given.get(parameter.key, [])
        if not texts:
            if parameter.required:
                raise usage_error(self.command.words, f"{parameter.label} is missing{_explain(parameter)}")
            return parameter.default
        if parameter.is_switch:
            return texts[-1] == TRUE
        values = [_parse(self.command, parameter, text) for text in texts]
        return values if parameter.many and not parameter.joined else values[-1]


def parse_line(command: Command, argv: Sequence[str]) -> Line:
    """Return the texts in the arguments of a command."""
    options = index_options((*command.common, *command.options))
    given: dict[str, list[str]] = {}
    positional: list[str] = []
    rest = list(argv)
    while rest:
        text = rest.pop(0)
        if text == "--":
            positional += rest
            break
        if text[0:1] in LONG_DASHES and (meant := _find_typed(text, options)):
            sentence = f"{quote_text(text)} begins with a long dash; a text like this stands after --"
            raise usage_error(command.words, sentence, meant)
        if not text.startswith("-") or text == "-" or _is_number(text):
            positional.append(text)
            continue
        name, value = _split_option(text)
        found = options.get(name)
        if found is None:
            raise _refuse_option(command, name, options)
        if found.is_switch:
            if value is not None:
                raise usage_error(command.words, f"{name} takes no value")
            value = FALSE if name == found.off else TRUE
        elif value is None:
            value = _take_value(command, name, found, rest, options)
        if found.choices:
            _check_choice(command, found, value)
        is_repeated_switch = found.is_switch and given.get(found.key) == [value]
        if found.key in given and not (found.many or is_repeated_switch):
            raise usage_error(command.words, f"{name} is given twice; leave one of them out")
        given[found.key] = [*given.get(found.key, []), value]
    if "help" not in given:
        given |= _assign(command, positional)
    return Line(command, given)


def index_options(options: Iterable[Parameter]) -> dict[str, Parameter]:
    """Return options by each of their names."""
    return {name: one for one in options for name in (*one.names, *([one.off] if one.off else []))}


def usage_error(words: Sequence[str], sentence: str, near: str | None = None, **details: Any) -> UsageError:
    """Return the error for a command line that is not valid, with the nearest name if one was mistyped."""
    usage = " ".join((get_program_name(), *words, "--help"))
    hint = f"; did you mean {near}?" if near else ";"
    details |= {"near": near} if near else {}
    return UsageError(f"{sentence}{hint} see {usage}", help=usage, **details)


def _is_number(text: str) -> bool:
    """Return whether a text is a negative number, which no option looks like."""
    return text[1:2].isdigit() or text[1:3].removeprefix(".").isdigit()


def _find_typed(text: str, options: Mapping[str, Parameter]) -> str | None:
    """Return the option whose dashes became a long one in a text program."""
    name = text.partition("=")[0].lstrip("".join(LONG_DASHES) + "-")
    return next((typed for typed in (f"-{name}", f"--{name}") if typed in options), None)


def _split_option(text: str) -> tuple[str, str | None]:
    """Return the name of an option and its value, if that is in the same text: `--tag=a` or `-ta`."""
    if text.startswith("--"):
        name, has_value, value = text.partition("=")
        return name, value if has_value else None
    return text[:2], text[2:] or None


def _take_value(
    command: Command, name: str, parameter: Parameter, rest: list[str], options: Mapping[str, Parameter]
) -> str:
    if parameter.may_be_empty:
        return "" if not rest or rest[0].startswith("-") else rest.pop(0)
    if not rest:
        raise usage_error(command.words, f"{name} needs a value, {parameter.value}")
    if rest[0].partition("=")[0] in options:
        hint = f"; for a value that is called like an option write {name}={rest[0]}"
        raise usage_error(command.words, f"{name} needs a value, {parameter.value}, before {rest[0]}{hint}")
    return rest.pop(0)


def _refuse_option(command: Command, name: str, known: Iterable[str]) -> UsageError:
    begun = [one for one in known if one.startswith(name)]
    near = begun[0] if len(begun) == 1 else find_nearest(name, list(known))
    if near is None:
        word = name.lstrip("-")
        near = next((word for one in command.arguments if word in one.choices), None)
        near = next((one.label for one in command.arguments if one.key == word), near)
    takes_words = bool(command.arguments) and near is None
    hint = ", and a value that begins with a dash stands after --" if takes_words else ""
    return usage_error(command.words, f"no such option {quote_text(name)}{hint}", near)


def _assign(command: Command, texts: list[str]) -> dict[str, list[str]]:
    """Return the texts by the arguments that they are for; the arguments after one that takes many keep one each."""
    values: dict[str, list[str]] = {}
    arguments = command.arguments
    for at, one in enumerate(arguments):
        after = sum(other.required for other in arguments[at + 1 :])
        taken = max(len(texts) - after, 0) if one.many else 1
        own, texts = texts[:taken], texts[taken:]
        if own:
            values[one.key] = [" ".join(own)] if one.joined else own
        elif one.required:
            raise usage_error(command.words, f"{one.label} is missing{_explain(one)}")
    if texts:
        named = [f"{one.label} {one.value}" for one in command.options if one.value]
        hint = f"; values have options here: {', '.join(named)}" if named and not arguments else ""
        raise usage_error(command.words, f"{' '.join(command.words)} does not take {quote_text(texts[0])}{hint}")
    return values


def _explain(parameter: Parameter) -> str:
    """Return what a missing parameter is: its choices, or the first sentence of its help."""
    if parameter.choices:
        return f": {join_alternatives(parameter.choices)}"
    text = parameter.help.partition(". ")[0]
    return f": {text[:1].lower()}{text[1:].rstrip('.')}" if text else ""


def _parse(command: Command, parameter: Parameter, text: str) -> Any:
    if parameter.choices:
        _check_choice(command, parameter, text)
    if parameter.type is str:
        return text
    kind = "a whole number" if parameter.type is int else "a number"
    low, high = parameter.low, parameter.high
    try:
        number = parameter.type(text)
        is_within = (low is None or number >= low) and (high is None or number <= high) and number - number == 0
    except ValueError:
        is_within = False
    if is_within:
        return number
    limits = "" if low is None else f" of at least {low}" if high is None else f" from {low} to {high}"
    raise usage_error(command.words, f"{parameter.label} must be {kind}{limits}, not {quote_text(text)}")


def _check_choice(command: Command, parameter: Parameter, text: str) -> None:
    if text not in parameter.choices:
        sentence = f"{parameter.label} must be {join_alternatives(parameter.choices)}, not {quote_text(text)}"
        near = find_nearest(text, parameter.choices)
        raise usage_error(command.words, sentence, near, allowed=list(parameter.choices))
