"""A link, and its types.

work node    serves              purpose node, by its key
work node    rests_on            fact, by its pointer
purpose node rests_on            fact
work node    supports, refutes   what the purpose takes for granted, by its key
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

LINKS_MAX = 500  # of one type from one source


class LinkType(StrEnum):
    """What a link says about its target."""

    SERVES = "serves"
    RESTS_ON = "rests_on"
    SUPPORTS = "supports"
    REFUTES = "refutes"


class LinkSource(msgspec.Struct, frozen=True):
    """Where a link begins: the id and number of a work node, or the key of a purpose node."""

    ref: str
    node_n: int | None = None


class Link(Struct):
    """A stored link."""

    source: str
    type: LinkType
    target: str
    node_n: int | None  # the number of the source, if it is a work node
    rev: int  # the revision of the project in which it was made
    created_at: str
    created_by: str
