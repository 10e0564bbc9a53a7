"""Extract the paths in the section "Context Files" of a task.

The section is free text. In a list, paths are on separate lines or separated by commas, with optional bullets, numbers,
checkboxes and quotes; any single word there is a path, even `Makefile`, and so are words that make one path, such as
`docs/user guide/intro.md`. In prose only words that look like a path are used: they contain a `/` or end with a file
extension, in back-ticks or not. Other words are skipped. The text is scanned once from left to right, so that no text
takes long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import UnsetType

TITLE = "context files"
PATHS_MAX = 500
PATH_CHARS_MAX = 4_096

# The start of a line: a quotation mark, a bullet or a number, then an optional checkbox. Each must be followed by a
# blank: `-a.ts`, `1.txt` and `[x].ts` are names.
DECORATION = re.compile(r"\s*(?:(?:>|[-*+•◦‣·\u2013\u2014]|\d{1,9}[.)]|\[[ xX]?\])(?:\s+|$))")
DECORATIONS_MAX = 4
HEADING = re.compile(r"#{1,6}(?:\s|$)")
FENCES = ("```", "~~~")
LINK = re.compile(r"\[([^\[\]]*)\]\(<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s[^()]*)?\)")
QUOTES = str.maketrans('"“”„«»', "``````")  # become back-ticks; apostrophes are handled separately
SEPARATORS = str.maketrans("\u2013\u2014\u2192", "   ")  # dashes and an arrow
APOSTROPHES = "'\u2018\u2019"
PUNCTUATION = ".,;:!?" + APOSTROPHES
ESCAPED = re.compile(r"\\([_*\[\]()#~.+-])")  # characters that Markdown escapes

LINES = re.compile(r"\d+(?:[-:,]\d+)*")  # after a colon, or in parentheses
LINKED_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")  # after a `#`
ANCHOR = re.compile(r"[\w-]+")  # after a `#` in a document
CURRENT_DIRECTORY = re.compile(r"(?:\./+)+")
PATH_CHARACTER = re.compile(r"[/\\.]")  # a word without one of them is not a path
FILE_EXTENSION = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,15}")
VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:\.[x*])?(?:[-+][\w.-]*)?", re.IGNORECASE)
CODE_CHARACTERS = re.compile(r"[<>=|$^`\"]")  # common in code, but not in paths
DOMAINS = ("com", "org", "net", "io")

# Between two paths of a sentence more often than in the name of one file.
CONJUNCTIONS = frozenset(("and", "or"))
# Words with a `/` or a dot that are not paths.
SLASHED_WORDS = re.compile(
    r"(?:and|either)/or|yes/no|on/off|true/false|s/he|he/she|his/her|him/her|read/write|input/output|client/server"
    r"|pass/fail|start/stop|before/after|push/pull|w/o|n/a|i/o",
    re.IGNORECASE,
)
PRODUCTS = re.compile(r"(?:Node|Next|Nuxt|Vue|Express|React|Three|D3)\.js|Ph\.D")
# Names without an extension that are files if they are in back-ticks or begin a line.
FILES = re.compile(
    r"(?:Make|Docker|Container|Just|Gem|Rake|Proc|Jenkins)file|README|LICENSE|CHANGELOG|CONTRIBUTING|CODEOWNERS"
)


class TitledText(Protocol):
    """A text with a title: a section, or only its title and content."""

    @property
    def title(self) -> str: ...
    @property
    def content(self) -> str | UnsetType: ...


def extract_context_files(sections: Iterable[TitledText]) -> list[str]:
    """Return the distinct paths in the sections with the title Context Files, in order."""
    paths: dict[str, None] = {}
    for section in sections:
        if _is_context_files_title(section.title) and section.content:
            for path in _extract_paths(section.content):
                paths[path] = None
                if len(paths) == PATHS_MAX:
                    return list(paths)
    return list(paths)


def parse_link(link: str) -> str | None:
    """Return the path of a context link; None for anything else, such as a URL, a commit or a sentence."""
    path = _parse_single(link)
    if path is None or not path.isprintable() or len(path) > PATH_CHARS_MAX:
        return None
    words = path.split()
    looks_like_path = _is_listed_path(words) if len(words) > 1 else _looks_like_path(path)
    return path if looks_like_path or FILES.fullmatch(path) else None


def _is_context_files_title(title: str) -> bool:
    words = title.lstrip("#").replace("-", " ").replace("_", " ").split()
    return " ".join(words).removesuffix(":").rstrip().casefold() == TITLE


def _extract_paths(content: str) -> Iterator[str]:
    """Yield the paths in a text. They may repeat."""
    listed = _parse_json_array(content)
    texts = (_parse_single(text) for text in listed) if listed is not None else _parse_lines(content)
    for text in texts:
        if text is not None and len(text) <= PATH_CHARS_MAX and text.isprintable():
            yield text


def _parse_json_array(content: str) -> list[str] | None:
    """Return the strings of a JSON array, or None if the content is not one."""
    if not content.lstrip().startswith("["):
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return [item for item in value if isinstance(item, str)] or None if isinstance(value, list) else None


def _parse_lines(content: str) -> Iterator[str | None]:
    for line in dict.fromkeys(map(str.strip, content.splitlines())):
        if line:
            yield from _parse_line(line)


def _parse_line(line: str) -> Iterator[str | None]:
    if line.startswith(FENCES) and line.find(line[:3], 3) < 0:
        return  # begins or ends a code block; its contents are parsed like other lines
    for _ in range(DECORATIONS_MAX):
        decoration = DECORATION.match(line)
        if decoration is None:
            break
        line = line[decoration.end() :]
    is_prose = line.startswith("|") or HEADING.match(line) is not None  # a row of a table, a heading
    line = LINK.sub(_replace_link, line.replace("|", " ") if is_prose else line)
    line = re.sub("`+", "`", line.translate(QUOTES))
    parts = [part for part in (raw.strip() for raw in _split_parts(line)) if part]
    if not is_prose and all(len(words) == 1 or _is_listed_path(words) for words in map(str.split, parts)):
        yield from map(_parse_single, parts)
        return
    first = _strip_word(line.split(maxsplit=1)[0]) if parts else ""
    if FILES.fullmatch(first):
        yield first
    for part in parts:
        yield from _parse_prose(part)


def _replace_link(link: re.Match[str]) -> str:
    """Return the target of a Markdown link, or its text if the target is outside the repository."""
    text, target = link.groups()
    return f" `{target}` " if not _is_url(target) and not target.startswith("#") else f" {text} "


def _split_parts(line: str) -> list[str]:
    """Split a line at commas and semicolons, except in braces (patterns) and parentheses (line numbers)."""
    if "{" not in line and "(" not in line:
        return line.replace(";", ",").split(",")
    parts, start, depth = [], 0, 0
    for index, character in enumerate(line):
        if character in "{(":
            depth += 1
        elif character in "})":
            depth = max(depth - 1, 0)
        elif character in ",;" and not depth:
            parts.append(line[start:index])
            start = index + 1
    return [*parts, line[start:]]


def _parse_single(text: str) -> str | None:
    """Return the path of a list entry, which may look like any word; None for a label, a tag or a URL."""
    path = _strip_emphasis(text.strip().strip("`'").rstrip(",;").rstrip("`'"))
    if path.endswith(":") or path.startswith("#") or _is_url(path):
        return None
    return _normalize(_strip_location(path.rstrip(".") or path))


def _parse_prose(text: str) -> Iterator[str | None]:
    """Yield the paths in a sentence."""
    spans = text.split("`")
    for index, span in enumerate(spans):
        words = span.translate(SEPARATORS).split()
        is_enclosed = index % 2 == 1 and index + 1 < len(spans)
        if is_enclosed and len(words) > 1 and _is_one_path(words):
            yield _normalize(_strip_location(span.strip()))
            continue
        for word in words:
            if PATH_CHARACTER.search(word) or is_enclosed:
                path = _strip_word(word)
                if _looks_like_path(path) or (is_enclosed and FILES.fullmatch(path)):
                    yield _normalize(path)


def _is_one_path(words: list[str]) -> bool:
    """Return True if words in back-ticks are one path with blanks, as `docs/read me.md`, and not a command."""
    first, last = _strip_word(words[0]), _strip_word(words[-1])
    return "/" in first and not _has_extension(first.rpartition("/")[2]) and _has_extension(last.rpartition("/")[2])


def _is_listed_path(words: list[str]) -> bool:
    """Return True if words without quotes are one path with blanks, and no sentence about two."""
    *others, last = words
    are_plain = all(word == _strip_word(word) and any(map(str.isalnum, word)) for word in others)
    is_sentence = any(word in CONJUNCTIONS or _has_extension(word) for word in others)
    return are_plain and not is_sentence and _strip_word(last) == _strip_location(last) and _is_one_path(words)


def _strip_word(word: str) -> str:
    """Return a word of a sentence without punctuation, unmatched brackets, emphasis and line numbers."""
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
    """Return a word without trailing occurrences of a character, of which at most `at_most` are removed."""
    return word[: len(word) - min(at_most, len(word) - len(word.rstrip(character)))]


def _strip_emphasis(word: str) -> str:
    """Return a word without the stars of Markdown emphasis. Stars of a pattern are kept."""
    inner = word.strip("*")
    stars = len(word) - len(word.lstrip("*"))
    is_even = 0 < stars <= 3 and len(word) == len(inner) + 2 * stars
    return inner.strip("`'") if is_even and inner and not inner.startswith("/") and not inner.endswith("/") else word


def _strip_location(path: str) -> str:
    """Return a path without a location in the file, such as `:12`, `::test`, `#L10-L20` or `(12)`."""
    before, _, after = path.partition("#")
    if LINKED_LINES.fullmatch(after) or (ANCHOR.fullmatch(after) and _has_extension(before.rpartition("/")[2])):
        path = before
    before, _, after = path.rpartition("(")
    if before and after.endswith(")") and LINES.fullmatch(after[:-1]):
        path = before
    colon = path.find(":", 2)  # after a drive letter
    if colon > 0 and (LINES.fullmatch(path, colon + 1) or _looks_like_path(path[:colon])):
        path = path[:colon]
    return path


def _looks_like_path(word: str) -> bool:
    """Return True if a word in a sentence is certainly a path."""
    if SLASHED_WORDS.fullmatch(word) or PRODUCTS.fullmatch(word) or not any(map(str.isalpha, word)):
        return False
    if CODE_CHARACTERS.search(word) or ":" in word[2:] or _is_url(word):
        return False
    names = word.replace("\\", "/").split("/")
    if len(names) == 1:
        return _has_extension(word) and not any(mark in word for mark in "()@,")
    # CI/CD, TCP/IP and example.com/page are not paths.
    is_uppercase = "." not in word and not any(map(str.islower, word))
    return not is_uppercase and not (names[0].count(".") and names[0].rpartition(".")[2].lower() in DOMAINS)


def _has_extension(name: str) -> bool:
    """Return True if a name has a file extension, as `a.ts` and `.env` do; `e.g`, `v1.2` and `example.com` do not."""
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
    """Return a path with `/` as separator and without a leading `./`; None if it has no letter or digit."""
    plain = ESCAPED.sub(r"\1", path)
    if "\\" in plain:
        plain = (plain if "/" in path else path).replace("\\", "/")  # Windows
    prefix = CURRENT_DIRECTORY.match(plain)
    plain = plain[prefix.end() :] if prefix else plain
    return plain if any(map(str.isalnum, plain)) else None
