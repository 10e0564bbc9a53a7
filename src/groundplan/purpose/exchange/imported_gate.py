"""What gate A says of a draft that was just imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from groundplan.kernel.errors import GroundplanError, NotFound

if TYPE_CHECKING:
    from groundplan.purpose.exchange.import_document import ImportedPurpose
    from groundplan.purpose.gates.gates import GateResult


def check_imported(call: Callable[..., Any], project: str, imported: ImportedPurpose) -> GateResult | str:
    """Return the result of gate A for the draft, or a sentence that says why there is none.

    `call` runs an operation by its name. A repeated request with the same op_id imported the draft earlier, so it may
    have changed or gone since.
    """
    number = imported.version.number
    try:
        found: GateResult = call("purpose.check", project=project, gate="A", version=number)
        # A rev is never reused, so an unchanged rev means that the check saw the imported draft.
        rev = call("purpose.open", project=project, version=number, detail="summary").rev
    except NotFound:
        return f"The draft of v{number} no longer exists."
    except GroundplanError as error:
        return f"Gate A could not be checked: {error.message}"
    return found if rev == imported.rev else f"v{number} has changed since the import; it is at rev {rev}."


def summarize_gate(gate: GateResult | str) -> dict[str, Any] | None:
    """Return whether a gate passed and its blocking checks, or None if there is no result."""
    if isinstance(gate, str):
        return None
    return {"passed": gate.passed, "failing": [one.code for one in gate.checks if one.is_blocking]}
