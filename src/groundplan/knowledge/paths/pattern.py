r"""Path patterns: their syntax, parsing and matching.

    *   any characters within a name, `?` one of them     [a-c] [!a] [^a]   one character of those, or of the others
    **  as a whole segment: any directories, or none      {a,b}             either, `/` included
    \   the next character as it is                       anything else     itself

A path that equals the text of a pattern also matches it, so `app/[id]/page.tsx` finds the file of that name.

A pattern is never turned into a regular expression as a whole: what stands between two stars, or between two `**`, has
a fixed length, so the first place where it fits is the best one, and the search never goes back. The time grows at
most with the length of the path times that of the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from groundplan.knowledge.paths.names import EVERY_FILE, is_drive, split_path

ALTERNATIVES_MAX = 64
EXPANDED_CHARS_MAX = 8_192  # over all alternatives, because the cost of a match grows with them
PATTERN_CHARS_MAX = 512
STEPS_PER_RUN = 3  # measured: comparing a wildcard with a name takes three times as long as comparing a plain name
COST_MAX = 300  # 4,096 characters of a path then take some 50 ms, on a slow machine 120
SEGMENTS_CACHED_MAX = 4_096  # segments such as `*` and `*.ts` are in many patterns and share one object
DOTS = re.compile(r"(?:\\\.|\[(?:\\\.-\\\.)+\]){1,2}")  # one or two, as the regular expression of a run
PLAIN = re.compile(r"[^*?{},\[\\]+")
POSIX_CLASS = re.compile(r"\[:([A-Za-z]+):\]")
POSIX_CLASSES = {
    "alnum": "[A-Za-z0-9]",
    "alpha": "[A-Za-z]",
    "digit": "[0-9]",
    "lower": "[a-z]",
    "upper": "[A-Z]",
    "word": "[A-Za-z0-9_]",
    "xdigit": "[0-9A-Fa-f]",
}


class MalformedPattern(Exception):
    """The text is not a valid pattern. The error has the problem and the correct form."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(f"{problem}; {hint}")
        self.problem = problem  # reads on after the pattern: "has an unclosed '['"
        self.hint = hint


class AbsolutePattern(MalformedPattern):
    """The text is an absolute path. `rest` is the path without its beginning."""

    def __init__(self, text: str, start: str) -> None:
        self.rest = text.removeprefix(start).lstrip("/") or EVERY_FILE
        super().__init__(
            f"begins with {start!r}", f"write {self.rest}, without what is above the root of the repository"
        )


def split_pieces(text: str) -> Iterator[str]:
    """Yield the parts of a pattern: its special signs, plain texts, classes and escapes."""
    at = 0
    while at < len(text):
        if plain := PLAIN.match(text, at):
            end = plain.end()
        else:
            end = _parse_class(text, at)[1] if text[at] == "[" else _skip_character(text, at)
        yield text[at:end]
        at = end


def _skip_character(text: str, at: int) -> int:
    r"""Return the index after the character at an index. `\` and the next character count as one."""
    if text[at] != "\\":
        return at + 1
    if text[at + 1 : at + 2] in ("", "/"):
        raise MalformedPattern(
            r"has a lone '\'", r"write / alone between directories, and \\ for a backslash in a name"
        )
    return at + 2


def _parse_class(text: str, start: int) -> tuple[str, int]:
    """Return the class that begins at an index, as a regular expression, and the index after it."""
    at = first = start + 1 + text.startswith(("!", "^"), start + 1)
    expression = "[^" if first > start + 1 else "["
    while not (at > first and text.startswith("]", at)):
        if text[at : at + 1] in ("", "/"):
            hint = r"close it with ']' in the same segment, or write \[ for a bracket"
            raise MalformedPattern("has an unclosed '['", hint)
        if named := POSIX_CLASS.match(text, at):
            instead = POSIX_CLASSES.get(named[1], "the characters themselves, like [a-z]")
            raise MalformedPattern(f"has the class '[:{named[1]}:]'", f"write {instead}")
        end = _skip_character(text, at)
        low = high = text[end - 1]
        if text.startswith("-", end) and text[end + 1 : end + 2] not in ("", "]", "/"):
            end = _skip_character(text, end + 1)
            high = text[end - 1]
        if high < low:
            raise MalformedPattern(
                f"has the range '{low}-{high}', which runs backwards",
                rf"write [{high}-{low}], or \[ and \] for brackets that belong to a name",
            )
        expression += f"{re.escape(low)}-{re.escape(high)}"
        at = end
    return expression + "]", at + 1


