"""What Groundplan asks git: which commit a name stands for, which files it has, and what lies between two of them.

The answers come from commits alone, not from the index or the files on disk. Every question is a plumbing command with
a list of arguments, which runs no hook, filter, pager or text conversion, takes no lock and fetches nothing from
elsewhere. Names that a caller or the plan gives reach git on its standard input, so none can be taken for an option.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from groundplan.kernel.errors import Invalid, NotFound, Unavailable
from groundplan.kernel.wording import quote_text

CHUNK_BYTES = 1 << 20
REASON_CHARS_MAX = 300
SUBMODULE_MODE = b"160000"  # the mode of an entry that is a commit of another repository
NON_FILE_MODES = (b"000000", SUBMODULE_MODE)

# A hook runs with variables that say which repository and which objects are meant. Here the folder alone says it.
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
    "GIT_NO_REPLACE_OBJECTS": "1",  # what a commit is must not depend on whose clone it is
    # In a partial clone git would fetch what it misses. Before 2.45 it does not know the first variable, and is held
    # back by the second, which allows no protocol at all.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
_OBJECT_ID = re.compile(r"[0-9a-f]{4,64}")


class NotARepository(Invalid):
    """The folder does not belong to a git repository."""

    code = "not_a_repository"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{quote_text(str(folder))} is not inside a git repository; run this in one, or name its folder",
            folder=str(folder),
        )


class NoCommit(Invalid):
    """The repository has no commit to look at."""

    code = "no_commit"

    def __init__(self, folder: Path) -> None:
        super().__init__("this repository has no commit yet; commit something first", folder=str(folder))


class GitMissing(Unavailable):
    """There is no program of that name."""

    code = "git_missing"

    def __init__(self) -> None:
        super().__init__("git was not found; install it, or add its folder to PATH")


class GitFailed(Unavailable):
    """Git itself could not answer, and said why."""

    code = "git_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(f"git could not answer: {reason}; run git status there to see whether all is well")


class Commit(NamedTuple):
    """A commit and the tree of files that it holds."""

    id: str
    tree: str


class TreeDiff(NamedTuple):
    """A tree on the way back from HEAD: which files differ from HEAD from here on, and which are as in HEAD again."""

    tree: str
    differing: list[str]
    alike: list[str]


class Repository:
    """The git repository that a folder belongs to; bare ones and linked working trees are as good as any."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def head(self) -> Commit:
        """The commit that is checked out.

        Raises:
            NotARepository: the folder is not in one.
            NoCommit: there is none yet.
        """
        found = self._resolve_commits(["HEAD"]).get("HEAD")
        if found is None:
            raise NoCommit(self.folder)
        return found

    def commit(self, revision: str) -> Commit:
        """The commit that a branch, a tag, an id or an expression such as `HEAD~3` stands for.

        Raises:
            NotFound: git knows no such commit here.
        """
        found = self._resolve_commits([revision]).get(revision)
        if found is None:
            raise NotFound("revision", revision, hint="git log --oneline lists those of this repository")
        return found

    def anchors(self, ids: Iterable[str]) -> dict[str, Commit]:
        """The commits that these ids, whole or abbreviated, belong to; what is not in this repository is left out.

        A branch of the same name does not count: it would stand for another commit tomorrow.
        """
        found = self._resolve_commits([one for one in dict.fromkeys(ids) if _OBJECT_ID.fullmatch(one)])
        return {one: commit for one, commit in found.items() if commit.id.startswith(one)}

    def files(self, commit: Commit) -> list[str]:
        """All files of a commit, by their paths from the top; what is in a submodule belongs to another repository."""
        listed = self._asked("ls-tree", "-r", "-z", "--full-tree", commit.tree)
        entries = (entry.partition(b"\t") for entry in listed.split(b"\0"))
        return [_text(path) for about, _, path in entries if path and not about.startswith(SUBMODULE_MODE)]

    def walk_back(self, head: Commit, commits: Sequence[Commit]) -> Iterator[TreeDiff]:
        """Go back from `head` through these commits, and say at each how its files differ from those of `head`.

        One process compares every commit with the one before it on the way, the youngest first. Comparing each with
        `head` would tell the same changes over and over: 500 commits of a busy year take seconds, and 5,000 minutes.
        """
        if not commits:
            return
        way = list(dict.fromkeys(commit.tree for commit in self._sort_youngest_first(commits)))
        with tempfile.TemporaryFile() as pairs, tempfile.TemporaryFile() as complaints:
            steps = zip((head.tree, *way), way, strict=False)
            pairs.write("".join(f"{before} {tree}\n" for before, tree in steps).encode("ascii"))
            pairs.seek(0)
            words = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none")
            stopped = 0
            with _start_process(self._build_command(*words), pairs, complaints) as git:
                assert git.stdout is not None  # noqa: S101 - a pipe was asked for
                for stop in _parse_tree_diffs(_fields(git.stdout)):
                    stopped += 1
                    yield stop
            complaints.seek(0)
            if git.returncode or stopped < len(way):  # a tree that git cannot read is passed over in silence
                raise self._failure(complaints.read())

    def list_changed_files(self, commit: Commit, head: Commit) -> list[str]:
        """Which files were added, changed or deleted between a commit and `head`."""
        (stop,) = self.walk_back(head, [commit])
        return stop.differing

    def _sort_youngest_first(self, commits: Iterable[Commit]) -> list[Commit]:
        by_id = {commit.id: commit for commit in commits}
        if len(by_id) < 2:
            return list(by_id.values())
        ids = "".join(f"{one}\n" for one in by_id)
        listed = self._asked("rev-list", "--no-walk=sorted", "--stdin", given=ids.encode("ascii"))
        return [by_id[one] for one in listed.decode("ascii").split()]

    def _resolve_commits(self, revisions: Sequence[str]) -> dict[str, Commit]:
        asked = [revision for revision in revisions if _fits_a_line(revision)]
        lines = "".join(f"{revision}^{{commit}}\n{revision}^{{tree}}\n" for revision in asked)
        said = self._asked("cat-file", "--batch-check", "--buffer", given=lines.encode("utf-8", "surrogateescape"))
        answers = said.split(b"\n")
        found = {}
        for place, revision in enumerate(asked):
            commit, tree = (_object(answers[2 * place + part], kind) for part, kind in enumerate((b"commit", b"tree")))
            if commit and tree:
                found[revision] = Commit(commit, tree)
        return found

    def _asked(self, *words: str, given: bytes = b"") -> bytes:
        try:
            ended = subprocess.run(  # noqa: S603 - our own words, and no shell
                self._build_command(*words), input=given, capture_output=True, check=False, env=_environment()
            )
        except (FileNotFoundError, PermissionError):
            raise GitMissing from None
        if ended.returncode:
            raise self._failure(ended.stderr)
        return ended.stdout

    def _build_command(self, *words: str) -> list[str]:
        # Comparing trees reads the index on the way, and would ask the monitor of its files: any program at all.
        return ["git", "--no-pager", "-c", "core.fsmonitor=", "-C", str(self.folder), *words]

    def _failure(self, complaints: bytes) -> NotARepository | GitFailed:
        text = _text(complaints)
        if "not a git repository" in text or not self.folder.is_dir():
            return NotARepository(self.folder)
        lines = [line for line in text.splitlines() if line.startswith(("fatal:", "error:"))] or text.splitlines()
        reason = lines[-1].partition(": ")[2] or lines[-1] if lines else "it did not say why"
        return GitFailed(reason[:REASON_CHARS_MAX])


