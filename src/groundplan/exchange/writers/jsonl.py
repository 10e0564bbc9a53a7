"""Write items as lines of JSON, with everything that they have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from groundplan.exchange.writers.written_files import WrittenFiles
from groundplan.work.importing.export_items import ExportedItem


def write(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return one line for each item."""
    return WrittenFiles({"": "".join(f"{msgspec.json.encode(item).decode()}\n" for item in items)})
