"""The folders of some files, with how many of the files are covered by one atom, by several, or by none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field


class CountedFolder(Struct):
    """A folder or a file, and the counts of all files in it; a file counts itself."""

    path: str
    is_folder: bool = True
    files: int = 0
    covered: int = 0  # by at least one atom
    overlapping: int = 0  # by more than one
    own_uncovered: int = 0  # files directly in it that no atom covers
    entries: dict[str, CountedFolder] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def list_entries(self) -> list[CountedFolder]:
        """Return what is directly in it: the entries with most files first."""
        return sorted(self.entries.values(), key=lambda one: (-one.files, one.path))

    def find(self, path: str) -> CountedFolder | None:
        """Return the folder or file below this one with a path, or this one for an empty path."""
        found: CountedFolder | None = self
        for name in path.split("/") if path else ():
            found = None if found is None else found.entries.get(name)
        return found

    def walk(self) -> Iterator[CountedFolder]:
        """Yield this folder and all folders in it."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting += [entry for entry in one.entries.values() if entry.is_folder]


def build_folders(matches: Iterable[tuple[str, int]]) -> CountedFolder:
    """Return the root of the folders of some files, each given with the number of atoms that cover it."""
    root = CountedFolder("")
    for path, atoms in matches:
        names = path.split("/")
        way = [root]
        for depth, name in enumerate(names):
            below = way[-1].entries.get(name)
            if below is None:
                is_folder = depth < len(names) - 1
                below = way[-1].entries[name] = CountedFolder("/".join(names[: depth + 1]), is_folder)
            way.append(below)
        for one in way:
            one.files += 1
            one.covered += atoms > 0
            one.overlapping += atoms > 1
        way[-2].own_uncovered += atoms == 0
    return root
