"""The address at which a page shows something: a task, a key of the plan, a fact, a note, an event."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from groundplan.kernel.events.follow import parse_position


def get_base(project: str) -> str:
    """Return the path of a project's pages."""
    return f"/p/{quote(project, safe='')}"


def find_place(base: str, slice_: str, ref: str, kind: str = "") -> str:
    """Return the address at which a thing of a slice is shown. Among facts, its kind says what the ref names."""
    match slice_:
        case "work":
            return f"{base}/work?{urlencode({'node': ref})}"
        case "purpose":
            # Decisions and measurements are named by the event that recorded them.
            if parse_position(ref) is not None:
                return f"{base}/history?{urlencode({'until': ref})}"
            return f"{base}/plan?{urlencode({'key': ref})}#{quote(ref)}"
        case "context":
            if ref.startswith("/") or kind in ("constraint", "source"):
                return f"{base}/facts?{urlencode({'fact' if ref.startswith('/') else kind: ref})}"
            return f"{base}/facts"
        case "knowledge":
            return f"{base}/knowledge?{urlencode({'note': ref})}"
        case "member" | "invitation":
            return f"{base}/members"
    return f"{base}/home"
