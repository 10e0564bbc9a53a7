"""`groundplan knowledge check` and `knowledge confirm`: compare knowledge with the repository that it describes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.wording import find_nearest, join_alternatives, quote_text
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import ProjectOption
from groundplan.surfaces.cli.screen.progress import show_progress

if TYPE_CHECKING:
    from groundplan.repository.check import CheckedAtom, Confirmation, Report

FILES_SHOWN_MAX = 3
UNCOVERED_SHOWN_MAX = 20
COMMIT_CHARS_SHOWN = 12
UNCOVERED = "uncovered"
_DOUBTFUL = ("changed", "orphaned", "unanchored")  # in the order in which they are shown

_RepoOption = Annotated[
    str,
    option("--repo", value="DIR", text="A folder of the repository. Default: this one."),
]


def check(
    invocation: Invocation,
    project: ProjectOption,
    since: Annotated[
        str | None,
        option("--since", value="REV", text="Check only files changed after this revision."),
    ] = None,
    repo: _RepoOption = ".",
    no_record: Annotated[bool, option("--no-record", text="Do not store the results.")] = False,
    fail_on: Annotated[
        str | None,
        option(
            "--fail-on",
            value="STATE,…",
            text=f"Exit with status {RuleViolated.exit_code} if one of these states occurs: "
            f"{', '.join((*_DOUBTFUL, UNCOVERED))}.",
        ),
    ] = None,
) -> CommandResult:
    """Compare the knowledge of a project with HEAD: show what changed since each atom was confirmed."""
    from groundplan.repository.check import check as check_repository

    unwanted = _parse_states(fail_on)
    with (
        invocation.session(reads_only=True) as session,
        show_progress("checking the knowledge", as_json=invocation.as_json) as progress,
    ):
        report = check_repository(
            session, project, Path(repo), since, record=not no_record, report_progress=progress.name_step
        )
    states = {str(atom.freshness) for atom in report.atoms} | ({UNCOVERED} if report.uncovered else set())
    return CommandResult(
        report,
        lambda: _draw_report(report, project),
        exit_code=RuleViolated.exit_code if unwanted & states else 0,
    )


def confirm(
    invocation: Invocation,
    atoms: Annotated[
        list[str] | None,
        argument("ATOM", "The atoms, by id or name."),
    ] = None,
    every: Annotated[bool, option("--all", text="Confirm every atom of the project.")] = False,
    rev: Annotated[str, option("--rev", value="REV", text="The revision to confirm at. Default: HEAD.")] = "HEAD",
    repo: _RepoOption = ".",
    project: Annotated[
        str | None,
        option(
            "--project",
            "-P",
            value="PROJECT",
            text="The project, by name or id. Required unless the first atom is given by id.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        option("--task", value="ID", text="The task in which the atoms were reviewed."),
    ] = None,
) -> CommandResult:
    """Confirm that atoms match the files at a commit. Later checks compare with that commit."""
    from groundplan.repository.check import confirm as confirm_atoms

    with invocation.session(reads_only=True) as session:
        done = confirm_atoms(session, project, Path(repo), atoms or [], every=every, revision=rev, task=task)
    exit_code = Conflict.exit_code if done.changed else 0
    return CommandResult(done, lambda: _draw_confirmation(done), exit_code=exit_code)


def _parse_states(given: str | None) -> set[str]:
    if given is None:
        return set()
    known = (*_DOUBTFUL, UNCOVERED)
    words = {word.strip() for word in given.split(",")}
    for word in sorted(words.difference(known)):
        near = find_nearest(word, known)
        hint = f"did you mean {near}?" if near else f"use {join_alternatives(known)}"
        raise UsageError(f"--fail-on does not know {quote_text(word)}; {hint}")
    return words


def _draw_report(report: Report, project: str) -> None:
    from groundplan.surfaces.cli.drawing import GAP, Lines, Rows, View

    doubtful = [atom for state in _DOUBTFUL for atom in report.atoms if atom.freshness == state]
    View(
        Rows(
            lambda _: doubtful,
            "state: freshness, atom: name",
            ("confirmed at", _format_commit),
            ("files", lambda atom: _format_names(atom.files or [], FILES_SHOWN_MAX)),
        ),
        GAP,
        _format_findings,
        Lines(lambda _: _list_next_steps(report, doubtful, project), title="Next steps:"),
    )(report)


def _format_findings(report: Report) -> Iterator[str]:
    yield _format_summary(report)
    names = {atom.id: atom.name for atom in report.atoms}
    for hint in report.hints or ():
        yield f"{names[hint.id]}: {hint.pattern} is a folder; to cover its files, write {hint.instead}."
    if report.uncovered:
        yield f"Changed but not covered by any atom: {_format_names(report.uncovered, UNCOVERED_SHOWN_MAX)}"
    if report.unknown_commits:
        yield (
            f"{_pluralize(report.unknown_commits, 'commit')} at which atoms were confirmed not found;"
            " if this is a shallow clone, run git fetch --unshallow."
        )
    if report.note:
        yield f"{report.note[:1].upper()}{report.note[1:]}."


def _format_summary(report: Report) -> str:
    if not report.atoms:
        return "This project has no atoms yet, so there is nothing to check."
    counts = Counter(str(atom.freshness) for atom in report.atoms)
    states = ", ".join(
        f"{counts[state]} {state}" for state in sorted(counts, key=lambda state: (-counts[state], state))
    )
    return (
        f"{_pluralize(len(report.atoms), 'atom')} at {report.head[:COMMIT_CHARS_SHOWN]}: {states}; "
        f"{report.covered:,} of {_pluralize(report.tracked, 'file')} covered."
    )


def _list_next_steps(report: Report, doubtful: Sequence[CheckedAtom], project: str) -> list[str]:
    steps = []
    by_state = {str(atom.freshness): atom for atom in reversed(doubtful)}
    if changed := by_state.get("changed"):
        steps.append(
            f"git diff {_format_commit(changed)}..HEAD   (review the changes; update the atom if it is outdated)"
        )
    if atom := changed or by_state.get("unanchored"):
        steps.append(
            f"groundplan knowledge confirm {atom.id} --project {shlex.quote(project)}   (if the atom is still correct)"
        )
    if "orphaned" in by_state and (report.recorded or report.covered):  # else it may be another repository
        steps.append("update the paths of orphaned atoms, or delete them")
    return steps


def _draw_confirmation(done: Confirmation) -> None:
    from groundplan.surfaces.cli.drawing import GAP, Rows, View, When

    before = f"; {len(done.unchanged)} already confirmed" if done.unchanged else ""
    names = ", ".join(atom.name for atom in done.changed)
    View(
        Rows("confirmed", "atom: name, id, version"),
        GAP,
        f"Confirmed {_pluralize(len(done.confirmed), 'atom')} at {done.commit[:COMMIT_CHARS_SHOWN]}{before}.",
        When(
            "changed",
            lambda _: f"Not confirmed, because they changed meanwhile: {names}. Read them again, then confirm again.",
        ),
    )(done)


def _format_commit(atom: CheckedAtom) -> str | None:
    return atom.commit[:COMMIT_CHARS_SHOWN] if atom.commit else None


def _format_names(names: Sequence[str], count: int) -> str | None:
    """Return the first `count` names, each on one line, or None if there are none."""
    from groundplan.surfaces.cli.terminal import join_first

    return join_first([name.replace("\n", "\\n").replace("\t", "\\t") for name in names], count) or None


def _pluralize(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
