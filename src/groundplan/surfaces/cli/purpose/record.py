"""`groundplan purpose measure|review|waive|decide`: one observation, as one types it. They are all `purpose record`."""

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

ProjectOption = Annotated[
    str, typer.Option("--project", metavar="TEXT", help="The project, by name or id.", show_default=False)
]
OpIdOption = Annotated[
    str | None,
    typer.Option(
        "--op-id",
        metavar="TEXT",
        help="Your own id for this request: sent again, it has no second effect.",
        show_default=False,
    ),
]


def measure(
    invocation: Invocation,
    indicator: Annotated[
        str, typer.Argument(metavar="INDICATOR", help="The indicator, by its key.", show_default=False)
    ],
    value: Annotated[
        str,
        typer.Argument(
            metavar="VALUE",
            help="The number. One that begins with a dash stands last, behind --.",
            show_default=False,
        ),
    ],
    project: ProjectOption,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="The day, or the instant, on which it was so. Default: today.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="TEXT", help="Where the number is from.", show_default=False)
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", metavar="TEXT", help="What to know about it.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record what an indicator showed."""
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
        str, typer.Argument(metavar="ASSUMPTION", help="The assumption, by its key.", show_default=False)
    ],
    status: Annotated[
        Literal["untested", "holding", "at_risk", "refuted"],
        typer.Argument(
            metavar="STATUS", help="What was found: untested, holding, at_risk or refuted.", show_default=False
        ),
    ],
    project: ProjectOption,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why one thinks so.", show_default=False)],
    evidence: Annotated[
        str | None, typer.Option("--evidence", metavar="TEXT", help="What shows it.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record what a look at an assumption found; of a refuted one it is told what it touches."""
    given = {"assumption": assumption, "status": status, "reason": reason, "evidence": evidence}
    return _record(invocation, project, op_id, reviews=[_drop_none(given)])


def waive(
    invocation: Invocation,
    code: Annotated[str, typer.Argument(metavar="CODE", help="The check, such as GA_ORPHANS.", show_default=False)],
    project: ProjectOption,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why it may be as it is.", show_default=False)
    ],
    owner: Annotated[str, typer.Option("--owner", metavar="NAME", help="Who answers for it.", show_default=False)],
    due: Annotated[
        str, typer.Option("--due", metavar="DATE", help="The last day on which it counts.", show_default=False)
    ],
    ref: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REF",
            help="For what: keys, edges such as 'AC1->OP2', pointers of facts. Without any: the check as a whole.",
            show_default=False,
        ),
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Answer for a check that fails, until a day; an owner may."""
    given = {"code": code, "refs": ref or [], "reason": reason, "owner": owner, "due": due}
    return _record(invocation, project, op_id, waivers=[given])


def decide(
    invocation: Invocation,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was decided.", show_default=False)],
    project: ProjectOption,
    rationale: Annotated[str, typer.Option("--rationale", metavar="TEXT", help="Why.", show_default=False)],
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about",
            metavar="KEY",
            help="What it is about: a key, or an edge such as 'AC1->OP2'; may be given several times.",
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="TEXT", help="What came of it.", show_default=False)
    ] = None,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Record a decision, and what it is about."""
    given = {"text": text, "rationale": rationale, "about": about or None, "outcome": outcome}
    return _record(invocation, project, op_id, decisions=[_drop_none(given)])


def _record(invocation: Invocation, project: str, op_id: str | None, **observed: list[dict[str, Any]]) -> CommandResult:
    # There must be a theory to observe anything of, so a file that is not there is not made.
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.record", project=project, **observed, **_drop_none({"op_id": op_id}))

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.answers import draw_record

        draw_record(answer)

    return CommandResult(answer, draw)


def _drop_none(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _parse_number(text: str) -> float:
    """A typed word as a number.

    Raises:
        UsageError: it is none.
    """
    try:
        number = decode(text.encode("utf-8", "surrogateescape"))
    except Invalid as error:
        if error.code != "invalid_json":
            raise Invalid(error.message.replace("the request", "VALUE", 1), code=error.code, **error.details) from None
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UsageError(f"VALUE is a number such as 12.5, not {quote_text(text)}")
    return number
