"""Patterns of maximal length on which a backtracking matcher takes exponential time, and their paths.

A path contains every text of its pattern, but in the wrong place, so a quick check cannot tell them apart.
"""

from __future__ import annotations

from groundplan.knowledge.paths.names import PATH_CHARS_MAX

# Sixty nested braces, and thirty with a branch each that is tried last.
NESTED = "{" * 60 + "a*,*b" + "}" * 60
NESTED_BRANCHES = "".join(f"{{*[{n % 10}a]{'?' * (n // 10)}[b]," for n in range(30)) + "?" + "}" * 30

# The pattern, and the unit that its paths repeat.
PATHOLOGICAL = {
    "**/a/**/a/…/b/*": ("**/a/" * 100 + "**/b/*", "a/"),
    "**/a/a/**/a/a/…/b": ("**/a/a/" * 72 + "b", "a/"),
    "**/*a*/**/*a*/…/b": ("**/*a*/" * 72 + "*b", "aaaaaaa/"),
    "*a*a…*b": ("*a" * 255 + "*b", "a"),
    "*a*a…*, which matches": ("*a" * 255 + "*", "a"),
    "*?a?a…*b": ("*" + "?a" * 254 + "*b", "a"),
    "*?a*?a…*b": ("*?a" * 170 + "*b", "a"),
    "*[ab]*[ab]…[b]": ("*[ab]" * 100 + "[b]", "a"),
    "*[!b-y]*[!b-y]…[b]": ("*[!b-y]" * 72 + "[b]", "a"),
    "{{{…a*,*b…}}}": (NESTED, "a"),
    "{*[0a][b],{*[1a][b],…}}": (NESTED_BRANCHES, "a"),
    "*a*a…{a,b}{a,b}…[b]": ("*a" * 55 + "*" + "{a,b}" * 6 + "[b]", "a"),
    "{a,b}{a,b}…*a*a…[b]": ("*" + "{a,b}" * 6 + "*a" * 55 + "[b]", "a"),
}


def long_path(unit: str, chars: int = PATH_CHARS_MAX) -> str:
    """Return a path that repeats a unit, after a `b` that does not help."""
    begin = "b/" if unit.endswith("/") else "b"
    return (begin + unit * chars)[:chars].rstrip("/")


# The dearest patterns that may be written: wildcards between two `**`, which are compared with every name.
DEAR = {
    "**/*/*/…/b/**": ("**/" + "*/" * 97 + "b/**", "a/"),
    "**/*a/*a/…/b/**": ("**/" + "*a/" * 97 + "b/**", "a/"),
    "**/?/?/…/b/**": ("**/" + "?/" * 97 + "b/**", "a/"),
    "**/*?*/*?*/…/b/**": ("**/" + "*?*/" * 49 + "b/**", "a/"),
    "**/[ab]/[ab]/…/b/**": ("**/" + "[ab]/" * 97 + "b/**", "a/"),
    "**/*/…/{b,c}{b,c}…/**": ("**/*/*/{b,c}{b,c}{b,c}{b,c}{b,c}/**", "a/"),
    "*??…{b,c}{b,c}…*": ("*" + "?" * 110 + "{b,c}" * 6 + "*", "a"),
    "*[!b][!b]…{b,c}{b,c}…*": ("*" + "[!b]" * 26 + "{b,c}" * 6 + "*", "a"),
}
