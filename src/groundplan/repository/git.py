"""Safe calls of git: commits, file lists and differences; the working copy of a path; tasks that commits name.

Only commits are read, not the index or the files on disk. Every query is a plumbing command that runs no hook, filter,
pager or text conversion, takes no lock and fetches nothing. Names from callers or the plan are passed on standard
input, so none can be taken for an option.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct

from groundplan.git_folders import find_git_folders
from groundplan.kernel.errors import Invalid, NotFound, Unavailable
from groundplan.kernel.ids import ALPHABET
from groundplan.kernel.preferences import ChangesSince, LaterCommit, LookUp, RepositoryState
from groundplan.kernel.wording import quote_text
from groundplan.knowledge.paths.names import is_drive
from groundplan.session import Session

CHUNK_BYTES = 1 << 20
REASON_CHARS_MAX = 300
ANSWER_LIMIT_S = 0.05  # how long an answer waits for git
LATER_COMMITS_MAX = 1_000
FOLDERS_MAX = 100  # given to git by name; of more, the whole tree is listed
SUBMODULE_MODE = b"160000"  # the mode of a submodule, which is a commit of another repository
FILE_MODES = (b"100644", b"100755")
NON_FILE_MODES = (b"000000", SUBMODULE_MODE)

# A hook runs with variables that select a repository and its objects. Here only the folder selects it.
_REDIRECTING_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)
_SAFE_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # replacements differ between clones
    # In a partial clone git would fetch missing objects. Git before 2.45 does not know the first variable; the second
    # stops it, because it allows no protocol.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
_OBJECT_ID = re.compile(r"[0-9a-f]{4,64}")
_TREE_DIFF = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none")
_LITERALLY = ("--literal-pathspecs",)  # paths from the plan are no patterns to git
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class NotARepository(Invalid):
    """The folder does not belong to a git repository."""

    code = "not_a_repository"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{quote_text(str(folder))} is not inside a git repository; run this in one, or name its folder",
            folder=str(folder),
        )


class NoCommit(Invalid):
    """The repository has no commit."""

    code = "no_commit"

    def __init__(self, folder: Path) -> None:
        super().__init__("this repository has no commit yet; commit something first", folder=str(folder))


class GitMissing(Unavailable):
    """The git program was not found."""

    code = "git_missing"

    def __init__(self) -> None:
        super().__init__("git was not found; install it, or add its folder to PATH")


class GitFailed(Unavailable):
    """A git command failed."""

    code = "git_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"git failed: {reason}; run git status in the repository to find out more")


class Commit(NamedTuple):
    """A commit and its tree of files."""

    id: str
    tree: str


class TreeDiff(NamedTuple):
    """A tree on the way back from HEAD: the files that begin to differ from HEAD here, and those that cease to."""

    tree: str
    differing: list[str]
    alike: list[str]


class Repository:
    """The git repository of a folder, which may also be a bare repository or a linked working tree."""

    def __init__(self, folder: Path | str, *, limit_s: float | None = None) -> None:
        self.folder = Path(folder)
        self._deadline = None if limit_s is None else time.monotonic() + limit_s

    @property
    def is_late(self) -> bool:
        """Whether the limit of time is over."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def resolve_head(self) -> Commit:
        """Return the commit of HEAD."""
        commit = self._resolve_commits(["HEAD"]).get("HEAD")
        if commit is None:
            raise NoCommit(self.folder)
        return commit

    def resolve_commit(self, revision: str) -> Commit:
        """Return the commit of a branch, a tag, an id, or an expression such as `HEAD~3`."""
        commit = self._resolve_commits([revision]).get(revision)
        if commit is None:
            raise NotFound("revision", revision, hint="git log --oneline lists the commits of this repository")
        return commit

    def resolve_commit_ids(self, ids: Iterable[str]) -> dict[str, Commit]:
        """Return the commits of full or abbreviated ids. Ids that are not in this repository are left out.

        A branch of the same name does not count, because it can move.
        """
        commits = self._resolve_commits([id_ for id_ in dict.fromkeys(ids) if _OBJECT_ID.fullmatch(id_)])
        return {id_: commit for id_, commit in commits.items() if commit.id.startswith(id_)}

    def find_hooks_folder(self) -> Path:
        """Return the folder of the hooks: the configured folder, else that of the repository. Worktrees share it."""
        return self.folder / _decode_text(self._run("rev-parse", "--git-path", "hooks").removesuffix(b"\n"))

    def read_message(self, commit: Commit) -> str:
        """Return the message of a commit."""
        raw = self._run("cat-file", "commit", commit.id)
        return raw.partition(b"\n\n")[2].decode("utf-8", "replace")

    def read_changed_files(
        self, commit: Commit, suffixes: Collection[str], *, bytes_max: int
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a suffix and size that a commit added or changed; of a merge there are none."""
        fields = iter(self._run(*_TREE_DIFF, "--root", "--no-commit-id", stdin=f"{commit.id}\n".encode()).split(b"\0"))
        changed = [(about.split(), _decode_text(next(fields))) for about in fields if about]
        files = [
            (path, about[3]) for about, path in changed if about[1] in FILE_MODES and Path(path).suffix in suffixes
        ]
        ids = b"".join(id_ + b"\n" for _, id_ in files)
        sizes = self._run("cat-file", "--batch-check=%(objectsize)", stdin=ids).split() if files else []
        read = [
            (path, id_, int(size)) for (path, id_), size in zip(files, sizes, strict=True) if int(size) <= bytes_max
        ]
        output = self._run("cat-file", "--batch=", stdin=b"".join(id_ + b"\n" for _, id_, _ in read)) if read else b""
        at = 0
        for path, _, size in read:
            yield escape_name(path), output[at + 1 : at + 1 + size]  # after an empty header, before a line break
            at += size + 2

    def list_files(self, commit: Commit) -> list[str]:
        """Return the paths of all files of a commit, without those in submodules."""
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", commit.tree)
        entries = (entry.partition(b"\t") for entry in listed.split(b"\0"))
        return [_decode_text(path) for about, _, path in entries if path and not about.startswith(SUBMODULE_MODE)]

    def walk_back(self, head: Commit, commits: Sequence[Commit]) -> Iterator[TreeDiff]:
        """Walk back from `head` through these commits, and yield how the files of each differ from those of `head`.

        One process compares every commit with the previous one, the youngest first. Comparing each with `head` would
        repeat the same changes: 500 commits of a busy year would take seconds, and 5,000 minutes.
        """
        if not commits:
            return
        way = list(dict.fromkeys(commit.tree for commit in self._sort_youngest_first(commits)))
        with tempfile.TemporaryFile() as pairs, tempfile.TemporaryFile() as complaints:
            steps = zip((head.tree, *way), way, strict=False)
            pairs.write("".join(f"{before} {tree}\n" for before, tree in steps).encode("ascii"))
            pairs.seek(0)
            stopped = 0
            with _start_process(self._build_command(*_TREE_DIFF), pairs, complaints) as git:
                assert git.stdout is not None  # noqa: S101 - stdout is a pipe
                for stop in _parse_tree_diffs(_split_fields(git.stdout)):
                    stopped += 1
                    yield stop
            complaints.seek(0)
            if git.returncode or stopped < len(way):  # git silently skips a tree that it cannot read
                raise self._make_error(complaints.read())

    def list_changed_files(self, commit: Commit, head: Commit) -> list[str]:
        """Return the files that were added, changed or deleted between a commit and `head`."""
        (stop,) = self.walk_back(head, [commit])
        return stop.differing

    def compare_with_head(self, commits: Collection[str], folders: Collection[str]) -> RepositoryState:
        """Return what changed since some commits, given by id, and the files of HEAD below some folders."""
        ids = [id_ for id_ in dict.fromkeys(commits) if _OBJECT_ID.fullmatch(id_)]
        resolved = self._resolve_commits(["HEAD", *ids])
        head = resolved.pop("HEAD", None)
        if head is None:
            raise NoCommit(self.folder)
        anchors = {id_: commit for id_, commit in resolved.items() if commit.id.startswith(id_)}
        paths = () if "" in folders or len(folders) > FOLDERS_MAX else sorted(folders)
        differing = self._find_differing(head, {commit.tree for commit in anchors.values()}, paths)
        listing = self._run(*_LITERALLY, "ls-tree", "-r", "-z", "--name-only", "--full-tree", head.tree, "--", *paths)
        files = [escape_name(_decode_text(name)) for name in listing.split(b"\0") if name]
        changes = {}
        for id_, commit in anchors.items():
            names = differing[commit.tree]
            changes[id_] = ChangesSince(names, self._list_later(commit, head, paths) if names else [])
        return RepositoryState(changes, files)

    def _find_differing(self, head: Commit, trees: Collection[str], paths: Sequence[str]) -> dict[str, frozenset[str]]:
        """Return the files of each tree that differ from those of `head`."""
        way = sorted(trees)
        pairs = "".join(f"{before} {tree}\n" for before, tree in zip((head.tree, *way), way, strict=False))
        output = self._run(*_LITERALLY, *_TREE_DIFF, "--", *paths, stdin=pairs.encode("ascii")) if way else b""
        names: set[str] = set()
        differing = {}
        for stop in _parse_tree_diffs(iter(output.split(b"\0"))):
            names.update(stop.differing)
            names.difference_update(stop.alike)
            differing[stop.tree] = frozenset(map(escape_name, names))
        if len(differing) < len(way):  # git silently skips a tree that it cannot read
            raise GitFailed("a tree cannot be read")
        return differing

    def _list_later(self, commit: Commit, head: Commit, paths: Sequence[str]) -> list[LaterCommit] | None:
        """Return the commits that lead from a commit to `head`, the newest first; None if there are too many."""
        limit = f"--max-count={LATER_COMMITS_MAX + 1}"
        try:
            ids = self._run("rev-list", limit, "--topo-order", head.id, f"^{commit.id}")
            if ids.count(b"\n") > LATER_COMMITS_MAX:
                return None
            fields = iter(self._run(*_LITERALLY, *_TREE_DIFF, "--root", "--", *paths, stdin=ids).split(b"\0"))
        except subprocess.TimeoutExpired:
            return None
        later: list[tuple[str, list[str]]] = []
        for field in fields:
            if field.startswith(b":"):
                later[-1][1].append(escape_name(_decode_text(next(fields))))
            elif field:
                later.append((field.decode("ascii"), []))
        return [LaterCommit(id_, files) for id_, files in later]

    def _sort_youngest_first(self, commits: Iterable[Commit]) -> list[Commit]:
        by_id = {commit.id: commit for commit in commits}
        if len(by_id) < 2:
            return list(by_id.values())
        ids = "".join(f"{id_}\n" for id_ in by_id)
        listed = self._run("rev-list", "--no-walk=sorted", "--stdin", stdin=ids.encode("ascii"))
        return [by_id[id_] for id_ in listed.decode("ascii").split()]

    def _resolve_commits(self, revisions: Sequence[str]) -> dict[str, Commit]:
        asked = [revision for revision in revisions if _fits_a_line(revision)]
        lines = "".join(f"{revision}^{{commit}}\n{revision}^{{tree}}\n" for revision in asked)
        output = self._run("cat-file", "--batch-check", "--buffer", stdin=lines.encode("utf-8", "surrogateescape"))
        answers = output.split(b"\n")
        commits = {}
        for index, revision in enumerate(asked):
            commit, tree = (
                _parse_object_id(answers[2 * index + part], kind) for part, kind in enumerate((b"commit", b"tree"))
            )
            if commit and tree:
                commits[revision] = Commit(commit, tree)
        return commits

    def _run(self, *words: str, stdin: bytes = b"") -> bytes:
        try:
            ended = subprocess.run(  # noqa: S603 - fixed arguments, no shell
                self._build_command(*words),
                input=stdin,
                capture_output=True,
                check=False,
                env=_build_environment(),
                timeout=None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0),
            )
        except (FileNotFoundError, PermissionError):
            raise GitMissing from None
        if ended.returncode:
            raise self._make_error(ended.stderr)
        return ended.stdout

    def _build_command(self, *words: str) -> list[str]:
        # Comparing trees reads the index, which could start the configured file monitor: an arbitrary program.
        return ["git", "--no-pager", "-c", "core.fsmonitor=", "-C", str(self.folder), *words]

    def _make_error(self, stderr: bytes) -> NotARepository | GitFailed:
        text = _decode_text(stderr)
        if "not a git repository" in text or not self.folder.is_dir():
            return NotARepository(self.folder)
        lines = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))] or text.splitlines()
        reason = lines[-1].partition(": ")[2] or lines[-1] if lines else "it did not say why"
        return GitFailed(reason[:REASON_CHARS_MAX])


def _start_process(command: list[str], stdin: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - fixed arguments, no shell
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=_build_environment()
        )
    except (FileNotFoundError, PermissionError):
        raise GitMissing from None


def _build_environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _REDIRECTING_VARIABLES} | _SAFE_VARIABLES


def _fits_a_line(revision: str) -> bool:
    # Git reads one name per line, up to the first NUL. A text that cannot be encoded is not a name in git.
    try:
        revision.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return not {"\n", "\0"} & set(revision)


def _parse_object_id(answer: bytes, kind: bytes) -> str | None:
    words = answer.split(b" ")
    return words[0].decode("ascii") if len(words) == 3 and words[1] == kind else None


def _split_fields(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the texts between NULs, and the rest after the last NUL."""
    rest = b""
    while chunk := stream.read(CHUNK_BYTES):
        *fields, rest = (rest + chunk).split(b"\0")
        yield from fields
    yield rest


def _parse_tree_diffs(fields: Iterator[bytes]) -> Iterator[TreeDiff]:
    """Parse the output of git diff-tree for pairs of trees.

    Descriptions and names alternate, so a name cannot be mistaken for the line of the next pair. The lines of all pairs
    since the last description are in front of a description.
    """
    at_head: dict[bytes, bytes] = {}  # the version at HEAD of every file that differs somewhere
    stop: TreeDiff | None = None
    for field in fields:
        *pairs, described = field.split(b"\n")
        for pair in pairs:
            if stop is not None:
                yield stop
            stop = TreeDiff(pair.split(b" ")[1].decode("ascii"), [], [])
        if described and stop is not None:
            before, here = _parse_versions(described)
            name = next(fields)
            # Until a file is listed for the first time, it equals HEAD.
            original = at_head.setdefault(name, before)
            if here == original:
                stop.alike.append(_decode_text(name))
            elif before == original:
                stop.differing.append(_decode_text(name))
    if stop is not None:
        yield stop


def _parse_versions(described: bytes) -> tuple[bytes, bytes]:
    """Return mode and content id of both sides of `:MODE MODE ID ID STATUS`; empty for a side without a file."""
    mode, other_mode, content, other_content, _ = described[1:].split(b" ")
    return _make_version(mode, content), _make_version(other_mode, other_content)


def _make_version(mode: bytes, content: bytes) -> bytes:
    return b"" if mode in NON_FILE_MODES else mode + content


def _decode_text(raw: bytes) -> str:
    # A file name is bytes. Bytes that are not UTF-8 survive the round trip.
    return raw.decode("utf-8", "surrogateescape")


def escape_name(name: str) -> str:
    """Return a file name that can be stored: control characters and bytes that are not UTF-8 are escaped."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text if text.isprintable() else _CONTROL.sub(lambda char: f"\\x{ord(char[0]):02x}", text)


# --- The working copy beside a session: turns paths as people and agents have them into paths from its root -----------
# Nothing is read before the first path. Then a folder with `.git` is looked for, upwards from the given one. Git itself
# is not started.

FROM_ROOT = ":/"  # begins a pattern that starts at the root, as in git
_UNKNOWN = (NotARepository, NoCommit, GitMissing, GitFailed, OSError, subprocess.TimeoutExpired)


class WorkingCopy:
    """The working copy around a folder, by default the current one.

    A relative path starts at the folder. With `starts_at_root` it starts at the root, unless only the folder has it:
    agents know paths from the root, but may have been started below it. With `is_chosen`, the folder itself is the root
    where there is no repository. `advice` says what to do where no root is known. Git is given up after `limit_s`.
    """

    def __init__(
        self,
        folder: str = ".",
        *,
        starts_at_root: bool = False,
        is_chosen: bool = False,
        advice: str = "run this command in the repository",
        limit_s: float | None = None,
    ) -> None:
        self.advice = advice
        self._limit_s = ANSWER_LIMIT_S if limit_s is None else limit_s
        self._folder = folder
        self._starts_at_root = starts_at_root
        self._is_chosen = is_chosen

    @property
    def root(self) -> str | None:
        """The root of the working copy, or None outside of a working copy."""
        return None if self._places is None else str(self._places[1])

    @property
    def folder_names(self) -> tuple[str, ...]:
        """The names of the folders from the root to the current folder; empty at the root or without a root."""
        return () if self._places is None else self._places[0].relative_to(self._places[1]).parts

    def spell_pattern(self, pattern: str) -> str:
        """Return a pattern relative to the root in the spelling of a request from the current folder."""
        return pattern if self._starts_at_root or not self.folder_names else FROM_ROOT + pattern

    def locate(self, path: str) -> str:
        """Return a path relative to the root, or the unchanged path if it is outside or there is no root."""
        if self._places is None or is_drive(path.partition("/")[0]):
            return path
        folder, root = self._places
        try:
            if self._starts_at_root and (os.path.lexists(root / path) or not os.path.lexists(folder / path)):
                folder = root
            return self._strip_root(Path(os.path.normpath(folder / path))) or path
        except (OSError, ValueError, RuntimeError):  # no file can have this name, or links run in a circle
            return path

    @cached_property
    def has_commits(self) -> bool:
        """Whether the root is that of a git repository."""
        return self._places is not None and find_root(self._places[0]) is not None

    def resolve_head(self) -> str | None:
        """Return the id of the commit that is checked out, or None if git cannot tell."""
        try:
            return Repository(self.root, limit_s=self._limit_s).resolve_head().id if self.root else None
        except _UNKNOWN:
            return None

    def look_up(self, commits: Collection[str], paths: Collection[str]) -> LookUp:
        """Return whether the repository has some commits, by id, and the working copy some files or folders.

        One limit of time is for all of them. Files come first: git is slower to start than a hundred of them.
        """
        if not self.root:
            return LookUp(dict.fromkeys(commits), dict.fromkeys(paths))
        repository = Repository(self.root, limit_s=self._limit_s)
        files = {path: None if repository.is_late else self._has_file(path) for path in paths}
        return LookUp(self._find_commits(repository, commits), files)

    def _find_commits(self, repository: Repository, ids: Collection[str]) -> Mapping[str, bool | None]:
        """Return whether the repository has each of some commits.

        The history of a shallow clone is cut off, so it tells nothing about a commit that it does not have.
        """
        unknown: dict[str, bool | None] = dict.fromkeys(ids)
        if not ids:
            return unknown
        try:
            found = repository.resolve_commit_ids(ids)
        except _UNKNOWN:
            return unknown
        folders = find_git_folders(repository.folder)
        is_shallow = folders is not None and (folders.shared / "shallow").exists()
        return {id_: id_ in found or (None if is_shallow else False) for id_ in ids}

    def _has_file(self, path: str) -> bool | None:
        """Return whether a path leads to a file or folder of the working copy; None if it is outside."""
        located = self.locate(path)
        is_outside = self._places is None or located.startswith(("/", "../")) or located == ".." or not located
        return None if is_outside else self.is_folder(located) is not None

    def compare_with_head(self, commits: Collection[str], folders: Collection[str]) -> RepositoryState | None:
        """Return what changed since some commits, and the files below some folders; None if git cannot tell in time."""
        try:
            repository = Repository(self.root, limit_s=self._limit_s) if self.root else None
            return None if repository is None else repository.compare_with_head(commits, folders)
        except _UNKNOWN:
            return None

    def is_folder(self, path: str) -> bool | None:
        """Return True for a folder, False for another file, and None if the path does not exist or there is no root."""
        if self._places is None:
            return None
        place = self._places[1] / path
        try:
            return place.is_dir() if os.path.lexists(place) else None
        except OSError:  # above it is something that may not be read
            return None

    @cached_property
    def _places(self) -> tuple[Path, Path] | None:
        """The current folder and the root, or None if there is no root."""
        try:
            folder = Path(os.path.normpath(Path(self._folder).absolute()))
        except OSError:  # the current directory was deleted
            return None
        root = find_root(folder) or (folder if self._is_chosen else None)
        return None if root is None else (folder, root)

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        """The root, both as it was found and without symbolic links."""
        return () if self._places is None else (self._places[1], self._places[1].resolve())

    def _strip_root(self, place: Path) -> str | None:
        """Return an absolute path relative to the root, or None if it is outside."""
        # The way to the working copy may lead over symbolic links. The file itself may be one that git keeps.
        return self._strip_either_root(place) or self._strip_either_root(place.parent.resolve() / place.name)

    def _strip_either_root(self, place: Path) -> str | None:
        root = next(filter(place.is_relative_to, self._roots), None)
        return None if root is None else place.relative_to(root).as_posix()


def find_root(folder: Path) -> Path | None:
    """Return the nearest folder with `.git`: the given folder, or one above it."""
    for above in (folder, *folder.parents):
        try:
            if (above / ".git").exists():
                return above
        except OSError:  # it may not be read
            continue
    return None


# --- Link a commit to the tasks that its message names, as evidence ---------------------------------------------------
# A message names a task by a word and its whole id, as in `plan-q8cdfw`. The word is needed: an id alone could be any
# word of six letters.

EVIDENCE_TYPE = "commit"
PREFIX = "plan"
ID_CHARS_MIN = 6
ID_CHARS_MAX = 32
LINKS_MAX = 50  # of one commit


class LinkedTask(Struct):
    """A task for which the commit is evidence."""

    id: str
    summary: str
    is_new: bool  # whether this call added the evidence


class CommitLinks(Struct):
    """A commit and the tasks in its message."""

    commit: str
    linked: list[LinkedTask]
    unknown: list[str]  # ids that no task has


def link_commit(session: Session, folder: Path | str, prefixes: Iterable[str], revision: str = "HEAD") -> CommitLinks:
    """Add a commit as evidence to each task in its message, unless it was added before."""
    repository = Repository(folder)
    commit = repository.resolve_head() if revision == "HEAD" else repository.resolve_commit(revision)
    done = CommitLinks(commit.id, [], [])
    for node_id in find_named_tasks(repository.read_message(commit), prefixes):
        try:
            node = session.call("work.context", node_id=node_id, depth=0).node
        except NotFound:
            done.unknown.append(node_id)
            continue
        if node.id != node_id:  # it is only the beginning of an id
            done.unknown.append(node_id)
            continue
        is_new = all((stored.type, stored.ref) != (EVIDENCE_TYPE, commit.id) for stored in node.evidence or ())
        if is_new:
            evidence = [{"type": EVIDENCE_TYPE, "ref": commit.id}]
            session.call(
                "work.update",
                updates=[{"node_id": node_id, "add_evidence": evidence}],
                op_id=f"{EVIDENCE_TYPE}-{commit.id}-{node_id}",  # a second run at the same time adds nothing
            )
        done.linked.append(LinkedTask(node.id, node.summary, is_new))
    return done


def find_named_tasks(message: str, prefixes: Iterable[str]) -> list[str]:
    """Return the distinct task ids in a message, in order."""
    words = "|".join(sorted({re.escape(prefix) for prefix in (PREFIX, *prefixes) if prefix}, key=len, reverse=True))
    named = re.compile(
        rf"(?<![\w-])(?:{words})-([{ALPHABET}]{{{ID_CHARS_MIN},{ID_CHARS_MAX}}})(?![\w-])", re.IGNORECASE
    )
    return list(dict.fromkeys(match[1].lower() for match in named.finditer(message)))[:LINKS_MAX]


def make_prefix(project: str) -> str:
    """Return the project name as the prefix of task names, as in `water-plan-q8cdfw`."""
    return re.sub(r"[^a-z0-9]+", "-", project.lower()).strip("-")
