"""The front matter of a rule file: fields between two lines of `---`.

It is nearly YAML. Cursor writes patterns unquoted and joined by commas (`globs: **/*.ts,src/**`), which YAML refuses or
reads as an alias. So unquoted values of known fields are read as they are, and the rest as YAML. The result is only
text and lists of text. Aliases are refused, because a few nested ones can exhaust memory. Patterns must also be strings
for YAML; a number or a tag there is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

FENCE = "---"
FRONT_CHARS_MAX = 65_536  # twenty patterns of 512 characters take a sixth of it
DEPTH_MAX = 8  # a list in a field has depth two

Fields = dict[str, str | list[str]]

_PATTERN_FIELDS = ("paths", "globs")
_NULL_WORDS = ("", "~", "null", "Null", "NULL")
_TEXT, _LIST, _NULL = (f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "null"))
# A quote, a list, a block of text, an anchor, a tag or a comment is YAML. So is a value that continues below.
_BARE = re.compile(r"^(paths|globs|description):[ \t]+(?![\"'|>&!#]|\[.*\][ \t]*$)(\S.*)$(?!\n[ \t]+\S)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")


class UnreadableRule(Exception):
    """The file is not a readable rule; the reason is the predicate of a sentence about the file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def split(text: str) -> tuple[str, str]:
    """Split a text into its front matter with both fences, empty if there is none, and the rest.

    Raises:
        UnreadableRule: the front matter has no end or is too long.
    """
    first, _, rest = text.partition("\n")
    if first.rstrip() != FENCE:
        return "", text
    end = len(first) + 1
    for line in rest.split("\n"):
        end += len(line) + 1
        if line.rstrip() == FENCE:
            break
        if end > FRONT_CHARS_MAX:
            raise UnreadableRule(f"has front matter of more than {FRONT_CHARS_MAX} characters")
    else:
        raise UnreadableRule(f"opens with {FENCE}, but its front matter has no second {FENCE}")
    return text[:end], text[end:]


def parse_fields(front: str) -> Fields:
    """Return the fields of front matter, without those that have no value.

    Raises:
        UnreadableRule: the front matter is neither YAML nor the form that the tools write.
    """
    inner = "\n".join(front.rstrip("\n").split("\n")[1:-1]).replace("\r", "")
    bare = {found[1]: _parse_bare(found[1], _COMMENT.sub("", found[2]).strip()) for found in _BARE.finditer(inner)}
    read = {**_parse_yaml(_BARE.sub("", inner)), **bare}
    return {name: value for name, value in read.items() if value != ""}


def is_true(value: str | list[str] | None) -> bool:
    """Return whether the value of a field is true."""
    return isinstance(value, str) and value.lower() == "true"


def parse_patterns(value: str | list[str]) -> tuple[str, ...]:
    """Return the patterns of a field: the items of a list, or of a text separated by commas.

    Raises:
        UnreadableRule: there is no pattern.
    """
    found = tuple(value) if isinstance(value, list) else tuple(_split_at_commas(value))
    if not found:
        raise UnreadableRule("has a list of patterns with no pattern in it")
    return found


def quote(text: str) -> str:
    """Return a text in double quotes that YAML reads back unchanged."""
    return f'"{"".join(_escape(char) for char in text)}"'


def quote_if_needed(text: str) -> str:
    """Return a text without quotes if it is read back unchanged, else in quotes."""
    import yaml

    line = f"description: {text}"
    expected = {"description": text}
    try:
        is_plain = parse_fields(f"{FENCE}\n{line}\n{FENCE}\n") == expected == yaml.safe_load(line)
    except (UnreadableRule, yaml.YAMLError, ValueError):
        is_plain = False
    return text if is_plain else quote(text)


def _escape(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"


def _split_at_commas(text: str) -> list[str]:
    """Split a text at commas, except inside braces or brackets and after a backslash."""
    parts = [""]
    closing: list[str] = []
    is_escaped = False
    for char in text:
        if char == "," and not closing and not is_escaped:
            parts.append("")
            continue
        parts[-1] += char
        if is_escaped:
            is_escaped = False
        elif char == "\\":
            is_escaped = True
        elif closing and char == closing[-1]:
            closing.pop()
        elif char == "{" and "]" not in closing:
            closing.append("}")
        elif char == "[" and "]" not in closing:
            closing.append("]")
    return [stripped for part in parts if (stripped := part.strip())]


def _parse_bare(name: str, text: str) -> str | list[str]:
    """Return an unquoted value."""
    import yaml

    if text in _NULL_WORDS:
        return ""
    if name not in _PATTERN_FIELDS:
        return text
    if text.startswith("[") and text.endswith("]"):  # a list that a comment follows
        return _parse_yaml(f"{name}: {text}").get(name, "")
    is_mapping = text.startswith("{") and text.endswith("}") and (":" in text or not text[1:-1].strip())
    loader: Any = yaml.SafeLoader("")
    if is_mapping or loader.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT:
        raise _no_patterns(name)
    return text


def _parse_yaml(text: str) -> Fields:
    import yaml  # takes 30 ms, and only rule files need it

    try:
        _limit_complexity(yaml.parse(text, yaml.SafeLoader), yaml)
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise UnreadableRule(f"has front matter that is not YAML{line}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError):
        raise UnreadableRule("has front matter that is not YAML") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise UnreadableRule("has front matter without fields")
    return {str(key.value): _parse_value(str(key.value), value, yaml) for key, value in root.value}


def _limit_complexity(events: Iterable[Any], yaml: Any) -> None:
    """Refuse aliases and deep nesting, whose cost grows faster than the text."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise UnreadableRule("has an alias in its front matter; write the value instead")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_MAX:
            raise UnreadableRule("has front matter that is nested too deeply")


def _parse_value(name: str, node: Any, yaml: Any) -> str | list[str]:
    if isinstance(node, yaml.ScalarNode) and node.tag == _NULL and node.value in _NULL_WORDS:
        return ""
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    if name in _PATTERN_FIELDS:
        is_known = not isinstance(node, yaml.SequenceNode) or node.tag == _LIST
        if not is_known or any(not isinstance(item, yaml.ScalarNode) or item.tag != _TEXT for item in items):
            raise _no_patterns(name)
    if not all(isinstance(item, yaml.ScalarNode) for item in items):
        return []  # a field of another tool, which is ignored
    return str(node.value) if isinstance(node, yaml.ScalarNode) else [str(item.value) for item in items]


def _no_patterns(name: str) -> UnreadableRule:
    return UnreadableRule(f"has {name} that are neither a text nor a list of texts; put the patterns into quotes")
