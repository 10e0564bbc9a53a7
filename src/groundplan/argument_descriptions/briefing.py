"""Arguments of the operations that join the slices."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "from": "Where to start: the id of a work node, or the key of a purpose node such as `OC1`.",
    "direction": "`up`: to the goals. `down`: to causes, work, evidence and measurements. Default: `up` from work, "
    "`down` from a purpose node.",
    "format": "The form of the answer: fields, an outline to paste into a text, or a picture.",
}
