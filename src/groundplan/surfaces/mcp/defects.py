"""An exception nobody expected: the client gets a reference, stderr the traceback beside it."""

from __future__ import annotations

import sys

from groundplan.kernel.errors import Unexpected


def recorded(where: str) -> Unexpected:
    """Write the exception being handled to stderr and return what may be shown of it."""
    # Imported here: both are needed only when something is already wrong, and cost time at every start.
    import traceback

    from groundplan.kernel.ids import short_id

    reference = short_id()
    print(
        f"groundplan: {reference}: unexpected in {where}\n{traceback.format_exc()}",
        file=sys.stderr,
        flush=True,
    )
    return Unexpected(reference)
