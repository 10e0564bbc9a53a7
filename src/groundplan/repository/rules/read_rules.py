"""Read rules from files, which are given by path or by a folder above them.

Patterns are relative to the root of the working copy. That is the git repository around the files; without one it is
the given directory, or for a single file the current directory. A nested `.claude`, `.cursor` or `.github` folder
applies to the directory that contains it, and so does an AGENTS.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from groundplan.kernel.errors import NotFound
from groundplan.repository.git import find_root
from groundplan.repository.rules import formats, front_matter, marks
from groundplan.repository.rules.folder import SKIPPED_FOLDERS, Folder, UnusableFile, to_display_path
from groundplan.repository.rules.formats import OWN_FILES, OwnFiles, RuleFormat, parse_piece
from groundplan.repository.rules.front_matter import UnreadableRule
from groundplan.repository.rules.marks import Mark, RuleBlock, UnclosedBlock
from groundplan.repository.rules.rule import Rule, normalize_line_breaks, parse_handwritten, split_rule

BYTE_ORDER_MARK = "\ufeff"
_NAME_FIELDS = ("name", "title", "description")  # where a rule without a heading has its name


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule, its file, and the defaults for its name and patterns."""

    file: str
    rule: Rule
    default_name: str
    default_patterns: tuple[str, ...]
    mark: Mark | None = None  # if Groundplan generated it
    is_edited: bool = True  # handwritten, or changed since it was generated
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the rule, or the default."""
        return self.rule.name or self.default_name

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of the rule, or the default; empty if it does not concern particular files."""
        return self.rule.patterns or self.default_patterns


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a part of it, that is not imported, and the reason."""

    file: str
    reason: str


class RuleFiles(NamedTuple):
    """The rule files of a request with the path that each was found by, and files that only look like rules."""

    found: list[tuple[Path, Path]]
    elsewhere: list[Path]  # outside of the folder that the tool reads, or in it with another suffix


def find_rule_files(paths: Sequence[str], form: RuleFormat) -> RuleFiles:
    """Return the rule files of the given files and directories, sorted by path."""
    files: dict[str, tuple[Path, Path]] = {}
    elsewhere: dict[str, Path] = {}
    for path in map(Path, paths):
        if not _exists(path):
            raise NotFound("file or directory", to_display_path(str(path)))
        if not path.is_dir():
            files.setdefault(str(path.absolute()), (path, path))
            continue
        for file in _iter_candidates(path, form):
            if _is_read_by_tool(file, form):
                files.setdefault(str(file.absolute()), (file, path))
            else:
                elsewhere.setdefault(str(file.absolute()), file)
    named = {name: file for name, file in elsewhere.items() if name not in files}
    return RuleFiles([file for _, file in sorted(files.items())], [file for _, file in sorted(named.items())])


def read_rules(files: RuleFiles, form: RuleFormat) -> Iterator[FileRule | SkippedFile]:
    """Yield the rules of rule files."""
    for file, path in files.found:
        try:
            yield from _read_file_rules(file, _find_root(path), form)
        except (UnreadableRule, UnusableFile) as error:
            yield SkippedFile(to_display_path(str(file)), error.reason)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _iter_candidates(folder: Path, form: RuleFormat) -> Iterator[Path]:
    """Yield the files below a folder whose names could be those of rules."""
    own = OWN_FILES.get(form)
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            file = Path(above) / name
            if own is None:
                is_candidate = name == formats.AGENTS_FILE
            else:
                is_candidate = name.endswith(own.suffix) or _is_general(file, own) or _is_text_beside_rules(file, own)
            if is_candidate:
                yield file


def _is_text_beside_rules(file: Path, own: OwnFiles) -> bool:
    """Return whether a Markdown file is in the folder of rules, where its tool may ignore it."""
    return file.suffix == ".md" and _find_owner(file, own) is not None


def _is_read_by_tool(file: Path, form: RuleFormat) -> bool:
    own = OWN_FILES.get(form)
    if own is None or _is_general(file, own):
        return True
    return file.name.endswith(own.suffix) and _find_owner(file, own) is not None


def _is_general(file: Path, own: OwnFiles) -> bool:
    """Return True if a file is the general instructions file of its tool."""
    general = () if own.general_file is None else tuple(own.general_file.split("/"))
    return bool(general) and Path(os.path.normpath(file.absolute())).parts[-len(general) :] == general


def _find_root(given_path: Path) -> Path:
    """Return the root of the working copy that contains a path."""
    path = Path(os.path.normpath(given_path.absolute()))
    folder = path if path.is_dir() else path.parent
    if root := find_root(folder):
        return root
    if folder is path:
        return path
    return Path.cwd() if path.is_relative_to(Path.cwd()) else path.parent


def _find_owner(file: Path, own: OwnFiles) -> Path | None:
    """Return the folder to which the rules apply: the one that contains the folder of the tool."""
    steps = Path(os.path.normpath(file.absolute())).parent.parts
    if own.general_file is not None and _is_general(file, own):
        return Path(*steps[: -own.general_file.count("/")])
    folder = tuple(own.folder.split("/"))
    for end in range(len(steps), len(folder) - 1, -1):
        if steps[end - len(folder) : end] == folder:
            return Path(*steps[: end - len(folder)])
    return None


def _read_file_rules(file: Path, root: Path, form: RuleFormat) -> Iterator[FileRule | SkippedFile]:
    text = _read_text(file)
    own = OWN_FILES.get(form)
    if own is not None:
        yield from _parse_rules(file, text, own, _relative_directory(_find_owner(file, own) or root, root), form)
    else:
        yield from _parse_blocks(file, text, _relative_directory(file.absolute().parent, root))


def _read_text(file: Path) -> str:
    text = Folder(file.parent).read(file.name)
    if text is None:
        raise UnreadableRule("does not exist any more")
    text = normalize_line_breaks(text.removeprefix(BYTE_ORDER_MARK))
    if not text.strip():
        raise UnreadableRule("is empty")
    return text


def _relative_directory(directory: Path, root: Path) -> str:
    """Return a folder relative to the root; empty for the root itself, and for folders outside of it."""
    directory = Path(os.path.normpath(directory))
    return "/".join(directory.relative_to(root).parts) if directory.is_relative_to(root) else ""


def _parse_rules(file: Path, text: str, own: OwnFiles, directory: str, form: RuleFormat) -> Iterator[FileRule]:
    piece = marks.parse_file(text)
    path = to_display_path(str(file))
    name = file.name.removesuffix(own.suffix) if file.name.endswith(own.suffix) else file.stem
    if piece is not None:
        rule = parse_piece(piece, form)
        yield FileRule(path, rule, name, rule.patterns or (), piece.mark, piece.is_edited)
        return
    front, body = front_matter.split(text)
    fields = front_matter.parse_fields(front) if front else {}
    rule = parse_handwritten(body)
    name = next((given for field in _NAME_FIELDS if isinstance(given := fields.get(field), str)), name)
    if not rule.name and not rule.knowledge:
        raise UnreadableRule("has nothing but front matter")
    above = formats.escape_path(f"{directory}/") if directory else ""
    own_patterns = own.patterns(fields) or (("**",) if _is_general(file, own) else ())
    patterns = tuple(f"{above}{_strip_dot_slash(pattern)}" for pattern in own_patterns)
    warnings = tuple(_find_other_fields(fields, own))
    for section in split_rule(rule, name):
        yield FileRule(path, section, name, patterns, warnings=warnings)
        warnings = ()  # once a file


def _find_other_fields(fields: front_matter.Fields, own: OwnFiles) -> Iterator[str]:
    """Yield a warning for patterns in a field that the tool does not read."""
    if not fields.get(own.pattern_field):
        for name in front_matter.PATTERN_FIELDS:
            if fields.get(name):
                yield f"has its patterns in {name}; they were imported, but the tool reads {own.pattern_field}"


def _strip_dot_slash(pattern: str) -> str:
    pattern = pattern.strip()
    while pattern.startswith("./"):
        pattern = pattern.removeprefix("./")
    return pattern


def _parse_blocks(file: Path, text: str, directory: str) -> Iterator[FileRule]:
    here = formats.build_patterns(directory)
    parts = marks.parse_text(text)
    for part in parts:
        if isinstance(part, UnclosedBlock):
            raise UnreadableRule(part.reason)
    for piece in (part.piece for part in parts if isinstance(part, RuleBlock)):
        rule = parse_piece(piece, RuleFormat.AGENTS)
        yield FileRule(to_display_path(str(file)), rule, formats.AGENTS_FILE, here, piece.mark, piece.is_edited)
    handwritten = "".join(part for part in parts if isinstance(part, str))
    if handwritten.strip():
        for rule in split_rule(parse_handwritten(handwritten), formats.AGENTS_FILE):
            yield FileRule(to_display_path(str(file)), rule, formats.AGENTS_FILE, here)