def expand_braces(text: str) -> list[str]:
    """Return the distinct patterns that the braces of a pattern expand to, in order.

    The text is read once. Each open brace has its finished branches and the current one; neither may exceed the limit,
    so a text whose expansion would explode is refused.
    """
    outer: list[tuple[list[str], list[str]]] = []  # the state before each open brace
    finished: list[str] = []
    branch = [""]
    for piece in split_pieces(text):
        if piece == "{":
            outer.append((finished, branch))
            finished, branch = [], [""]
        elif piece == "," and outer:
            finished, branch = finished + branch, [""]
        elif piece == "}" and outer:
            # Braces without a comma are literal text. Their content may still contain expanded braces.
            group = finished + branch if finished else [f"{{{inner}}}" for inner in branch]
            finished, before = outer.pop()
            _refuse_too_many(len(before) * len(group))
            branch = [left + right for left in before for right in group]
        else:
            branch = [begun + piece for begun in branch]
        _refuse_too_many(len(finished) + len(branch))
    if outer:
        raise MalformedPattern("has an unclosed '{'", r"close it with '}', or write \{ for a brace")
    if sum(map(len, branch)) > EXPANDED_CHARS_MAX:
        problem = f"has more than {EXPANDED_CHARS_MAX:,} characters when its braces are written out"
        raise MalformedPattern(problem, "use several shorter patterns")
    return list(dict.fromkeys(branch))


def _refuse_too_many(alternatives: int) -> None:
    if alternatives > ALTERNATIVES_MAX:
        problem = f"stands for more than {ALTERNATIVES_MAX} alternatives"
        raise MalformedPattern(problem, "use fewer braces, or * in their place")


class Run:
    """A part of a segment between two stars: a literal text, or a regular expression of fixed length."""

    __slots__ = ("_compiled", "is_literal", "length", "text")

    def __init__(self, text: str, length: int, *, is_literal: bool) -> None:
        self.text = text
        self.length = length
        self.is_literal = is_literal
        self._compiled: re.Pattern[str] | None = None  # most runs of an index are never compared

    def find(self, name: str, start: int, end: int) -> int:
        """Return the first index in a range of a name at which the run matches, or -1."""
        if self.is_literal:
            return name.find(self.text, start, end)
        if self._compiled is None:
            self._compiled = re.compile(self.text, re.DOTALL)
        match = self._compiled.search(name, start, end)
        return -1 if match is None else match.start()


class Wildcard:
    """A segment with wildcards: a list of runs with a star between each two."""

    __slots__ = ("chars_min", "first", "last", "middle")

    def __init__(self, runs: Sequence[Run]) -> None:
        self.first = runs[0]
        self.middle = tuple(runs[1:-1])
        self.last = runs[-1] if len(runs) > 1 else None  # None: the segment has no star
        self.chars_min = sum(run.length for run in runs)

    @property
    def head(self) -> str:
        """The literal text at the beginning of each matching name."""
        return self.first.text if self.first.is_literal else ""

    @property
    def tail(self) -> str:
        """The literal text at the end of each matching name."""
        return self.last.text if self.last is not None and self.last.is_literal else ""

    @property
    def is_any_name(self) -> bool:
        return not self.chars_min and not self.middle

    def accepts(self, name: str) -> bool:
        """Return True if a name matches."""
        first, last, chars = self.first, self.last, len(name)
        if chars < self.chars_min or first.find(name, 0, first.length):
            return False
        if last is None:
            return chars == self.chars_min
        at, end = first.length, chars - last.length
        if last.find(name, end, chars) < 0:
            return False
        for run in self.middle:
            at = run.find(name, at, end)
            if at < 0:
                return False
            at += run.length
        return True


Segment: TypeAlias = str | Wildcard  # a string is a literal name
ANY_NAME = Wildcard([Run("", 0, is_literal=True)] * 2)
DIRECTORIES = Wildcard([Run("**", 2, is_literal=True)])  # stands for itself, and is never compared with a name


def parse_segment(text: str) -> Segment:
    """Parse a segment, which is the text between two slashes, after brace expansion."""
    if "*" in text or "?" in text or "[" in text or "\\" in text:
        return _parse_wildcard(text)
    return text


