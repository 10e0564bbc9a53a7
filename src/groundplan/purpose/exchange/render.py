"""The picture of a version: all of it, the ways through one node, or what changed since another version."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.exchange.export import read_theory
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.limits import Ref
from groundplan.purpose.version import VersionRef


class RenderPurpose(Struct, forbid_unknown_fields=True):
    """Which version, and what of it: `pathway` names a node, `compare` an earlier version."""

    project: Name
    version: VersionRef | None = None
    pathway: Ref | None = None
    compare: VersionRef | None = None
    theme: Literal["light", "dark", "auto"] = "light"


class Rendered(Struct):
    """A picture."""

    version: int
    svg: str
    width: int
    height: int


class Drawing(NamedTuple):
    """What to draw: a theory, the ways through one of its nodes, or what changed since another theory."""

    theory: Theory
    pathway: str | None
    earlier: Theory | None
    theme: Literal["light", "dark", "auto"]


def read_drawing(tx: Transaction, request: RenderPurpose) -> Drawing:
    """Read everything that a picture shows.

    Raises:
        NotFound: there is no such version or node.
        Invalid: it is to show ways and changes at once.
        ContentAltered: a published version is not what was published.
    """
    if request.pathway is not None and request.compare is not None:
        raise invalid_argument(("pathway",), "and compare are two pictures; ask for one of them")
    theory = read_theory(tx, request.version)
    if request.pathway is not None and request.pathway not in theory.content.nodes:
        show = NextStep("purpose.open", "shows the keys of the version", {"project": tx.project.name})
        raise NotFound("node", request.pathway, next_steps=show, field="pathway")
    earlier = None if request.compare is None else read_theory(tx, request.compare)
    return Drawing(theory, request.pathway, earlier, request.theme)


def draw_picture(drawing: Drawing) -> Rendered:
    """Draw what was read; the layout takes long, and holds no transaction open."""
    from groundplan.purpose.picture.comparison import comparison  # only who draws needs them
    from groundplan.purpose.picture.picture_model import build_plan_picture, pathway
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    if drawing.pathway is not None:
        picture = pathway(drawing.theory, drawing.pathway)
    elif drawing.earlier is not None:
        picture = comparison(drawing.earlier, drawing.theory)
    else:
        picture = build_plan_picture(drawing.theory)
    drawn = draw(picture, Theme(drawing.theme))
    return Rendered(drawing.theory.number, drawn.svg, drawn.width, drawn.height)


OPERATION: Operation[RenderPurpose, Any] = Operation(
    name="purpose.render",
    summary="Draw a version as SVG: all of it, the ways through one node, or what changed since a version.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=RenderPurpose,
    output=Rendered,
    handler=read_drawing,
    finish=draw_picture,
    project=lambda _tx, request: request.project,
)
