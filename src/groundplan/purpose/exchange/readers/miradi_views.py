"""The diagrams of a Miradi project as named views: conceptual models and results chains, with the factors on them."""

from __future__ import annotations

from groundplan.purpose.exchange.readers.document_builder import DocumentBuilder
from groundplan.purpose.exchange.readers.miradi_project import MiradiProject, to_words

_DIAGRAM_KINDS = ("ConceptualModel", "ResultsChain")
VIEWS_PER_NODE_MAX = 40  # their names must fit into the metadata of the node


def read_views(
    project: MiradiProject, placed: dict[str, tuple[str, str]], builder: DocumentBuilder
) -> dict[tuple[str, str], list[str]]:
    """Return the names of the views of each factor, by its kind and Id. `placed` is the factor of each diagram factor.

    Two diagrams with one name get numbers, because a view is called by its name.
    """
    found: dict[tuple[str, str], list[str]] = {}
    used: set[str] = set()
    for kind in _DIAGRAM_KINDS:
        for diagram in project.get_pool(kind).values():
            plain = (
                builder.clean_word(diagram.name, "name of a diagram", diagram.label) or f"{to_words(kind)} {diagram.id}"
            )
            name, number = plain, 1
            while name in used:
                number += 1
                name = f"{plain} ({number})"
            used.add(name)
            factors = dict.fromkeys(placed[one] for one in diagram.get_ids("DiagramFactorIds") if one in placed)
            for factor in factors:
                views = found.setdefault(factor, [])
                if len(views) < VIEWS_PER_NODE_MAX:
                    views.append(name)
                else:
                    builder.skip("view of a factor", f"it is on more than {VIEWS_PER_NODE_MAX} diagrams", name)
    return found
