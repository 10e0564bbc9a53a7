"""`groundplan add`, `edit` and `note`: plan a task, change it in an editor, add notes to it and take them back.

    ---
    title: Fix the login
    priority: high
    tags: web, urgent
    complexity: 3
    ---
    What is below the second line of dashes is the description.

What was changed is written at the version that was read. If others changed the task meanwhile, nothing is written, and
the text is kept in a file that the error names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from groundplan.kernel.errors import GroundplanError, Unavailable
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.command_line import Kind, argument, option, usage_error
from groundplan.surfaces.cli.everyday.drawing import draw_heading, draw_warnings, make_result
from groundplan.surfaces.cli.everyday.progress import TASK, read_container
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import read_text
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.last_id import find_state_folder
from groundplan.surfaces.cli.options import Message, Task, Under
from groundplan.surfaces.cli.program_name import get_program_name
from groundplan.surfaces.cli.screen.output import Output, Part
from groundplan.surfaces.cli.screen.text import StyledText
from groundplan.surfaces.cli.terminal import INDENT, to_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from groundplan.work.graph.outline import OutlineNode


REF = "task"  # the name of the new node in the request


def add(
    invocation: Invocation,
    title: Annotated[str, argument("TITLE", "What is to be done.", joined=True, fields=("nodes[].summary",))],
    under: Under = None,
    after: Annotated[
        list[str] | None,
        option("--after", "-a", value="ID", text="It waits for this task; repeatable.", kind=Kind.NODE),
    ] = None,
    priority: Annotated[
        float | None,
        option(
            "--priority",
            "-p",
            value="N",
            text="A number; a higher one comes first.",
            fields=("nodes[].properties.priority",),
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        option("--tag", "-t", value="TAG", text="A tag; repeatable.", kind=Kind.TAG, fields=("nodes[].tags",)),
    ] = None,
    serves: Annotated[
        list[str] | None,
        option("--serves", value="KEY", text="What it is for, such as OC1; repeatable.", fields=("nodes[].serves",)),
    ] = None,
    message: Message = None,
) -> CommandResult:
    """Add one task."""
    above = invocation.look_up_one(under)
    targets = invocation.look_up(after or ())
    node: dict[str, Any] = {"ref": REF, "summary": title}
    if above is not None:
        node["parent_ref"] = above.id
    if targets:
        node["depends_on"] = [one.id for one in targets]
    if priority is not None:
        node["properties"] = {"priority": int(priority) if priority.is_integer() else priority}
    if tag:
        node["tags"] = tag
    if serves:
        node["serves"] = serves
    answer = invocation.run("work.add", project=invocation.project, nodes=[node], decision=message)
    node_id = answer.created[0].id
    waits = any(str(one.state) not in ("resolved", "dropped") for one in targets)

    def draw(output: Output) -> Iterator[Part]:
        yield from draw_heading(node_id, title, "blocked" if waits else "ready", output)
        if answer.reopened:
            yield StyledText(f"  reopened: {', '.join(one.id for one in answer.reopened)}", "dim")
        yield from draw_warnings(answer)

    return make_result(draw, last=node_id)


DASHES = "---"
EDITORS = ("VISUAL", "EDITOR")
EDITOR_DEFAULT = "vi"
PRIORITY_WORDS = {"1": "low", "2": "medium", "3": "high"}
NOT_A_TASK = {"feature": ("title", "priority", "tags"), "project": ("tags",)}
FIELDS = ("title", "priority", "tags", "complexity")


def edit(
    invocation: Invocation,
    task: Task,
    file: Annotated[
        str | None,
        option(
            "--file", "-f", value="FILE", text="Take the text from a file, or - for standard input.", kind=Kind.FILE
        ),
    ] = None,
) -> CommandResult:
    """Let a person change a task, and write what they changed.

    The editor is $VISUAL, else $EDITOR, else vi. If it was changed meanwhile, what you typed is kept.
    """
    (node,) = invocation.look_up([task])
    container = read_container(invocation, node)
    before = _read_fields(node, container)
    kept = None
    if file is None:
        kept = _make_file(f"{node.id}.md", write_document(before))
        _open_editor(kept, ("edit",))
    text = _read_file(kept) if kept is not None else _read_given(str(file))
    with _keep_until_written(kept, node.id):
        changes = find_changes(before, read_document(text))
        if changes:
            of = {"containerType": node.kind or TASK, "id": node.id, "version": container.version}
            invocation.run("container.update", **of, **changes)
    changed = [name for name in ("title", "name", *FIELDS[1:], "description") if changes and name in changes]
    title = str(changes.get("title") or changes.get("name") or node.summary)
    return make_result(lambda output: _draw_edited(node, title, changed, output), last=node.id)


def add_note(
    invocation: Invocation,
    task: Task,
    text: Annotated[
        str | None,
        argument(
            "TEXT",
            "The note; - reads it from standard input. Default: your editor opens.",
            joined=True,
            is_piped=True,
            fields=("updates[].add_evidence[].ref",),
        ),
    ] = None,
    retract: Annotated[
        str | None,
        option(
            "--retract",
            value="EVENT",
            text="Take back the notes of this event, which show names.",
            fields=("updates[].retract_note",),
        ),
    ] = None,
) -> CommandResult:
    """Add a note to a task, or take one back."""
    (node,) = invocation.look_up([task])
    kept = None
    if text is None and retract is None:
        kept = _make_file(f"{node.id}-note.md", "")
        _open_editor(kept, ("note",))
        text = _read_file(kept).strip()
        if not text:
            kept.unlink(missing_ok=True)
            raise UsageError("the note is empty; nothing was written")
    update: dict[str, Any] = {"node_id": node.id}
    if text is not None:
        update["add_evidence"] = [{"type": "note", "ref": text}]
    if retract is not None:
        update["retract_note"] = retract
    did = [word for word, given in (("taken back", retract), ("noted", text)) if given is not None]
    with _keep_until_written(kept, node.id):
        answer = invocation.run("work.update", updates=[update])

    def draw(output: Output) -> Iterator[Part]:
        yield from draw_heading(node.id, node.summary, str(node.state), output)
        yield from (StyledText(f"{INDENT}{done}", "dim") for done in did)
        yield from draw_warnings(answer)

    return make_result(draw, last=node.id)


def _draw_edited(node: OutlineNode, title: str, changed: list[str], output: Output) -> Iterator[Part]:
    yield from draw_heading(node.id, title, str(node.state), output)
    yield StyledText(f"{INDENT}changed: {', '.join(changed)}" if changed else f"{INDENT}nothing changed", "dim")


# --- The document ---------------------------------------------------------------------------------------------------


def _read_fields(node: OutlineNode, container: Any) -> dict[str, str]:
    """Return the fields of a task as texts."""
    priority = getattr(container, "priority", None)
    fields = {
        "title": to_one_line(node.summary),
        "priority": str(priority).lower() if priority else "",
        "tags": ", ".join(container.tags or ()),
        "complexity": str(getattr(container, "complexity", None) or ""),
        "description": container.description or "",
    }
    known = NOT_A_TASK.get(node.kind or TASK, FIELDS)
    return {name: value for name, value in fields.items() if name in known or name == "description"}


def write_document(fields: dict[str, str]) -> str:
    """Return fields as a document to edit."""
    head = [f"{name}: {value}".rstrip() for name, value in fields.items() if name != "description"]
    return "\n".join([DASHES, *head, DASHES, fields["description"]]).rstrip("\n") + "\n"


def read_document(text: str) -> dict[str, str]:
    """Return the fields in a document."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == DASHES), None)
    if lines[0].rstrip() != DASHES or end is None:
        raise UsageError(f"the text must begin with fields between two lines of {DASHES}, as it did")
    fields = {}
    for number, line in enumerate(lines[1:end], 2):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or name.strip() not in FIELDS:
            raise UsageError(f"line {number} must be one of {', '.join(FIELDS)}, a colon and a value, not {line!r}")
        fields[name.strip()] = value.strip()
    return {**fields, "description": "\n".join(lines[end + 1 :]).strip("\n")}


