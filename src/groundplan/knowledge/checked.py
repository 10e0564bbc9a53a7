"""The results of the last check of a working copy: its files, and the atoms that cover them.

The files of the checked commit are kept as one compressed text for each project. A large repository sends every n-th
file, so that the shares of its folders stay right; `total` says how many files there are.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field, structs

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.operations.registry import Effect, OpId, Route, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.knowledge.events import Op
from groundplan.knowledge.freshness import CheckResult, FreshnessRow, FreshnessState
from groundplan.knowledge.paths.index import PathIndex, TooManySteps
from groundplan.knowledge.paths.names import PATH_CHARS_MAX, split_path
from groundplan.knowledge.patterns import TooCostly, get_patterns_revision, match_files
from groundplan.knowledge.requests import Patterns, Version, parse_commit, parse_id, parse_patterns

KEPT_MAX = 20_000  # matching all of them with a pattern takes about a tenth of a second
KEPT_BYTES_MAX = 1 << 22

_decode_paths = msgspec.json.Decoder(list[str]).decode
ATOMS_MAX = 1_000
FILES_MAX = 50
NAMES_MAX = 64  # of a path: coverage keeps every folder on the way to a file
ENTRIES_MAX = 200  # of the folder; the rest is in its counts
NESTED_MAX = 40  # of each folder in it
UNCOVERED_MAX = 200
CACHE_KEY = "knowledge.coverage"  # the key of the cache in the store's memory
CACHED_PROJECTS_MAX = 4  # a few megabytes each
STEPS_MAX = 20_000_000  # path characters times patterns tried: about half a second
FILES_MAX = 50

sql = load_queries(__file__)


class CheckedFiles(Struct):
    """The stored files of a project."""

    commit_id: str
    checked_at: str
    total: int  # of the commit, also of those that are not kept
    kept: int
    packed: str

    @property
    def paths(self) -> list[str]:
        """The paths, sorted."""
        return _decode_paths(zlib.decompress(b64decode(self.packed)))


def load_checked_files(tx: Transaction) -> CheckedFiles | None:
    """Return the files of the last check of the current project; None if no check sent them."""
    return tx.one_or_none(sql.checked_files, CheckedFiles, project_id=tx.project.id)


def pack_paths(paths: Collection[str]) -> str:
    """Return paths as one compressed byte string."""
    return b64encode(zlib.compress(msgspec.json.encode(sorted(paths)))).decode("ascii")


class AtomCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """The result of a check of one atom."""

    id: str
    version: Version
    freshness: CheckResult
    commit: str | None = None
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=FILES_MAX)] = []


class RecordCheck(Struct, rename="camel", forbid_unknown_fields=True):
    """The results of a check, the commit it was made at, and files of this commit."""

    project_id: Name
    commit: str
    atoms: Annotated[list[AtomCheck], Meta(max_length=ATOMS_MAX)]
    files: Annotated[list[Annotated[str, MaxBytes(4096)]], Meta(max_length=KEPT_MAX)] = []
    files_total: Annotated[int, Meta(ge=0, le=2**31)] = 0
    op_id: OpId = field(name="op_id", default=None)


class RecordedCheck(Struct):
    """The number of stored results, and the atoms that were skipped because they changed or do not exist."""

    recorded: int
    skipped: list[str]


def record_check(tx: Transaction, request: RecordCheck) -> RecordedCheck:
    """Store the results of a check for the atoms whose version is still the checked one."""
    head = parse_commit(request.commit, ("commit",))
    checks = {}
    for index, check in enumerate(request.atoms):
        anchor = None if check.commit is None else parse_commit(check.commit, ("atoms", index, "commit"))
        checks[parse_id(check.id, ("atoms", index, "id"))] = (check, anchor)
    versions: dict[str, int] = dict(tx.all(sql.atom_versions, project_id=tx.project.id, ids=to_json_array(checks)))
    current = {id_: (check, anchor) for id_, (check, anchor) in checks.items() if versions.get(id_) == check.version}
    if not current and not request.files:
        return RecordedCheck(0, list(checks))
    rows = [
        FreshnessRow(id_, FreshnessState(check.freshness), anchor, tx.now, to_json_array(check.files))
        for id_, (check, anchor) in current.items()
    ]
    tx.run_many(sql.upsert_freshness, [{"project_id": tx.project.id, **structs.asdict(row)} for row in rows])
    counts = Counter(check.freshness for check, _ in current.values())
    changes = [changed("commit", None, head)]
    if current:
        changes.append(changed("freshness", None, {state: counts[state] for state in sorted(counts)}))
    if request.files:
        changes.append(changed("files", None, _keep_files(tx, head, request)))
    tx.record(Op.CHECKED, tx.project.id, *changes)
    return RecordedCheck(len(current), [id_ for id_ in checks if id_ not in current])


def _keep_files(tx: Transaction, head: str, request: RecordCheck) -> int:
    """Add files to those stored for a commit, and return the number of stored files."""
    paths = set(request.files)
    for place, path in enumerate(request.files):
        names = split_path(path)
        if names is None or len(names) > NAMES_MAX:
            wrong = f"must be a path from the root of the repository with at most {NAMES_MAX} names"
            raise invalid_argument(("files", place), wrong, limit=NAMES_MAX)
    stored = load_checked_files(tx)
    if stored is not None and stored.commit_id == head:
        paths.update(stored.paths)
    size_bytes = sum(len(path.encode()) for path in paths)
    if not paths or len(paths) > KEPT_MAX or size_bytes > KEPT_BYTES_MAX:
        wrong = f"must be 1 to {KEPT_MAX:,} files of a commit, with at most {KEPT_BYTES_MAX:,} bytes; send every n-th"
        raise invalid_argument(("files",), wrong, code="too_many", limit=KEPT_MAX)
    total = max(len(paths), request.files_total)
    row = CheckedFiles(head, tx.now, total, len(paths), pack_paths(paths))
    tx.run_with_record(sql.upsert_checked_files, row, project_id=tx.project.id)
    return len(paths)


RECORD_CHECK = declare(
    record_check,
    name="knowledge.record_check",
    summary="Store the results of a check of the files, and which files there are.",
    permission=Permission.KNOWLEDGE_WRITE,
    effect=Effect.WRITE,
    idempotent=True,
    http=Route("POST", "/projects/{project}/knowledge/freshness"),
)


class CountedFolder(Struct):
    """A folder or a file, with the counts of all files in it. A file counts itself."""

    path: str
    is_folder: bool = True
    files: int = 0
    covered: int = 0  # by at least one atom
    overlapping: int = 0  # by more than one
    own_uncovered: int = 0  # files directly in it that no atom covers
    entries: dict[str, CountedFolder] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last segment of the path."""
        return self.path.rpartition("/")[2]

    def list_entries(self) -> list[CountedFolder]:
        """Return the direct children of this folder; those with the most files come first."""
        return sorted(self.entries.values(), key=lambda entry: (-entry.files, entry.path))

    def find(self, path: str) -> CountedFolder | None:
        """Return the folder or file below this one with a path, or this one for an empty path."""
        folder: CountedFolder | None = self
        for name in path.split("/") if path else ():
            folder = None if folder is None else folder.entries.get(name)
        return folder

    def walk(self) -> Iterator[CountedFolder]:
        """Yield this folder and all folders in it."""
        folders = [self]
        while folders:
            folder = folders.pop()
            yield folder
            folders += [entry for entry in folder.entries.values() if entry.is_folder]


