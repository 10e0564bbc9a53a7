"""Join the modules of the script, so that a page loads one file instead of a chain of files.

The modules stay as they are written. Each becomes a function of its own in the joined file, so names of two modules
never meet; what it exports is what the function returns:

    import { showToast } from "./words.js";     const { showToast } = $words;
    export function cutOrPaste(key) {…}         function cutOrPaste(key) {…}  …  return { cutOrPaste };

`page.js` and what it needs is one file. A module that no other imports is a file of its own, for pages that name it;
it takes what `page.js` has from there, so that a module runs once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

FIRST = "page.js"
_IMPORT = re.compile(
    r'^import\s+(?:(?:\{(?P<names>[^{}]*)\}|\*\s+as\s+(?P<whole>\w+))\s+from\s+)?"\./(?P<module>[\w-]+\.js)";?[^\S\n]*\n?',
    re.MULTILINE,
)
_EXPORT = re.compile(r"^export\s+(?=(?:async\s+)?(?:function|class|const)\b\s*\*?\s*(?P<name>\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b(?!\s*\()|export\b|await\b).*", re.MULTILINE)


class UnreadableScript(Exception):
    """A module has a line that cannot be joined. Only developers see this, because released modules do not change."""


class Module(NamedTuple):
    """A module and its source text."""

    name: str
    imports: list[tuple[str, str]]  # names as they are written, or `* as name`; and from which module
    body: str  # without the imports and the word `export`
    exports: list[str]

    @property
    def variable(self) -> str:
        return get_variable(self.name)


def get_variable(name: str) -> str:
    """Return the variable with the exports of a module."""
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def join_scripts(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the joined files by name."""
    modules = {name: read_module(name, source) for name, source in sources.items()}
    imported = {target for module in modules.values() for _, target in module.imports}
    entries = [FIRST, *sorted(modules.keys() - imported - {FIRST})]
    needs = {entry: list(_order(modules, entry)) for entry in entries}
    # What two files need is in the first one, because a module must run only once.
    is_shared = {name for name in modules if sum(name in needed for needed in needs.values()) > 1}
    first = list(dict.fromkeys([*needs[FIRST], *(n for needed in needs.values() for n in needed if n in is_shared)]))
    files = {FIRST: _write(modules, first, taken=())}
    for entry in entries[1:]:
        own = [name for name in needs[entry] if name not in first]
        files[entry] = _write(modules, own, taken=[name for name in needs[entry] if name in first])
    return files


def read_module(name: str, source: str) -> Module:
    """Parse a module into its imports, its exports and its code."""
    imports = [(_read_names(match), match["module"]) for match in _IMPORT.finditer(source)]
    body = _IMPORT.sub("", source)
    exports = [match["name"] for match in _EXPORT.finditer(body)]
    body = _EXPORT.sub("", body)
    if left := _OTHER.search(body):
        raise UnreadableScript(
            f'{name}: {left[0]!r} cannot be joined; write `import {{ a }} from "./b.js"` on lines of their own, and '
            "`export` before a function, class or const"
        )
    return Module(name, imports, body.strip(), exports)


def _read_names(match: re.Match[str]) -> str:
    if match["whole"]:
        return str(match["whole"])
    names = [name.strip() for name in (match["names"] or "").split(",") if name.strip()]
    return "{ " + ", ".join(name.replace(" as ", ": ") for name in names) + " }"


def _order(modules: Mapping[str, Module], entry: str) -> Iterator[str]:
    """Yield the modules that a module needs, each after its own imports."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            raise UnreadableScript(f"modules import each other: {' -> '.join((*path, name))}")
        if name not in modules:
            raise UnreadableScript(f"{path[-1]} imports {name}, which does not exist")
        if name in done:
            return
        for _, target in modules[name].imports:
            yield from visit(target, (*path, name))
        done.add(name)
        yield name

    yield from visit(entry, ())


def _write(modules: Mapping[str, Module], names: Iterable[str], taken: Iterable[str]) -> str:
    names = list(names)
    lines = []
    if taken := sorted(get_variable(name) for name in taken):
        lines.append(f'import {{ {", ".join(taken)} }} from "./{FIRST}";')
    for name in names:
        module = modules[name]
        lines.append(f"// {name}\nconst {module.variable} = (() => {{")
        lines += [f"const {given} = {get_variable(target)};" for given, target in module.imports]
        lines.append(f"{module.body}\nreturn {{ {', '.join(module.exports)} }};\n}})();")
    lines.append(f"export {{ {', '.join(get_variable(name) for name in names)} }};")
    return "\n".join(lines) + "\n"
