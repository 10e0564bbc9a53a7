"""Read which files of the last check the atoms cover, folder by folder."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.checked_files import CheckedFiles, load_checked_files
from groundplan.knowledge.patterns import get_patterns_revision, match_files

ENTRIES_MAX = 200  # of the folder; the rest is in its counts
NESTED_MAX = 40  # of each folder in it
UNCOVERED_MAX = 200
PATH_CHARS_MAX = 4_096
CACHE_KEY = "knowledge.coverage"  # the key of the cache in the store's memory
CACHED_PROJECTS_MAX = 4  # a few megabytes each
STEPS_MAX = 20_000_000  # path characters times patterns tried: about half a second


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


class ReadKnowledgeCoverage(Struct, rename="camel", forbid_unknown_fields=True):
    """The project, and the folder to look into; the root if it is empty."""

    project_id: Name
    folder: Annotated[str, Meta(max_length=PATH_CHARS_MAX)] = ""


class CoveredPart(Struct, rename="camel", kw_only=True):
    """A folder or a file, and how many of its files atoms cover."""

    path: str
    is_folder: bool
    files: int
    covered: int
    overlapping: int  # covered by more than one atom


class CoveredEntry(CoveredPart, kw_only=True):
    """What is directly in the folder, each with the largest of its own parts."""

    entries: list[CoveredPart] | UnsetType = UNSET


class UncoveredFolder(Struct):
    """A folder with files directly in it that no atom covers."""

    path: str
    files: int  # uncovered ones


class KnowledgeCoverage(Struct, rename="camel", kw_only=True):
    """What of a folder is covered. Without a check that sent the files, there is only the folder."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("uncovered",)), CutLists(("entries",)))

    commit: str | UnsetType = UNSET  # that was checked
    checked_at: str | UnsetType = UNSET
    total: int | UnsetType = UNSET  # files of the commit
    kept: int | UnsetType = UNSET  # of these, the ones that are counted: all, or every n-th
    folder: str
    files: int
    covered: int
    overlapping: int
    entries: list[CoveredEntry]  # those with most files first
    uncovered: list[UncoveredFolder]  # those with most uncovered files first
    left_out: LeftOut = field(name="left_out", default=UNSET)


def read_coverage(tx: Transaction, request: ReadKnowledgeCoverage) -> KnowledgeCoverage:
    """Return what of a folder the atoms cover.

    Raises:
        NotFound: the checked commit has no such folder.
        TooCostly: matching all files would take too long.
    """
    path = request.folder.strip("/")
    checked = load_checked_files(tx)
    if checked is None:
        return KnowledgeCoverage(folder=path, files=0, covered=0, overlapping=0, entries=[], uncovered=[])
    folder = count_files(tx, checked).find(path)
    if folder is None:
        raise NotFound("folder", path, hint="the last check did not find it; look at the folder above")
    entries = folder.list_entries()
    uncovered = [one for one in folder.walk() if one.own_uncovered]
    uncovered.sort(key=lambda one: (-one.own_uncovered, one.path))
    left_out = {
        name: len(some) - limit
        for name, some, limit in (("entries", entries, ENTRIES_MAX), ("uncovered", uncovered, UNCOVERED_MAX))
        if len(some) > limit
    }
    return KnowledgeCoverage(
        commit=checked.commit_id,
        checked_at=checked.checked_at,
        total=checked.total,
        kept=checked.kept,
        folder=path,
        files=folder.files,
        covered=folder.covered,
        overlapping=folder.overlapping,
        entries=[_to_entry(one) for one in entries[:ENTRIES_MAX]],
        uncovered=[UncoveredFolder(one.path, one.own_uncovered) for one in uncovered[:UNCOVERED_MAX]],
        left_out=left_out or UNSET,
    )


def count_files(tx: Transaction, checked: CheckedFiles) -> CountedFolder:
    """Return the folders of the checked files, with what the atoms cover. The last results are kept in memory."""
    cache: dict[tuple[str, str], tuple[Hashable, CountedFolder]] = tx.cache.setdefault(CACHE_KEY, {})
    key = tx.actor.organization, tx.project.id
    state = checked.commit_id, checked.kept, get_patterns_revision(tx)
    kept = cache.get(key)
    if kept is not None and kept[0] == state:
        return kept[1]
    matches = match_files(tx, checked.paths, steps_max=STEPS_MAX)
    counted = build_folders((path, len(atoms)) for path, atoms in matches.items())
    while len(cache) >= CACHED_PROJECTS_MAX:
        cache.pop(next(iter(cache)), None)  # another thread may have taken it
    cache[key] = state, counted
    return counted


def _to_entry(one: CountedFolder) -> CoveredEntry:
    parts = [CoveredPart(**_get_counts(part)) for part in one.list_entries()[:NESTED_MAX]]
    return CoveredEntry(**_get_counts(one), entries=parts or UNSET)


def _get_counts(one: CountedFolder) -> dict[str, Any]:
    return {name: getattr(one, name) for name in CoveredPart.__struct_fields__}


OPERATION = declare(
    read_coverage,
    name="knowledge.coverage",
    summary="Which files of the last check the atoms cover, folder by folder.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    command=Command(("knowledge", "coverage"), arguments=("folder",), names={"project_id": "project"}),
    http=Route("GET", "/projects/{project}/knowledge/coverage"),
)