def build_folders(matches: Iterable[tuple[str, int]]) -> CountedFolder:
    """Return the root of the folder tree of some files, each given with the number of atoms that cover it."""
    root = CountedFolder("")
    for path, atoms in matches:
        names = path.split("/")
        folders = [root]
        for depth, name in enumerate(names):
            below = folders[-1].entries.get(name)
            if below is None:
                is_folder = depth < len(names) - 1
                below = folders[-1].entries[name] = CountedFolder("/".join(names[: depth + 1]), is_folder)
            folders.append(below)
        for folder in folders:
            folder.files += 1
            folder.covered += atoms > 0
            folder.overlapping += atoms > 1
        folders[-2].own_uncovered += atoms == 0
    return root


class ReadKnowledgeCoverage(Struct, rename="camel", forbid_unknown_fields=True):
    """The project, and the folder to read. An empty folder means the root."""

    project_id: Name
    folder: Annotated[str, Meta(max_length=PATH_CHARS_MAX)] = ""


class CoveredPart(Struct, rename="camel", kw_only=True):
    """A folder or a file, and the number of its files that atoms cover."""

    path: str
    is_folder: bool
    files: int
    covered: int
    overlapping: int  # covered by more than one atom


class CoveredEntry(CoveredPart, kw_only=True):
    """A direct child of the folder, with its own largest children."""

    entries: list[CoveredPart] | UnsetType = UNSET