def find_changes(before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    """Return what was changed, as arguments of `container.update`. A line that was removed changes nothing."""
    changes: dict[str, Any] = {}
    for name, value in after.items():
        if name not in before:
            raise UsageError(f"{name} is not for this kind of task; remove the line")
        if value == before[name].strip("\n"):
            continue
        match name:
            case "title":
                if not value:
                    raise UsageError("the title is empty; write what is to be done")
                changes["title"] = value
            case "priority":
                changes["priority"] = PRIORITY_WORDS.get(value, value) or None
            case "tags":
                changes["tags"] = [tag.strip() for tag in value.split(",") if tag.strip()]
            case "complexity":
                changes["complexity"] = int(value) if value.isascii() and value.isdigit() else value or None
            case "description":
                changes["description"] = value or None
    return changes


# --- The editor -----------------------------------------------------------------------------------------------------


def _make_file(name: str, text: str) -> Path:
    """Return a new file with a text, which only this person can read."""
    folder = find_state_folder(os.environ) / "edits"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = 1
        while (path := folder / (name if number == 1 else f"{number}-{name}")).exists():
            number += 1  # a text that was kept after an error is not overwritten
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            f"no file can be written in {quote_text(str(folder))}: {error.strerror}; set XDG_STATE_HOME",
            code="editor_failed",
        ) from None
    return path


def _open_editor(path: Path, words: tuple[str, ...]) -> None:
    """Open a file in the editor of the person and wait until it is closed."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        path.unlink(missing_ok=True)
        alternative = "--file FILE" if words == ("edit",) else "the text after the ID, or - for standard input,"
        raise usage_error(words, f"the editor needs a terminal; give {alternative} instead")
    import shlex
    import subprocess

    editor = next((os.environ[name] for name in EDITORS if os.environ.get(name)), EDITOR_DEFAULT)
    try:
        # No shell: the variable names a program and its options.
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 - the user's own editor
    except (OSError, ValueError) as error:
        path.unlink(missing_ok=True)
        raise Unavailable(
            f"the editor {quote_text(editor)} cannot be started: {error}; set EDITOR", code="editor_failed"
        ) from None
    if ended.returncode != 0:
        raise Unavailable(
            f"the editor ended with status {ended.returncode}, so nothing was written; your text is in {path}",
            code="editor_failed",
            file=str(path),
        )


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"{path} cannot be read: {error}", code="editor_failed", file=str(path)) from None


def _read_given(name: str) -> str:
    return read_text("--file", name)


@contextmanager
def _keep_until_written(kept: Path | None, node_id: str) -> Iterator[None]:
    """Remove the file of a text that was written. After an error it stays, and the error says where."""
    try:
        yield
    except GroundplanError as error:
        if kept is not None:
            program = get_program_name()
            hint = f"compare it with {program} show {node_id}, then {program} edit {node_id} --file {kept}"
            error.problem = f"{error.problem}; your text is kept in {kept}: {hint}"
            error.details = {**error.details, "kept": str(kept)}
        raise
    if kept is not None:
        kept.unlink(missing_ok=True)
