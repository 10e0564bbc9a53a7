"""Draw a version: as a whole, as an overview, one view, the pathways through a node, or the changes since another."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.purpose.exchange.export import read_theory
from groundplan.purpose.exchange.theory import VIEW_CHARS_MAX, Theory, format_known, select_view
from groundplan.purpose.model import Ref
from groundplan.purpose.versions.versions import VersionRef

GROUP_CHARS_MAX = 1_024  # tags and keys, level by level

ViewName = Annotated[str, Meta(min_length=1, max_length=VIEW_CHARS_MAX)]
GroupName = Annotated[str, Meta(min_length=1, max_length=GROUP_CHARS_MAX)]


class RenderPurpose(Struct, forbid_unknown_fields=True):
    """The version to draw, by default the latest published, else the draft.

    A large plan is drawn as groups unless `detail` is `all`; `group` opens one of them. `view` limits the picture to a
    named view, `pathway` to what leads to a node and what it leads to; `compare` shows the changes since an earlier
    version.
    """

    project: Name
    version: VersionRef | None = None
    detail: Literal["overview", "all"] | None = None
    group: GroupName | None = None
    view: ViewName | None = None
    pathway: Ref | None = None
    compare: VersionRef | None = None
    theme: Literal["light", "dark", "auto"] | None = None


class PictureGroup(Struct):
    """A closed group of a picture: its id, its name, and the number of its nodes."""

    group: str
    name: str
    nodes: int


class Rendered(Struct):
    """The picture as SVG, with its size, and with its groups if nodes are grouped."""

    version: int
    svg: str
    width: int
    height: int
    groups: list[PictureGroup] | UnsetType = UNSET


class Drawing(NamedTuple):
    """The subject of a picture: a theory, one of its groups, the pathways through a node, or changes."""

    theory: Theory
    pathway: str | None
    earlier: Theory | None
    theme: Literal["light", "dark", "auto"]
    detail: Literal["overview", "all"] | None = None
    group: str | None = None


def read_drawing(tx: Transaction, request: RenderPurpose) -> Drawing:
    """Read the data of a picture.

    Raises:
        NotFound: there is no such version, view or node.
        Invalid: arguments are given that cannot be combined.
        ContentAltered: the content of a published version does not match its hash.
    """
    _refuse_combinations(request)
    theory = read_theory(tx, request.version)
    if request.view is not None:
        theory = select_view(theory, request.view)
    if request.pathway is not None and request.pathway not in theory.content.nodes:
        show = NextStep("purpose.open", "shows the keys of the version", {"project": tx.project.name})
        raise NotFound("node", request.pathway, next_steps=show, field="pathway")
    earlier = None if request.compare is None else read_theory(tx, request.compare)
    return Drawing(theory, request.pathway, earlier, request.theme or "light", request.detail, request.group)


def _refuse_combinations(request: RenderPurpose) -> None:
    """Reject arguments that contradict each other."""
    subjects = [name for name in ("pathway", "compare", "group") if getattr(request, name) is not None]
    if subjects[1:]:
        raise invalid_argument((subjects[0],), f"and {subjects[1]} cannot be combined; give one of them")
    if request.detail is not None and subjects:
        raise invalid_argument(("detail",), f"and {subjects[0]} cannot be combined; give one of them")
    if request.view is not None and request.compare is not None:
        raise invalid_argument(("view",), "and compare cannot be combined; give one of them")


def draw_picture(drawing: Drawing) -> Rendered:
    """Draw the picture. This runs outside the transaction, because the layout takes long."""
    # Loaded only to draw: the picture takes longer to load than the whole catalog of operations.
    from groundplan.purpose.picture.overview import build_group_picture, build_overview_picture, is_large, list_groups
    from groundplan.purpose.picture.subjects import (
        build_comparison_picture,
        build_pathway_picture,
        build_plan_picture,
    )
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    theory = drawing.theory
    groups = []
    if drawing.pathway is not None:
        picture = build_pathway_picture(theory, drawing.pathway)
    elif drawing.earlier is not None:
        picture = build_comparison_picture(drawing.earlier, theory)
    elif drawing.group is not None:
        opened = build_group_picture(theory, drawing.group)
        if opened is None:
            known = format_known([group.id for group in list_groups(theory, None)])
            raise NotFound("group", drawing.group, hint=f"the groups are: {known}", field="group")
        picture, groups = opened, list_groups(theory, drawing.group)
    elif drawing.detail == "overview" or (drawing.detail is None and is_large(theory)):
        picture, groups = build_overview_picture(theory), list_groups(theory, None)
    else:
        picture = build_plan_picture(theory)
    drawn = draw(picture, Theme(drawing.theme), embeds_font=True)
    answer = Rendered(theory.number, drawn.svg, drawn.width, drawn.height)
    if groups:
        answer.groups = [PictureGroup(group.id, group.name, len(group.keys)) for group in groups]
    return answer


OPERATION = declare(
    read_drawing,
    name="purpose.render",
    summary="Draw a version as SVG: all of it or an overview, a view, the pathways of a node, or what changed.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    finish=draw_picture,
    http=Route("GET", "/projects/{project}/purpose/picture"),
)
