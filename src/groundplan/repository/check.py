"""Check the atoms of a project against a repository, and confirm them at a commit.

A check says which atoms are fresh, and which changed files no atom covers. The results are recorded with the atoms, so
that readers without a repository see them too. The plan is read before git runs and written afterwards, so no
transaction waits for git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.operations.progress import count_progress
from groundplan.kernel.store.store import ProjectArchived
from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.knowledge.checked import KEPT_BYTES_MAX, KEPT_MAX
from groundplan.knowledge.freshness import FreshnessState
from groundplan.repository.freshness import AtomAssessment, WatchedAtom, assess, find_narrow_patterns
from groundplan.repository.git import Commit, Repository, TreeDiff, escape_name
from groundplan.repository.rules.formats import OWN_FILES
from groundplan.session import Session

PAGE_SIZE = 1_000  # the limit of knowledge.list and of knowledge.record_check
FILES_RECORDED_MAX = 50
NAME_BYTES_MAX = 4_096
BATCH_BYTES_MAX = 1 << 19  # half of the limit of a request

T = TypeVar("T")


class CheckedAtom(Struct):
    """The freshness of an atom."""

    id: str
    name: str
    freshness: FreshnessState
    commit: str | UnsetType = UNSET  # at which it was confirmed
    files: list[str] | UnsetType = UNSET  # the changed files of its area


class Hint(Struct):
    """A pattern of an orphaned atom that matches a folder, and the corrected pattern."""

    id: str
    pattern: str
    instead: str


class Report(Struct, rename="camel"):
    """The results of a check."""

    atoms: list[CheckedAtom]  # sorted by name
    uncovered: list[str]  # changed files that no atom covers, except exported rules
    head: str  # the checked commit
    tracked: int  # number of its files
    covered: int  # number of its files that an atom covers
    unknown_commits: int  # commits of confirmations that this repository does not have
    recorded: bool
    note: str | UnsetType = UNSET  # why the results were not recorded
    hints: list[Hint] | UnsetType = UNSET


def check(
    session: Session,
    project: str,
    folder: Path | str,
    since: str | None = None,
    *,
    record: bool = True,
    report_progress: Callable[[str], object] = lambda doing: None,
) -> Report:
    """Compare every atom with the repository of a folder, and store the results.

    With `since`, only changes after that revision count; such a partial result is not recorded, and neither is one
    beside a repository that has nothing of the atoms: it may be another project's. `report_progress` receives progress
    messages.
    """
    report_progress("reading the atoms")
    atoms = list(list_atoms(session, project))
    repository = Repository(folder)
    head = repository.resolve_head()
    start = None if since is None else repository.resolve_commit(since)
    report_progress("reading the files of the repository")
    files = repository.list_files(head)
    anchors = repository.resolve_commit_ids(atom.confirmed for atom in atoms if atom.confirmed)
    watched = [WatchedAtom(atom.id, atom.paths, _get_tree(anchors.get(atom.confirmed))) for atom in atoms]
    assessment = assess(
        watched,
        files,
        _report_progress(repository.walk_back(head, list(anchors.values())), len(anchors), report_progress),
        None if start is None else repository.list_changed_files(start, head),
    )
    orphaned = [atom for atom in watched if assessment.atoms[atom.id].state is FreshnessState.ORPHANED]
    hints = [Hint(narrow.atom, narrow.pattern, narrow.instead) for narrow in find_narrow_patterns(orphaned, files)]
    report = Report(
        atoms=[
            _to_checked_atom(atom, assessment.atoms[atom.id])
            for atom in sorted(atoms, key=lambda atom: (atom.name, atom.id))
        ],
        uncovered=[name for name in assessment.uncovered if not _is_exported_rule(name)],
        head=head.id,
        tracked=assessment.tracked,
        covered=assessment.covered,
        unknown_commits=len({atom.confirmed for atom in atoms if atom.confirmed} - anchors.keys()),
        recorded=False,
        hints=hints or UNSET,
    )
    if since is not None:
        report.note = "not recorded: with a start revision, only part of the changes is checked"
    elif atoms and not anchors and not assessment.covered:
        report.note = (
            "not recorded: this repository has no file of these atoms and no commit that they were confirmed at; "
            "run the check in the repository of the project"
        )
    elif record:
        report_progress("recording the results")
        _record(session, project, report, {atom.id: atom.version for atom in atoms}, files)
    return report


def list_atoms(session: Session, project: str) -> Iterator[Any]:
    """Yield every atom of a project, loaded page by page."""
    more: dict[str, str] = {}
    while True:
        page = session.call("knowledge.list", projectId=project, limit=PAGE_SIZE, **more)
        yield from page.atoms
        if page.next_cursor is UNSET:
            return
        more = {"cursor": page.next_cursor}


def _get_tree(commit: Commit | None) -> str | None:
    return None if commit is None else commit.tree


def _report_progress(tree_diffs: Iterable[TreeDiff], count: int, report: Callable[[str], object]) -> Iterator[TreeDiff]:
    report("comparing with commits")
    yield from count_progress(tree_diffs, count)


def _is_exported_rule(name: str) -> bool:
    """Return True if a file is an exported rule. Such a file repeats knowledge, so no atom needs to cover it."""
    return any(f"/{own.generated_folder}/" in f"/{name}" for own in OWN_FILES.values())


def _to_checked_atom(atom: Any, assessment: AtomAssessment) -> CheckedAtom:
    return CheckedAtom(atom.id, atom.name, assessment.state, atom.confirmed or UNSET, assessment.files or UNSET)


def _record(session: Session, project: str, report: Report, versions: dict[str, int], files: Sequence[str]) -> None:
    skipped = 0
    try:
        _record_files(session, project, report.head, files)
        records = (_to_record(atom, versions[atom.id]) for atom in report.atoms)
        for batch in _split_batches(records, count_max=PAGE_SIZE):
            done = session.call("knowledge.record_check", projectId=project, commit=report.head, atoms=batch)
            skipped += len(done.skipped)
    except (Forbidden, ProjectArchived) as error:
        report.note = f"not recorded: {error.message}"
        return
    report.recorded = skipped < len(report.atoms) or not report.atoms
    if skipped:
        report.note = f"not recorded for {skipped} atoms that changed meanwhile; check again"


def _record_files(session: Session, project: str, head: str, files: Sequence[str]) -> None:
    """Send the files of a commit, unless an earlier check sent them."""
    names = [name for name in map(escape_name, files) if len(name.encode()) <= NAME_BYTES_MAX]
    step = 1
    while len(names[::step]) > KEPT_MAX or sum(len(name.encode()) for name in names[::step]) > KEPT_BYTES_MAX:
        step += 1
    sample = names[::step]
    stored = session.call("knowledge.match", projectId=project, paths=["*"])
    if stored.commit == head and stored.kept == len(set(sample)):
        return
    for batch in _split_batches(sample, count_max=KEPT_MAX):
        session.call(
            "knowledge.record_check", projectId=project, commit=head, atoms=[], files=batch, filesTotal=len(files)
        )


def _to_record(atom: CheckedAtom, version: int) -> dict[str, Any]:
    record: dict[str, Any] = {"id": atom.id, "version": version, "freshness": str(atom.freshness)}
    if atom.commit:
        record["commit"] = atom.commit
    if atom.files:
        names = (escape_name(name) for name in atom.files)
        short = (name for name in names if len(name.encode()) <= NAME_BYTES_MAX)
        record["files"] = list(islice(short, FILES_RECORDED_MAX))
    return record


def _split_batches(items: Iterable[T], count_max: int) -> Iterator[list[T]]:
    """Yield groups of atoms or files, each of which fits into one request."""
    batch: list[T] = []
    size_bytes = 0
    for item in items:
        item_bytes = len(encode(item))
        if batch and (len(batch) == count_max or size_bytes + item_bytes > BATCH_BYTES_MAX):
            yield batch
            batch, size_bytes = [], 0
        batch.append(item)
        size_bytes += item_bytes
    if batch:
        yield batch


# --- Confirm atoms at a commit: their knowledge is correct for the files of that commit -------------------------------


class AmbiguousAtom(Invalid):
    """Several atoms of the project have this name."""

    code = "ambiguous_atom"

    def __init__(self, name: str, ids: list[str]) -> None:
        super().__init__(
            f"{len(ids)} atoms are called {quote_text(name)}; name one by its id: {' or '.join(ids)}",
            name=name,
            ids=ids,
        )


class ConfirmedAtom(Struct):
    """An atom and its version."""

    id: str
    name: str
    version: int


class Confirmation(Struct):
    """The commit, and the atoms that were confirmed at it."""

    commit: str
    confirmed: list[ConfirmedAtom]
    unchanged: list[ConfirmedAtom]  # confirmed at this commit before
    changed: list[ConfirmedAtom]  # changed by somebody else meanwhile, so not confirmed


def confirm(
    session: Session,
    project: str | None,
    folder: Path | str,
    refs: Sequence[str],
    *,
    every: bool = False,
    revision: str = "HEAD",
    task: str | None = None,
) -> Confirmation:
    """Confirm atoms, each by its id or name, or `every` atom of the project, at a commit.

    Without a project, the project of the first atom is used, which must then be given by its id.

    If an atom is not found, none is confirmed. An atom that somebody changes meanwhile is skipped, because the new text
    was not reviewed. The project is checked again afterwards.
    """
    if not refs and not every:
        raise Invalid("no atom is named; give ids or names, or ask for every atom", code="no_atoms")
    if project is None:
        project = _resolve_project(session, refs)
    repository = Repository(folder)
    head = repository.resolve_head()
    commit = head.id if revision == "HEAD" else repository.resolve_commit(revision).id
    atoms = list(list_atoms(session, project))
    selected = atoms if every else _resolve_atoms(atoms, refs)
    by = {} if task is None else {"lastTaskId": task}
    done = Confirmation(commit, [], [], [])
    for atom in selected:
        if atom.confirmed == commit:
            done.unchanged.append(ConfirmedAtom(atom.id, atom.name, atom.version))
            continue
        try:
            change = {"confirm": commit, **by}
            now = session.call("knowledge.update", entityType="atom", id=atom.id, version=atom.version, **change).atom
        except (Conflict, NotFound):
            # Somebody changed it meanwhile, and the caller has not seen the new text.
            done.changed.append(ConfirmedAtom(atom.id, atom.name, atom.version))
        else:
            done.confirmed.append(ConfirmedAtom(now.id, now.name, now.version))
    if done.confirmed:
        # The confirmation deleted the last results, so the project is checked again.
        check(session, project, folder)
    return done


def _resolve_project(session: Session, refs: Sequence[str]) -> str:
    if not refs or parse_uuid(refs[0]) is None:
        raise Invalid("no project is named; name it, or give the first atom by its id", code="no_project")
    answer = session.call("knowledge.get", entityType="atom", id=refs[0], includeChangelog=False)
    return str(answer.atom.project_id)


def _resolve_atoms(atoms: Sequence[Any], refs: Sequence[str]) -> list[Any]:
    by_id = {atom.id: atom for atom in atoms}
    by_name: dict[str, list[Any]] = {}
    for atom in atoms:
        by_name.setdefault(atom.name, []).append(atom)
    atoms_by_id = {}
    for ref in refs:
        atom = by_id.get(parse_uuid(ref) or ref) or _find_by_name(ref, by_name)
        atoms_by_id[atom.id] = atom
    return list(atoms_by_id.values())


def _find_by_name(name: str, by_name: dict[str, list[Any]]) -> Any:
    import unicodedata  # a megabyte of tables, which an id does not need

    named = by_name.get(unicodedata.normalize("NFC", name).strip(), [])
    if not named:
        near = find_nearest(name, list(by_name))
        raise NotFound("atom", name, near=[near] if near else [])
    if len(named) > 1:
        raise AmbiguousAtom(name, [atom.id for atom in named])
    return named[0]
