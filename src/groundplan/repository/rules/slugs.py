"""File names for atoms: lower-case ASCII, which every file system can store and distinguish."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

SLUG_CHARS_MAX = 60
ID_CHARS = 8

# Windows reserves these names for devices, with any extension.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_OTHER = re.compile("[^a-z0-9]+")


def assign_slugs(atoms: Sequence[tuple[str, str]], used_slugs: Collection[str] = ()) -> dict[str, str]:
    """Return a file name without extension for each atom, given by id and name.

    Atoms that would share a name, or whose name is taken, get the beginning of their id as a suffix.
    """
    plain = {atom_id: slugify(name) for atom_id, name in atoms}
    uses = Counter(plain.values())
    uses.update(used_slugs)
    found = {}
    for atom_id, name in plain.items():
        found[atom_id] = name
        if not name or uses[name] > 1:
            found[atom_id] = f"{name or 'atom'}-{atom_id[:ID_CHARS].lower()}"
    uses = Counter(found.values())
    uses.update(used_slugs)
    # Eight characters of two ids are rarely equal; the full ids never are.
    return {atom_id: name if uses[name] == 1 else f"{name}-{atom_id.lower()}" for atom_id, name in found.items()}


def slugify(name: str) -> str:
    """Return the ASCII letters and digits of a name, joined by dashes; empty if it has none."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    short = _OTHER.sub("-", ascii_only)[:SLUG_CHARS_MAX].strip("-")
    return f"{short}-rule" if short in _RESERVED else short