class UncoveredFolder(Struct):
    """A folder with files directly in it that no atom covers."""

    path: str
    files: int  # uncovered ones


class KnowledgeCoverage(Struct, rename="camel", kw_only=True):
    """The coverage of a folder. Without a check that sent the files, it has only the folder."""

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
    """Return the coverage of a folder by atoms.

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
    uncovered = [part for part in folder.walk() if part.own_uncovered]
    uncovered.sort(key=lambda part: (-part.own_uncovered, part.path))
    left_out = {
        name: len(rows) - limit
        for name, rows, limit in (("entries", entries, ENTRIES_MAX), ("uncovered", uncovered, UNCOVERED_MAX))
        if len(rows) > limit
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
        entries=[_to_entry(entry) for entry in entries[:ENTRIES_MAX]],
        uncovered=[UncoveredFolder(part.path, part.own_uncovered) for part in uncovered[:UNCOVERED_MAX]],
        left_out=left_out or UNSET,
    )


def count_files(tx: Transaction, checked: CheckedFiles) -> CountedFolder:
    """Return the folders of the checked files, with their coverage. The last results are cached."""
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


def _to_entry(folder: CountedFolder) -> CoveredEntry:
    parts = [CoveredPart(**_get_counts(part)) for part in folder.list_entries()[:NESTED_MAX]]
    return CoveredEntry(**_get_counts(folder), entries=parts or UNSET)


def _get_counts(folder: CountedFolder) -> dict[str, Any]:
    return {name: getattr(folder, name) for name in CoveredPart.__struct_fields__}


COVERAGE = declare(
    read_coverage,
    name="knowledge.coverage",
    summary="Which files of the last check the atoms cover, folder by folder.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/knowledge/coverage"),
)


class MatchPatterns(Struct, rename="camel", forbid_unknown_fields=True):
    """The project and the patterns."""

    project_id: Name
    paths: Patterns


class PatternMatches(Struct):
    """A pattern, and the number of files that it matches."""

    pattern: str
    files: int


class MatchedFiles(Struct, rename="camel", kw_only=True):
    """The files of the last check that match at least one of the patterns."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("files",)))

    commit: str | UnsetType = UNSET  # that was checked; absent if no check sent its files
    checked_at: str | UnsetType = UNSET
    kept: int  # files that were compared
    count: int  # files that match
    patterns: list[PatternMatches]
    files: list[str]  # the first of them, by path
    left_out: LeftOut = field(name="left_out", default=UNSET)


def match_patterns(tx: Transaction, request: MatchPatterns) -> MatchedFiles:
    """Return the files of the last check that match some patterns.

    Raises:
        EmptyPaths: there is no pattern.
        Invalid: a pattern is malformed.
        TooCostly: matching all files would take too long.
    """
    patterns = parse_patterns(request.paths, tx.preferences.working_copy).paths
    index = PathIndex()
    for number, pattern in enumerate(patterns):
        index.put(str(number), [pattern])
    checked = load_checked_files(tx)
    counts = [0] * len(patterns)
    files: list[str] = []
    try:
        for path, matching in index.match_many(() if checked is None else checked.paths, steps_max=STEPS_MAX):
            for key in matching:
                counts[int(key)] += 1
            if matching:
                files.append(path)
    except TooManySteps:
        raise TooCostly from None
    return MatchedFiles(
        commit=UNSET if checked is None else checked.commit_id,
        checked_at=UNSET if checked is None else checked.checked_at,
        kept=0 if checked is None else checked.kept,
        count=len(files),
        patterns=[PatternMatches(pattern, count) for pattern, count in zip(patterns, counts, strict=True)],
        files=files[:FILES_MAX],
        left_out={"files": len(files) - FILES_MAX} if len(files) > FILES_MAX else UNSET,
    )


MATCH = declare(
    match_patterns,
    name="knowledge.match",
    summary="Which files of the last check match some patterns.",
    permission=Permission.KNOWLEDGE_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/knowledge/matches"),
)
