"""Which files a task is about: the paths in its section "Context Files".

People write the section, and agents who write like people. A list has a path on each line or commas between them, with
bullets, numbers, boxes and quotes around them; whatever stands alone is a path, be it `Makefile`. In sentences only
what looks like a path is one: in back-ticks or not, it has a `/` in it or the ending of a file. What is neither is
passed over. Everything is read once from left to right, so that no text takes long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from groundplan.work.containers.sections.section import Section

TITLE = "context files"
PATHS_MAX = 500
PATH_CHARS_MAX = 4_096

# What a line begins with: a quotation, a bullet or a number, then perhaps a box to be ticked. A blank follows on each:
# `-a.ts`, `1.txt` and `[x].ts` are names.
DECORATION = re.compile(r"\s*(?:(?:>|[-*+•◦‣·\u2013\u2014]|\d{1,9}[.)]|\[[ xX]?\])(?:\s+|$))")
DECORATIONS_MAX = 4
HEADING = re.compile(r"#{1,6}(?:\s|$)")
FENCES = ("```", "~~~")
LINK = re.compile(r"\[([^\[\]]*)\]\(<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s[^()]*)?\)")
QUOTES = str.maketrans('"“”„«»', "``````")  # these and back-ticks enclose; an apostrophe may be one
SEPARATORS = str.maketrans("\u2013\u2014\u2192", "   ")  # dashes and an arrow
APOSTROPHES = "'\u2018\u2019"
PUNCTUATION = ".,;:!?" + APOSTROPHES
ESCAPED = re.compile(r"\\([_*\[\]()#~.+-])")  # as Markdown writes a character that would mean something to it

LINES = re.compile(r"\d+(?:[-:,]\d+)*")  # behind a colon, or in brackets
LINKED_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")  # behind a `#`
ANCHOR = re.compile(r"[\w-]+")  # the same, in a text
CURRENT_DIRECTORY = re.compile(r"(?:\./+)+")
PATH_CHARACTER = re.compile(r"[/\\.]")  # without one of them a word is no path
FILE_EXTENSION = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")
VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:\.[x*])?(?:[-+][\w.-]*)?", re.IGNORECASE)
CODE_CHARACTERS = re.compile(r"[<>=|$^`\"]")  # what stands in code and in no path that anybody writes down
DOMAINS = ("com", "org", "net", "io")

# What has a `/` or an ending and is no path.
SLASHED_WORDS = re.compile(
    r"(?:and|either)/or|yes/no|on/off|true/false|s/he|he/she|his/her|him/her|read/write|input/output|client/server"
    r"|pass/fail|start/stop|before/after|push/pull|w/o|n/a|i/o",
    re.IGNORECASE,
)
PRODUCTS = re.compile(r"(?:Node|Next|Nuxt|Vue|Express|React|Three|D3)\.js|Ph\.D")
# Names without an ending that are files where they stand in back-ticks or begin a line.
FILES = re.compile(
    r"(?:Make|Docker|Container|Just|Gem|Rake|Proc|Jenkins)file|README|LICENSE|CHANGELOG|CONTRIBUTING|CODEOWNERS"
)


def extract_context_files(sections: Iterable[Section]) -> list[str]:
    """The paths in the sections that are called Context Files, each once, in the order in which they stand there."""
    found: dict[str, None] = {}
    for section in sections:
        if _is_context_files_title(section.title) and section.content:
            for path in _paths(section.content):
                found[path] = None
                if len(found) == PATHS_MAX:
                    return list(found)
    return list(found)


def _is_context_files_title(title: str) -> bool:
    words = title.lstrip("#").replace("-", " ").replace("_", " ").split()
    return " ".join(words).removesuffix(":").rstrip().casefold() == TITLE


def _paths(content: str) -> Iterator[str]:
    """The paths in a text, as often as they stand there."""
    listed = _as_json(content)
    texts = (_parse_single(text) for text in listed) if listed is not None else _parse_lines(content)
    for text in texts:
        if text is not None and len(text) <= PATH_CHARS_MAX and text.isprintable():
            yield text


def _as_json(content: str) -> list[str] | None:
    """The texts of a JSON array, if the content is one."""
    if not content.lstrip().startswith("["):
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return [one for one in value if isinstance(one, str)] or None if isinstance(value, list) else None


def _parse_lines(content: str) -> Iterator[str | None]:
    for line in dict.fromkeys(map(str.strip, content.splitlines())):
        if line:
            yield from _parse_line(line)


def _parse_line(line: str) -> Iterator[str | None]:
    if line.startswith(FENCES) and line.find(line[:3], 3) < 0:
        return  # begins or ends a block; what is in it is read like the rest
    for _ in range(DECORATIONS_MAX):
        decoration = DECORATION.match(line)
        if decoration is None:
            break
        line = line[decoration.end() :]
    is_prose = line.startswith("|") or HEADING.match(line) is not None  # a row of a table, a heading
    line = LINK.sub(_replace_link, line.replace("|", " ") if is_prose else line)
    line = re.sub("`+", "`", line.translate(QUOTES))
    parts = [part for part in (one.strip() for one in _parts(line)) if part]
    if not is_prose and all(len(part.split(maxsplit=1)) == 1 for part in parts):
        yield from map(_parse_single, parts)
        return
    first = _strip_word(line.split(maxsplit=1)[0]) if parts else ""
    if FILES.fullmatch(first):
        yield first
    for part in parts:
        yield from _parse_prose(part)


def _replace_link(link: re.Match[str]) -> str:
    """What a Markdown link leads to, or what it says if it leads out of the repository."""
    text, target = link.groups()
    return f" `{target}` " if not _is_url(target) and not target.startswith("#") else f" {text} "


def _parts(line: str) -> list[str]:
    """What stands between commas and semicolons; those in braces belong to a pattern, those in brackets to a line."""
    if "{" not in line and "(" not in line:
        return line.replace(";", ",").split(",")
    parts, begin, depth = [], 0, 0
    for place, character in enumerate(line):
        if character in "{(":
            depth += 1
        elif character in "})":
            depth = max(depth - 1, 0)
        elif character in ",;" and not depth:
            parts.append(line[begin:place])
            begin = place + 1
    return [*parts, line[begin:]]


def _parse_single(text: str) -> str | None:
    """A path that has a place to itself; it need not look like one."""
    path = _strip_emphasis(text.strip().strip("`'").rstrip(",;").rstrip("`'"))
    if path.endswith(":") or path.startswith("#") or _is_url(path):
        return None  # a label, a tag, a page
    return _normalize(_strip_location(path.rstrip(".") or path))


def _parse_prose(text: str) -> Iterator[str | None]:
    """The paths in a sentence."""
    spans = text.split("`")
    for place, span in enumerate(spans):
        words = span.translate(SEPARATORS).split()
        is_enclosed = place % 2 == 1 and place + 1 < len(spans)
        if is_enclosed and len(words) > 1 and _is_one_path(words):
            yield _normalize(_strip_location(span.strip()))
            continue
        for word in words:
            if PATH_CHARACTER.search(word) or is_enclosed:
                path = _strip_word(word)
                if _looks_like_path(path) or (is_enclosed and FILES.fullmatch(path)):
                    yield _normalize(path)


def _is_one_path(words: list[str]) -> bool:
    """Whether words in back-ticks are a path with blanks in it, as `docs/read me.md`, and no command."""
    first, last = _strip_word(words[0]), _strip_word(words[-1])
    return "/" in first and not _has_extension(first.rpartition("/")[2]) and _has_extension(last.rpartition("/")[2])


def _strip_word(word: str) -> str:
    """A word of a sentence without what only stands beside it."""
    if len(word) > PATH_CHARS_MAX:
        return ""
    word = word.strip(APOSTROPHES).rstrip(PUNCTUATION).removesuffix("'s").removesuffix("\u2019s")
    for opening, closing in ("()", "[]", "<>"):
        unopened = word.count(closing) - word.count(opening)
        if unopened > 0:
            word = _strip_trailing(word, closing, unopened).rstrip(PUNCTUATION)
        elif unopened < 0:
            word = _strip_trailing(word[::-1], opening, -unopened)[::-1].lstrip(APOSTROPHES)
        elif word.startswith(opening) and word.find(closing) == len(word) - 1:
            word = word[1:-1]
    return _strip_location(_strip_emphasis(word))


def _strip_trailing(word: str, character: str, at_most: int) -> str:
    """A word without so many of a character at its end."""
    return word[: len(word) - min(at_most, len(word) - len(word.rstrip(character)))]


def _strip_emphasis(word: str) -> str:
    """A word without the stars that make it bold; those of a pattern stay."""
    inner = word.strip("*")
    stars = len(word) - len(word.lstrip("*"))
    is_even = 0 < stars <= 3 and len(word) == len(inner) + 2 * stars
    return inner.strip("`'") if is_even and inner and not inner.startswith("/") and not inner.endswith("/") else word


def _strip_location(path: str) -> str:
    """A path without what leads to a place in it: `:12`, `::test`, `#L10-L20`, `(12)`."""
    before, _, behind = path.partition("#")
    if LINKED_LINES.fullmatch(behind) or (ANCHOR.fullmatch(behind) and _has_extension(before.rpartition("/")[2])):
        path = before
    before, _, behind = path.rpartition("(")
    if before and behind.endswith(")") and LINES.fullmatch(behind[:-1]):
        path = before
    colon = path.find(":", 2)  # behind the drive
    if colon > 0 and (LINES.fullmatch(path, colon + 1) or _looks_like_path(path[:colon])):
        path = path[:colon]
    return path


def _looks_like_path(word: str) -> bool:
    """Whether a word in a sentence can be nothing but a path."""
    if SLASHED_WORDS.fullmatch(word) or PRODUCTS.fullmatch(word) or not any(map(str.isalpha, word)):
        return False
    if CODE_CHARACTERS.search(word) or ":" in word[2:] or _is_url(word):
        return False
    names = word.replace("\\", "/").split("/")
    if len(names) == 1:
        return _has_extension(word) and not any(mark in word for mark in "()@,")
    # CI/CD and TCP/IP are no paths, and neither is what one visits: example.com/page.
    is_shouted = "." not in word and not any(map(str.islower, word))
    return not is_shouted and not (names[0].count(".") and names[0].rpartition(".")[2].lower() in DOMAINS)


def _has_extension(name: str) -> bool:
    """Whether a name ends like that of a file: `a.ts`, `.env`; not `e.g`, `v1.2`, `done.Then` or `example.com`."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not FILE_EXTENSION.fullmatch(ending) or ending not in (ending.lower(), ending.upper()):
        return False
    if ending.lower() in DOMAINS or ".." in name:
        return False
    is_abbreviation = all(len(part) < 2 for part in name.split("."))
    return not is_abbreviation and (not stem or VERSION.fullmatch(name) is None)


def _is_url(text: str) -> bool:
    return "://" in text or text.startswith(("www.", "mailto:", "//"))


def _normalize(path: str) -> str | None:
    """A path with `/` between its names and nothing in front of it, or None where nothing is left that could be one."""
    plain = ESCAPED.sub(r"\1", path)
    if "\\" in plain:
        plain = (plain if "/" in path else path).replace("\\", "/")  # Windows
    here = CURRENT_DIRECTORY.match(plain)
    plain = plain[here.end() :] if here else plain
    return plain if any(map(str.isalnum, plain)) else None
