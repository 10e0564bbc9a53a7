"""Views of the token operations. In a pipe, a new token is the only output, so that it can go straight to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from groundplan.kernel.tokens.operations import CreatedToken
from groundplan.surfaces.cli.drawing import GAP, Fields, Lines, View, print_parts
from groundplan.surfaces.cli.failures import print_warning

SHOWN_ONCE = "Keep it safe: it is shown only once. To end it: groundplan token revoke {token.id}"

_FIELDS = Fields(
    "id: token.id, kind: token.kind, name: token.name, role: token.role, projects: token.projects, "
    "label: token.label, expires: token.expires_at"
)
_CREATED = View("{secret}", GAP, _FIELDS, GAP, SHOWN_ONCE)
_REVOKED = View("Revoked {token.id}.", Lines("revoked", title="Ended now:"))


def draw_created_token(created: CreatedToken) -> None:
    """Print a new token: with its limits on a terminal, and alone in a pipe; warnings go to standard error."""
    if sys.stdout.isatty():
        _CREATED(created)
    elif created.secret is not None:
        print_parts([created.secret])
    for warning in created.warnings or ():
        print_warning(warning)


RENDERERS: dict[str, Callable[[Any], None]] = {"token.create": draw_created_token, "token.revoke": _REVOKED}
