"""`groundplan purpose add`: add one item to the draft, which is begun if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from groundplan.kernel.errors import Conflict
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.renderers import show_answer

if TYPE_CHECKING:
    from groundplan.session import Session

Item = Literal["goal", "outcome", "output", "activity", "assumption", "indicator"]
ARROW = "->"
REF = "new"


def add(
    invocation: Invocation,
    kind: Annotated[
        Item,
        argument("KIND", "goal, outcome, output, activity, assumption or indicator."),
    ],
    title: Annotated[str, argument("TITLE", "Its title or text.")],
    project: Annotated[
        str,
        option("--project", "-P", value="TEXT", text="The project, by name or id."),
    ],
    to: Annotated[
        list[str] | None,
        option(
            "--to",
            value="KEY",
            text="What it leads to, by key; repeatable. For an assumption, the node or the edge, such as 'AC1->OP2', "
            "that it is about; for an indicator, the node that it measures.",
        ),
    ] = None,
    owner: Annotated[str | None, option("--owner", value="NAME", text="Who is responsible.")] = None,
    risk: Annotated[
        Literal["LOW", "MEDIUM", "HIGH"] | None,
        option("--risk", value="LEVEL", text="Of an assumption: LOW, MEDIUM or HIGH."),
    ] = None,
    unit: Annotated[str | None, option("--unit", value="TEXT", text="Of an indicator: its unit.")] = None,
    target: Annotated[float | None, option("--target", value="N", text="Of an indicator: the target.")] = None,
) -> CommandResult:
    """Add one item to the draft, which is begun if there is none."""
    operations = _build_operations(kind, title, to or [], owner=owner, risk=risk, unit=unit, target=target)
    with invocation.session(reads_only=True) as session:
        answer = _edit_draft(session, project, operations)

    return show_answer("purpose.edit", answer)


def _edit_draft(session: Session, project: str, operations: list[dict[str, Any]]) -> Any:
    """Apply operations to the draft. If there is none, one is begun, and discarded again if they are refused."""
    try:
        return session.call("purpose.edit", project=project, operations=operations)
    except Conflict as error:
        if error.code != "no_draft":
            raise
    session.call("purpose.draft", project=project)
    try:
        return session.call("purpose.edit", project=project, operations=operations)
    except Exception:
        session.call("purpose.discard", project=project)
        raise


def _build_operations(
    kind: Item,
    title: str,
    to: list[str],
    *,
    owner: str | None,
    risk: str | None,
    unit: str | None,
    target: float | None,
) -> list[dict[str, Any]]:
    if risk is not None and kind != "assumption":
        raise UsageError("--risk is for an assumption")
    if (unit is not None or target is not None) and kind != "indicator":
        raise UsageError("--unit and --target are for an indicator")
    if kind in ("assumption", "indicator") and len(to) != 1:
        raise UsageError(f"an {kind} needs what it is about: --to KEY")
    own: dict[str, Any] = {} if owner is None else {"owner": owner}
    match kind:
        case "assumption":
            source, is_edge, end = to[0].partition(ARROW)
            target_key, _, edge_type = (part.strip() for part in end.partition("/"))
            place = {"source": source.strip(), "target": target_key} if is_edge else {"node": source}
            place |= {"edge_type": edge_type} if edge_type else {}
            level = {} if risk is None else {"risk_level": risk}
            return [{"op": "add_assumption", "assumption_text": title, **place, **own, **level}]
        case "indicator":
            given = {"unit": unit, "target": target}
            numbers = {name: value for name, value in given.items() if value is not None}
            return [{"op": "add_indicator", "node": to[0], "name": title, **own, **numbers}]
    edges = [{"op": "add_edge", "source": REF, "target": key} for key in to]
    return [{"op": "add_node", "node_type": kind.upper(), "title": title, "ref": REF, **own}, *edges]
