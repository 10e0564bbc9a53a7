"""`groundplan after-commit`: what the git hook runs when a commit has been made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from groundplan.kernel.wording import SHORT_NAME
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.steps import Step, join_steps

if TYPE_CHECKING:
    from groundplan.purpose.compliance.checklist import CodeFinding
    from groundplan.repository.check import Report
    from groundplan.repository.git import CommitLinks

COMMIT_CHARS_SHOWN = 12
NAMES_SHOWN_MAX = 3


def after_commit(
    invocation: Invocation,
    project: Annotated[
        str,
        option("--project", "-P", value="PROJECT", text="The project of the tasks and of the knowledge."),
    ],
    revision: Annotated[
        str,
        argument("[REV]", "The commit to link to tasks. Default: HEAD."),
    ] = "HEAD",
) -> CommandResult:
    """Link a commit to the tasks that its message names, such as plan-q8cdfw; check its code and the knowledge.

    The git hook of groundplan init --hook runs it after every commit.
    """
    from groundplan.repository.check import check
    from groundplan.repository.git import link_commit, make_prefix
    from groundplan.surfaces.cli.purpose.compliance import check_commit

    with invocation.session(reads_only=True) as session:
        links = link_commit(session, ".", (make_prefix(project), SHORT_NAME), revision)
        report = check(session, project, ".")
    stale = [atom.name for atom in report.atoms if atom.freshness in ("changed", "orphaned")]
    code = check_commit(".", links.commit)
    data = {"commit": links.commit, "linked": links.linked, "unknown": links.unknown, "stale": stale, "code": code}

    return join_steps(Step(data, (*_format_links(links), *_format_stale(stale, report), *_format_code(code))))


def _format_links(links: CommitLinks) -> Iterator[str]:
    from groundplan.surfaces.cli.terminal import format_title

    for task in links.linked:
        yield f"groundplan: {links.commit[:COMMIT_CHARS_SHOWN]} is evidence of {format_title(task.id, task.summary)}"
    for node_id in links.unknown:
        yield f"groundplan: the message names {node_id}, but there is no such task"


def _format_stale(stale: list[str], report: Report) -> Iterator[str]:
    from groundplan.surfaces.cli.terminal import join_first

    if stale:
        yield (
            f"groundplan: {len(stale)} of {len(report.atoms)} atoms may be out of date: "
            f"{join_first(stale, NAMES_SHOWN_MAX)}; see groundplan knowledge check"
        )


def _format_code(findings: list[CodeFinding]) -> Iterator[str]:
    for finding in findings[:NAMES_SHOWN_MAX]:
        yield f"groundplan: {finding.path}:{finding.line}: {finding.verdict}: {finding.text}"
    if len(findings) > NAMES_SHOWN_MAX:
        more = len(findings) - NAMES_SHOWN_MAX
        yield f"groundplan: and {more} more in this commit; see groundplan purpose compliance --code PATH"