@lru_cache(SEGMENTS_CACHED_MAX)
def _parse_wildcard(text: str) -> Segment:
    if text == "**":
        return DIRECTORIES
    runs: list[list[str]] = [[]]
    for piece in split_pieces(text):
        if piece != "*":
            runs[-1].append(piece)
        elif runs[-1] or len(runs) == 1:  # `a**b` is `a*b`
            runs.append([])
    parsed = [_make_run(run) for run in runs]
    return parsed[0].text if len(parsed) == 1 and parsed[0].is_literal else Wildcard(parsed)


def _make_run(pieces: Sequence[str]) -> Run:
    if all(piece != "?" and piece[0] != "[" for piece in pieces):
        text = "".join(map(_to_text, pieces))
        return Run(text, len(text), is_literal=True)
    chars = sum(1 if piece[0] in "?[" else len(_to_text(piece)) for piece in pieces)
    return Run("".join(map(_translate_token, pieces)), chars, is_literal=False)


def _to_text(piece: str) -> str:
    return piece[1:] if piece[0] == "\\" else piece


def _translate_token(piece: str) -> str:
    """Return the regular expression of one token of a pattern: `?`, a class in brackets, or a character."""
    if piece == "?":
        return "."
    return _parse_class(piece, 0)[0] if piece[0] == "[" else re.escape(_to_text(piece))


class PatternRoute:
    """One alternative of a pattern, split at its `**` into head, leading, between and trailing segments.

    src/ui / *  / ** / forms / ** / *.tsx
    head     leading   between     trailing
    """

    __slots__ = ("between", "depth", "head", "is_open", "leading", "trailing")

    def __init__(self, segments: Sequence[Segment]) -> None:
        head, depth = "", 0
        for segment in segments[:-1]:  # the last one is not a directory
            if not isinstance(segment, str):
                break
            head += segment + "/"
            depth += 1
        blocks: list[list[Segment]] = [[]]
        for segment in segments[depth:]:
            if segment is not DIRECTORIES:
                blocks[-1].append(segment)
            elif blocks[-1] or len(blocks) == 1:  # several `**` in a row count as one
                blocks.append([])
        self.head = head
        self.depth = depth
        self.is_open = len(blocks) > 1  # it contains `**`
        self.leading = tuple(blocks[0])
        self.between = tuple(map(tuple, blocks[1:-1]))
        # A final `**` must match at least one name.
        self.trailing = tuple(blocks[-1]) or (ANY_NAME,) if self.is_open else ()

    @property
    def is_everything_below(self) -> bool:
        """True if the route is `head/**`."""
        last = self.trailing[-1] if len(self.trailing) == 1 else ""
        return not self.leading and not self.between and isinstance(last, Wildcard) and last.is_any_name

    @property
    def segments(self) -> list[Segment]:
        """The segments after the head, without `**`."""
        return [*self.leading, *chain.from_iterable(self.between), *self.trailing]

    @property
    def cost(self) -> int:
        """The number of steps to compare the segments between two `**` with a name."""
        return sum(
            1 if isinstance(segment, str) else STEPS_PER_RUN * (1 + len(segment.middle))
            for segment in chain.from_iterable(self.between)
        )

    def accepts(self, names: list[str]) -> bool:
        """Return True if a path, given by its names, matches. The path must begin with the head."""
        at, end = self.depth + len(self.leading), len(names) - len(self.trailing)
        if at > end or (at != end and not self.is_open):
            return False
        if not _fits(self.trailing, names, end) or not _fits(self.leading, names, self.depth):
            return False
        for block in self.between:
            while not _fits(block, names, at):  # the first match leaves the most names to the others
                at += 1
                if at + len(block) > end:
                    return False
            at += len(block)
        return at <= end

    def can_match_below(self, names: list[str]) -> bool:
        """Return True if a path below a folder, given by its names, can match. The folder must begin with the head."""
        # Only the segments before the first `**` are at fixed positions; it matches whatever directories follow, and
        # the segments after it match names that the path still has to have.
        given = len(names) - self.depth
        has_room = self.is_open or given < len(self.leading)
        return has_room and _fits(self.leading[:given], names, self.depth)


def _fits(block: Sequence[Segment], names: list[str], at: int) -> bool:
    for segment in block:
        if at >= len(names) or not (segment == names[at] if isinstance(segment, str) else segment.accepts(names[at])):
            return False
        at += 1
    return True


