"""Draw a version: the whole version, the pathways through one node, or the changes since another version."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Effect, Operation, Route
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.exchange.export import read_theory
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.limits import Ref
from groundplan.purpose.version import VersionRef


class RenderPurpose(Struct, forbid_unknown_fields=True):
    """The version to draw, by default the latest published, else the draft.

    `build_pathway_picture` limits it to a node, `compare` shows the changes since an earlier version.
    """

    project: Name
    version: VersionRef | None = None
    pathway: Ref | None = None
    compare: VersionRef | None = None
    theme: Literal["light", "dark", "auto"] | None = None


class Rendered(Struct):
    """The picture as SVG, with its size."""

    version: int
    svg: str
    width: int
    height: int


class Drawing(NamedTuple):
    """The subject of a picture: a theory, the pathways through one of its nodes, or the changes since another."""

    theory: Theory
    pathway: str | None
    earlier: Theory | None
    theme: Literal["light", "dark", "auto"]


def read_drawing(tx: Transaction, request: RenderPurpose) -> Drawing:
    """Read the data of a picture.

    Raises:
        NotFound: there is no such version or node.
        Invalid: both `build_pathway_picture` and `compare` are given.
        ContentAltered: the content of a published version does not match its hash.
    """
    if request.pathway is not None and request.compare is not None:
        raise invalid_argument(("pathway",), "and compare cannot be combined; give one of them")
    theory = read_theory(tx, request.version)
    if request.pathway is not None and request.pathway not in theory.content.nodes:
        show = NextStep("purpose.open", "shows the keys of the version", {"project": tx.project.name})
        raise NotFound("node", request.pathway, next_steps=show, field="pathway")
    earlier = None if request.compare is None else read_theory(tx, request.compare)
    return Drawing(theory, request.pathway, earlier, request.theme or "light")


def draw_picture(drawing: Drawing) -> Rendered:
    """Draw the picture, outside the transaction because the layout takes long."""
    from groundplan.purpose.picture.comparison import build_comparison_picture  # loaded only to draw
    from groundplan.purpose.picture.picture_model import build_pathway_picture, build_plan_picture
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    if drawing.pathway is not None:
        picture = build_pathway_picture(drawing.theory, drawing.pathway)
    elif drawing.earlier is not None:
        picture = build_comparison_picture(drawing.earlier, drawing.theory)
    else:
        picture = build_plan_picture(drawing.theory)
    drawn = draw(picture, Theme(drawing.theme))
    return Rendered(drawing.theory.number, drawn.svg, drawn.width, drawn.height)


OPERATION: Operation[RenderPurpose, Any] = Operation(
    name="purpose.render",
    summary="Draw a version as SVG: all of it, the pathways through one node, or the changes since a version.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=RenderPurpose,
    output=Rendered,
    handler=read_drawing,
    finish=draw_picture,
    project=lambda _tx, request: request.project,
    http=Route("GET", "/projects/{project}/purpose/picture"),
)
