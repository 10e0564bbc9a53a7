"""File names for atoms: plain ASCII in lower case, so that every file system keeps them and tells them apart."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

SLUG_CHARS_MAX = 60
ID_CHARS = 8

# Windows keeps these for devices, whatever stands behind the dot.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_OTHER = re.compile("[^a-z0-9]+")


def assign_slugs(atoms: Sequence[tuple[str, str]], taken: Collection[str] = ()) -> dict[str, str]:
    """A file name, without its ending, for each atom that is given by id and name.

    Atoms that would share one, or whose name is taken by somebody else, get the beginning of their id behind it.
    """
    plain = {atom_id: slugify(name) for atom_id, name in atoms}
    uses = Counter(plain.values())
    uses.update(taken)
    found = {}
    for atom_id, name in plain.items():
        found[atom_id] = name
        if not name or uses[name] > 1:
            found[atom_id] = f"{name or 'atom'}-{atom_id[:ID_CHARS].lower()}"
    uses = Counter(found.values())
    uses.update(taken)
    # Eight characters hardly ever meet again; the whole id never does.
    return {atom_id: name if uses[name] == 1 else f"{name}-{atom_id.lower()}" for atom_id, name in found.items()}


def slugify(name: str) -> str:
    """The letters and digits of a name with dashes between them; empty where it has none that ASCII knows."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    short = _OTHER.sub("-", ascii_only)[:SLUG_CHARS_MAX].strip("-")
    return f"{short}-rule" if short in _RESERVED else short
