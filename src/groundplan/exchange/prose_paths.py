"""Find the paths of files in prose."""

from __future__ import annotations

_PUNCTUATION = "`'\"()<>,;:!*"


def find_paths(text: str) -> list[str]:
    """Return the paths that a text names: words with a slash, or code, that end like a file or a folder."""
    found: dict[str, None] = {}
    for word in text.split():
        is_code = word.lstrip("(").startswith("`")
        path = word.lstrip(_PUNCTUATION).rstrip(f"{_PUNCTUATION}.")
        name = path.rpartition("/")[2]
        has_suffix = "." in name.strip(".")
        if "://" in path or not ("/" in path or is_code):
            continue
        if has_suffix or (path.endswith("/") and path.strip("/")):
            found[path] = None
    return list(found)