def _start_process(command: list[str], given: IO[bytes], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - our own words, and no shell
            command, stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=_environment()
        )
    except (FileNotFoundError, PermissionError):
        raise GitMissing from None


def _environment() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _REDIRECTING_VARIABLES} | _SAFE_VARIABLES


def _fits_a_line(revision: str) -> bool:
    # Git reads one name in a line, up to the first NUL; what cannot be written as bytes was never a name of git's.
    try:
        revision.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return not {"\n", "\0"} & set(revision)


def _object(answer: bytes, kind: bytes) -> str | None:
    words = answer.split(b" ")
    return words[0].decode("ascii") if len(words) == 3 and words[1] == kind else None


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """What stands between NULs, and at last what stands behind the last one."""
    rest = b""
    while chunk := stream.read(CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    yield rest


def _parse_tree_diffs(fields: Iterator[bytes]) -> Iterator[TreeDiff]:
    """What git says of pairs of trees, as one way back.

    Descriptions and names take turns, so a name is never where the line about the next pair could be, whatever the name
    is; in front of a description stand the lines of all pairs that were compared meanwhile.
    """
    at_head: dict[bytes, bytes] = {}  # of every file that is not the same everywhere on the way
    stop: TreeDiff | None = None
    for field in fields:
        *pairs, described = field.split(b"\n")
        for pair in pairs:
            if stop is not None:
                yield stop
            stop = TreeDiff(pair.split(b" ")[1].decode("ascii"), [], [])
        if described and stop is not None:
            before, here = _versions(described)
            name = next(fields)
            # Where a file comes up for the first time, it has been as in HEAD until now.
            original = at_head.setdefault(name, before)
            if here == original:
                stop.alike.append(_text(name))
            elif before == original:
                stop.differing.append(_text(name))
    if stop is not None:
        yield stop


def _versions(described: bytes) -> tuple[bytes, bytes]:
    """Mode and content of a file on both sides, as `:MODE MODE ID ID STATUS` says it; nothing where it is no file."""
    mode, other_mode, content, other_content, _ = described[1:].split(b" ")
    return _version(mode, content), _version(other_mode, other_content)


def _version(mode: bytes, content: bytes) -> bytes:
    return b"" if mode in NON_FILE_MODES else mode + content


def _text(raw: bytes) -> str:
    # A file name is bytes. What is not UTF-8 in it is kept, and comes out again as it was.
    return raw.decode("utf-8", "surrogateescape")
