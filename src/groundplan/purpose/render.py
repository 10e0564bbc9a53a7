"""The picture of a version: all of it, the ways through one node, or what changed since another version."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import refusal
from groundplan.purpose.export import theory_at
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


def render(tx: Transaction, request: RenderPurpose) -> Rendered:
    """Draw a version.

    Raises:
        NotFound: there is no such version or node.
        Invalid: it is to show ways and changes at once.
        ContentAltered: a published version is not what was published.
    """
    from groundplan.purpose.picture.comparison import comparison  # only who draws needs them
    from groundplan.purpose.picture.subject import pathway, plan
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    if request.pathway is not None and request.compare is not None:
        raise refusal(("pathway",), "and compare are two pictures; ask for one of them")
    theory = theory_at(tx, request.version)
    if request.pathway is not None:
        if request.pathway not in theory.content.nodes:
            show = NextStep("purpose.open", "shows the keys of the version", {"project": tx.project.name})
            raise NotFound("node", request.pathway, next_steps=show, field="pathway")
        picture = pathway(theory, request.pathway)
    elif request.compare is not None:
        picture = comparison(theory_at(tx, request.compare), theory)
    else:
        picture = plan(theory)
    drawn = draw(picture, Theme(request.theme))
    return Rendered(theory.number, drawn.svg, drawn.width, drawn.height)


OPERATION = Operation(
    name="purpose.render",
    summary="Draw a version as SVG: all of it, the ways through one node, or what changed since a version.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=RenderPurpose,
    output=Rendered,
    handler=render,
    project=lambda _tx, request: request.project,
)