class Pattern:
    """A parsed pattern."""

    __slots__ = ("alternatives", "cost", "routes", "text")

    def __init__(self, text: str, alternatives: tuple[str, ...], routes: tuple[PatternRoute, ...]) -> None:
        self.text = text
        self.alternatives = alternatives  # the expanded braces: patterns that together mean the same
        self.routes = routes  # of the alternatives that match more than the literal text
        # An upper bound of the steps for each character of a path: what stands between two `**` may be compared with
        # every name.
        self.cost = len(alternatives) + sum(route.cost for route in routes)

    def matches(self, path: str) -> bool:
        """Return True if the pattern matches a normalized path."""
        if path == self.text:
            return True
        names = split_path(path)
        return names is not None and self.matches_names(path, names)

    def matches_names(self, path: str, names: list[str]) -> bool:
        """Return True if the pattern matches a path, given by its names, that differs from the text of the pattern."""
        return any(path.startswith(route.head) and route.accepts(names) for route in self.routes)

    def can_match_below(self, folder: str) -> bool:
        """Return True if the pattern can match a path below a normalized folder."""
        names = split_path(folder)
        return names is not None and self.can_match_below_names(f"{folder}/", names)

    def can_match_below_names(self, prefix: str, names: list[str]) -> bool:
        """Return True if the pattern can match a path below the folder `prefix`, which is given with its names."""
        if self.text.startswith(prefix):  # its text is a path that it matches
            return True
        return any(
            route.head.startswith(prefix) or (prefix.startswith(route.head) and route.can_match_below(names))
            for route in self.routes
        )


def refuse_costly(pattern: Pattern) -> None:
    """Refuse a pattern whose comparison with one path could take too long."""
    if pattern.cost > COST_MAX:
        raise MalformedPattern(
            "has too many wildcards between two '**', and would take too long to compare with a long path",
            "name directories instead of wildcards, or write several shorter patterns",
        )


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern."""
    text = _normalize_pattern(text)
    alternatives = tuple(expand_braces(text)) if "{" in text else (text,)
    routes = []
    for alternative in alternatives:
        names = alternative.split("/")
        segments = [parse_segment(name) for name in names]
        if "" in segments or "." in segments or ".." in segments:
            raise _bad_segment(segments, alternative, text)
        is_literal_text = segments == names and alternative == text
        if not is_literal_text and not any(map(_can_match_no_name, segments)):
            routes.append(PatternRoute(segments))
    return Pattern(text, alternatives, tuple(routes))


def _can_match_no_name(segment: Segment) -> bool:
    """Return True if a segment matches only `.` or `..`, which are not names: `[.]`, `[.].`."""
    return not isinstance(segment, str) and segment.last is None and bool(DOTS.fullmatch(segment.first.text))


def _bad_segment(segments: Sequence[Segment], alternative: str, text: str) -> MalformedPattern:
    """Return the error for a segment that no path has: an empty one, `.` or `..`."""
    name = next(name for name in ("", ".", "..") if name in segments)
    problem = f"has a {name!r} segment" if name else "has an empty segment ('//')"
    if alternative != text:
        problem = f"has the alternative {alternative!r}, which {problem}"
    if name == "..":
        return MalformedPattern(problem, "a pattern does not leave its folder; write the path without '..'")
    return MalformedPattern(problem, "leave it out; ** means every file" if name else "write a single '/'")


def _normalize_pattern(text: str) -> str:
    """Return the text without leading `./`. Raise MalformedPattern if its beginning or end is invalid."""
    while text.startswith("./"):
        text = text[2:]
    if not text:
        raise MalformedPattern("is empty", "write ** for every file")
    if not text.isprintable() and min(text) < " ":
        raise MalformedPattern("has a line break or a tab", "send each pattern as an element of its own")
    if text[0] == "!":
        raise MalformedPattern("begins with '!'", r"patterns only include; write \! for a name that begins so")
    if text[0] == "/":
        raise AbsolutePattern(text, "/")
    if text[1:2] == ":" and is_drive(drive := text.partition("/")[0]):
        raise AbsolutePattern(text, drive)
    if text[-1] == "/":
        raise MalformedPattern("ends with '/'", f"write {text.rstrip('/')}/** for everything below it")
    return text
