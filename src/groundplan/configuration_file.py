"""Read a configuration file: its keys, their values, and the lines that they stand on."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.kernel.wording import quote_text

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FILE_BYTES_MAX = 65_536  # usual files have five lines


def read_entries(path: str) -> list[tuple[str, Any, int]]:
    """Return the keys of the file with their values and line numbers.

    Raises:
        Invalid: the file cannot be read, or is not YAML with keys and values.
    """
    text = _read_text(path)
    plain = read_plain_entries(text)
    if plain is not None:
        return plain
    import yaml  # here, because it takes 30 ms

    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return []
        if not isinstance(root, yaml.MappingNode):
            raise malformed(f"{path} contains no settings; write lines such as 'db_path: plan.db'", path, 1)
        loader.construct_mapping(root, deep=True)  # rejects keys that cannot be hashed
        return [
            (str(key.value), loader.construct_object(value, deep=True), key.start_mark.line + 1)
            for key, value in root.value
        ]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise malformed(f"{path} is not valid YAML: line {line}: {error.problem}", path, line) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise malformed(f"{path} is not valid YAML; it contains text that YAML does not allow", path, 1) from None


def read_plain_entries(text: str) -> list[tuple[str, Any, int]] | None:
    """Return the entries of lines such as `key: value` as YAML has them; None if there is more, and YAML must decide.

    A value is a plain word, a path, or a text in single quotation marks, as `init` writes them.
    """
    entries: list[tuple[str, Any, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        key, colon, value = line.partition(": ")
        if not (colon and key.isidentifier() and key.isascii()):
            return None
        quoted = len(value) > 1 and value[0] == value[-1] == "'" and "'" not in value[1:-1]
        if quoted and value.isprintable():
            value = value[1:-1]
        elif not (set(value) <= _PLAIN_VALUE and value[:1].isalpha() and value.lower() not in _YAML_WORDS):
            return None
        entries.append((key, value, number))
    return entries


# What stands for itself in YAML, and the words that do not.
_PLAIN_VALUE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_YAML_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Invalid(
            f"cannot read the configuration file {quote_text(path)}: {error.strerror}",
            code="config_unreadable",
            file=path,
        ) from None
    if len(raw) > FILE_BYTES_MAX:
        raise malformed(
            f"{path} is larger than {FILE_BYTES_MAX} bytes, which is too large for a configuration file", path, 1
        )
    try:
        return raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError:
        raise malformed(f"{path} is not UTF-8 text; save it as UTF-8", path, 1) from None


def malformed(sentence: str, path: str, line: int) -> Invalid:
    """Return the error of a file whose text is wrong at a line."""
    return Invalid(sentence, code="config_invalid", file=path, line=line)
