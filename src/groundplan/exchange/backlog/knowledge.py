"""Decisions and documents of Backlog.md: atoms where they name files that exist, else molecules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from groundplan.exchange.backlog.task_files import list_files, read_fields
from groundplan.exchange.backlog.task_ids import parse_file_name
from groundplan.exchange.item_parts import split_text
from groundplan.exchange.model import BadLines, ItemNote, SourcePlan
from groundplan.exchange.prose_paths import find_paths
from groundplan.exchange.text_files import clean_text, clean_title
from groundplan.knowledge.requests import ATOM_PATTERNS_MAX, KNOWLEDGE_BYTES_MAX
from groundplan.repository.rules.formats.agents import escape_path
from groundplan.work.importing.source_items import SourceAtom, SourceMolecule

FOLDERS = {"decisions": "decision", "docs": "doc"}  # and the prefix of their files
NAME_CHARS_MAX = 255


def read_knowledge(folder: Path, plan: SourcePlan, bad: BadLines) -> None:
    """Add the decisions and documents of a folder to a plan."""
    uses: Counter[str] = Counter()
    for name, prefix in FOLDERS.items():
        for path in list_files(folder / name):
            file_id = parse_file_name(path.name)
            if file_id is None or file_id.prefix != prefix:
                plan.left_out["files that are not decisions or documents"] += 1
            elif (parts := read_fields(path, bad)) is not None:
                fields, body = parts
                title = fields["title"].text if "title" in fields else path.stem
                _add_text(plan, clean_title(title) or path.stem, clean_text(body).strip(), path, folder.parent, uses)


def _add_text(plan: SourcePlan, title: str, text: str, path: Path, root: Path, uses: Counter[str]) -> None:
    paths = [pattern for named in find_paths(text) if (pattern := _to_pattern(named, root))][:ATOM_PATTERNS_MAX]
    for number, part in enumerate(split_text(text, KNOWLEDGE_BYTES_MAX), 1):
        name = title[: NAME_CHARS_MAX - 20] if len(title) > NAME_CHARS_MAX - 20 else title
        name = f"{name} ({number})" if number > 1 else name
        uses[name] += 1
        if uses[name] > 1:
            name = f"{name}~{uses[name]}"
            plan.placed.append(ItemNote(path.stem, "name", f"another text has this title; this one is {name}"))
        if paths:
            plan.atoms.append(SourceAtom(name=name, knowledge=part, paths=paths, file=str(path)))
        else:
            plan.molecules.append(SourceMolecule(name=name, knowledge=part, file=str(path)))


def _to_pattern(path: str, root: Path) -> str | None:
    """Return the pattern of a path, or None if there is no such file or folder below the root."""
    steps = path.strip("/").split("/")
    if path.startswith("/") or any(step in ("", ".", "..") for step in steps):
        return None
    try:
        place = root.joinpath(*steps)
        is_folder, exists = place.is_dir(), place.exists()
    except (OSError, ValueError):
        return None
    plain = escape_path("/".join(steps))
    return None if not exists else f"{plain}/**" if is_folder else plain
