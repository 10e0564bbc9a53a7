"""`groundplan knowledge export-rules` and `import-rules`: write atoms as rule files, and read them back."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from groundplan.kernel.errors import RuleViolated
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import ProjectOption

if TYPE_CHECKING:
    from groundplan.repository.rules.export import ExportedRules
    from groundplan.repository.rules.import_rules import ImportedAtom, ImportedRules
    from groundplan.repository.rules.plan_files import FileIssue

FormatOption = Annotated[
    Literal["claude", "cursor", "agents", "copilot"],
    option(
        "--format",
        value="claude|cursor|agents|copilot",
        text="The format of the files: .claude/rules, .cursor/rules, AGENTS.md, or .github/instructions.",
    ),
]


def export_rules(
    invocation: Invocation,
    rules_format: FormatOption,
    project: ProjectOption,
    out: Annotated[
        str,
        option("--out", value="DIR", text="The root of the working copy. Default: the current directory."),
    ] = ".",
    check: Annotated[
        bool,
        option("--check", text="Write nothing; fail if any file would change."),
    ] = False,
    force: Annotated[
        bool,
        option("--force", text="Overwrite files edited by hand."),
    ] = False,
) -> CommandResult:
    """Write path-scoped rule files from atoms, update existing ones, and report those edited by hand."""
    from groundplan.repository.rules.export import export
    from groundplan.repository.rules.folder import Folder
    from groundplan.repository.rules.formats import RuleFormat

    if check and force:
        raise UsageError("--check and --force cannot be combined; use one of them")
    root = Path(out)
    if not Folder(root).is_usable:
        raise UsageError("--out must be the directory of a working copy, not a file")
    with invocation.session(reads_only=True) as session:
        done = export(session, project, RuleFormat(rules_format), root, check=check, force=force)
    is_well = done.is_up_to_date if check else done.is_complete
    data = {
        "format": rules_format,
        "written": done.written,
        "removed": done.removed,
        "unchanged": done.unchanged,
        "drifted": [_describe_left_alone(one) for one in done.drifted],
        "refused": [_describe_left_alone(one) for one in done.refused],
        "repaired": [_describe_left_alone(one) for one in done.repaired],
        "ok": is_well,
    }
    again = f"groundplan knowledge export-rules --format {rules_format} --project {shlex.quote(project)}" + (
        "" if out == "." else f" --out {shlex.quote(out)}"
    )

    def draw() -> None:
        _draw_export(done, rules_format, project, root, again, check=check)

    return CommandResult(data, draw, exit_code=0 if is_well else RuleViolated.exit_code)


def import_rules(
    invocation: Invocation,
    paths: Annotated[
        list[str],
        argument("PATH", "Rule files, or directories that contain them."),
    ],
    rules_format: FormatOption,
    project: ProjectOption,
    task: Annotated[
        str,
        option("--task", value="ID", text="The task that this is done for, by the id of its work node."),
    ],
) -> CommandResult:
    """Import rule files as atoms. Exit status 6 means that some files were skipped and the others imported."""
    from groundplan.repository.rules.formats import RuleFormat
    from groundplan.repository.rules.import_rules import import_rules as import_files

    with invocation.session(reads_only=True) as session:
        done = import_files(session, project, task, RuleFormat(rules_format), paths)
    data = {
        "format": rules_format,
        "created": [_describe_imported(one) for one in done.created],
        "updated": [_describe_imported(one) for one in done.updated],
        "unchanged": [_describe_imported(one) for one in done.unchanged],
        "skipped": [{"file": one.file, "reason": one.reason} for one in done.skipped],
        "molecules": [{"file": one.file, "moleculeId": one.molecule_id, "name": one.name} for one in done.molecules],
        "warnings": done.warnings,
    }

    def draw() -> None:
        _draw_import(done, rules_format, project)

    return CommandResult(data, draw, exit_code=RuleViolated.exit_code if done.skipped else 0)


def _describe_left_alone(one: FileIssue) -> dict[str, Any]:
    issue = {"file": one.path, "atomId": one.atom_id, "reason": one.reason}
    return {name: value for name, value in issue.items() if value}


def _describe_imported(one: ImportedAtom) -> dict[str, Any]:
    return {"file": one.file, "atomId": one.atom_id, "name": one.name}


def _draw_export(done: ExportedRules, rules_format: str, project: str, root: Path, again: str, *, check: bool) -> None:
    from groundplan.surfaces.cli.drawing import GAP, Lines, View, When

    would = "would be " if check else ""
    is_changed = bool(done.written or done.removed)
    is_empty = not (is_changed or done.unchanged or done.refused)
    first = f"groundplan knowledge import-rules --format {rules_format} PATH --project {shlex.quote(project)} --task ID"
    View(
        Lines("written", lambda path: f"{would}written  {path}"),
        Lines("removed", lambda path: f"{would}removed  {path}"),
        f"{len(done.written)} {would}written, {len(done.removed)} {would}removed, {len(done.unchanged)} up to date"
        f" ({rules_format}).",
        Lines("refused", lambda one: f"{one.path or f'atom {one.atom_id}'}: {one.reason}", title="Errors:"),
        Lines("repaired", "{path}: {reason}", title="Repaired:"),
        Lines("drifted", "{path}: {reason}", title="Not changed:"),
        When(
            "drifted",
            GAP,
            "Next steps:",
            lambda _: [*_list_next_steps(done.drifted, rules_format, project, root), f"  {again} --force"],
            otherwise=(
                When(lambda _: is_empty, GAP, "The project has no atoms yet."),
                Lines(
                    lambda _: [again] if check and is_changed else [first] if is_empty else [],
                    title="Next steps:",
                ),
            ),
        ),
    )(done)


def _list_next_steps(drifted: list[FileIssue], rules_format: str, project: str, root: Path) -> list[str]:
    """Return what to do about each kind of unchanged file. The last line introduces the --force command."""
    from groundplan.repository.rules.plan_files import NOT_OURS

    edited = [shlex.quote(str(root / one.path)) for one in drifted if one.can_be_overwritten]
    is_theirs = any(one.reason == NOT_OURS for one in drifted)
    is_damaged = any(not one.can_be_overwritten and one.reason != NOT_OURS for one in drifted)
    steps = []
    if edited:
        named = f"--format {rules_format} {edited[0]} --project {shlex.quote(project)} --task ID"
        steps += ["Import the edits into the plan:", f"  groundplan knowledge import-rules {named}"]
    if is_theirs:
        steps.append("Rename files that Groundplan did not write, and export again.")
    if not is_damaged:
        steps.append("Or overwrite the files:")
    elif edited:
        steps.append("Or overwrite the files; the text of a block without its end line is kept as your own text:")
    else:
        steps.append("Or write a new block, and keep the text of the old one as your own text:")
    return steps


def _draw_import(done: ImportedRules, rules_format: str, project: str) -> None:
    from groundplan.surfaces.cli.drawing import Lines, View, When

    export = f"groundplan knowledge export-rules --format {rules_format} --project {shlex.quote(project)}"
    View(
        Lines("created", "created  {name}  ({file})"),
        Lines("updated", "updated  {name}  ({file})"),
        Lines("molecules", "molecule  {name}  ({file})"),
        f"{len(done.created)} created, {len(done.updated)} updated, {len(done.unchanged)} unchanged, "
        f"{len(done.skipped)} skipped ({rules_format}).",
        Lines("skipped", "{file}: {reason}", title="Skipped:"),
        Lines("warnings", title="Warnings:"),
        When(
            lambda _: done.created or done.updated or done.molecules,
            Lines(lambda _: [f"{export}   (writes rule files from the atoms)"], title="Next steps:"),
        ),
    )(done)
