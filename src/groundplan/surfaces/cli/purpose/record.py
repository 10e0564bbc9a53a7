"""`groundplan purpose measure|review|waive|decide|ask`: record one observation with `purpose record`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation

DAY_CHARS = len("2026-11-15")

ProjectOption = Annotated[str, typer.Option("--project", metavar="TEXT", show_default=False)]
OpIdOption = Annotated[
    str | None,
    typer.Option(
        "--op-id",
        metavar="TEXT",
        show_default=False,
    ),
]


def measure(
    invocation: Invocation,
    indicator: Annotated[str, typer.Argument(metavar="INDICATOR", help="The indicator, by key.", show_default=False)],
    value: Annotated[
        str,
        typer.Argument(
            metavar="VALUE",
            help="The number. Put a negative number last, after --.",
            show_default=False,
        ),
    ],
    project: ProjectOption,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="The date or instant of the measurement. Default: today.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="TEXT", help="The source of the number.", show_default=False)
    ] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="A note.", show_default=False)] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record a measurement of an indicator."""
    given = {
        "indicator": indicator,
        "value": _parse_number(value),
        "as_of": as_of or format_timestamp(system_clock())[:DAY_CHARS],
        "source": source,
        "note": note,
    }
    return _record(invocation, project, op_id, measurements=[_drop_none(given)])


def review(
    invocation: Invocation,
    assumption: Annotated[
        str, typer.Argument(metavar="ASSUMPTION", help="The assumption, by key.", show_default=False)
    ],
    status: Annotated[
        Literal["untested", "holding", "at_risk", "refuted"],
        typer.Argument(
            metavar="STATUS", help="The new status: untested, holding, at_risk or refuted.", show_default=False
        ),
    ],
    project: ProjectOption,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The reason.", show_default=False)],
    evidence: Annotated[
        str | None, typer.Option("--evidence", metavar="TEXT", help="The evidence.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record a review of an assumption. If it is refuted, show what it affects."""
    given = {"assumption": assumption, "status": status, "reason": reason, "evidence": evidence}
    return _record(invocation, project, op_id, reviews=[_drop_none(given)])


def waive(
    invocation: Invocation,
    code: Annotated[str, typer.Argument(metavar="CODE", help="The check, such as GA_ORPHANS.", show_default=False)],
    project: ProjectOption,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why the check may fail.", show_default=False)
    ],
    owner: Annotated[
        str, typer.Option("--owner", metavar="NAME", help="Who is responsible for the waiver.", show_default=False)
    ],
    due: Annotated[str, typer.Option("--due", metavar="DATE", help="The last day of the waiver.", show_default=False)],
    ref: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REF",
            help="What to waive: keys, edges such as 'AC1->OP2', pointers of facts. Default: the whole check.",
            show_default=False,
        ),
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Waive a failing check until a date. Only an owner may."""
    given = {"code": code, "refs": ref or [], "reason": reason, "owner": owner, "due": due}
    return _record(invocation, project, op_id, waivers=[given])


def decide(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The decision.", show_default=False)],
    project: ProjectOption,
    rationale: Annotated[str, typer.Option("--rationale", metavar="TEXT", help="The reason.", show_default=False)],
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about",
            metavar="KEY",
            help="The subject: a key, an edge such as 'AC1->OP2', a pointer or a work node; repeatable.",
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="TEXT", help="The outcome.", show_default=False)
    ] = None,
    supersedes: Annotated[
        str | None,
        typer.Option("--supersedes", metavar="ID", help="The decision that it replaces.", show_default=False),
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="ID", help="The request that it answers.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record a decision and its subjects."""
    given = {
        "text": text,
        "rationale": rationale,
        "about": about or None,
        "outcome": outcome,
        "supersedes": supersedes,
        "answers": answers,
    }
    return _record(invocation, project, op_id, decisions=[_drop_none(given)])


def ask(
    invocation: Invocation,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.", show_default=False)],
    project: ProjectOption,
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about",
            metavar="KEY",
            help="The subject: a key, an edge such as 'AC1->OP2', a pointer or a work node; repeatable.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="NAME", help="Who should decide.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Ask for a decision. `purpose decide --answers ID` answers it."""
    given = {"question": question, "about": about or None, "to": to}
    return _record(invocation, project, op_id, requests=[_drop_none(given)])


def _record(invocation: Invocation, project: str, op_id: str | None, **observed: list[dict[str, Any]]) -> CommandResult:
    # An observation needs an existing theory, so a missing database file is an error and is not created.
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.record", project=project, **observed, **_drop_none({"op_id": op_id}))

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.answers import RENDERERS

        RENDERERS["purpose.record"](answer)

    return CommandResult(answer, draw)


def _drop_none(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _parse_number(text: str) -> float:
    """Return the number in an argument."""
    try:
        number = decode(text.encode("utf-8", "surrogateescape"))
    except Invalid as error:
        if error.code != "invalid_json":
            raise Invalid(error.message.replace("the request", "VALUE", 1), code=error.code, **error.details) from None
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UsageError(f"VALUE must be a number such as 12.5, not {quote_text(text)}")
    return number
