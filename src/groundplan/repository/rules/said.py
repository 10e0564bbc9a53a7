"""What the plan says already. A piece that says no more may be written anew, whatever atom its mark names.

An edit that was taken into the plan is in the plan's spelling there, and may have become a new atom, since its own was
deleted. Then the mark is an old one, and so are the lines about the old atom's molecule and relations.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.repository.rules.formats import front_matter
from groundplan.repository.rules.formats.front_matter import Unreadable
from groundplan.repository.rules.formats.table import Format, rule_in
from groundplan.repository.rules.marking import Piece
from groundplan.repository.rules.rule import Rule, as_kept, shown_only

# The patterns are in the rule, and a description repeats its heading. Any other field that is not ours would be lost.
_IN_THE_RULE = ("paths", "globs", "description")

_Meaning = tuple[Rule, str]


class Said:
    """The pieces that are wanted, by their atoms and by what they say."""

    def __init__(self, pieces: Mapping[str, Piece], form: Format) -> None:
        self._pieces = pieces
        self._form = form
        self._atoms: dict[_Meaning | None, list[str]] = {}
        for atom_id, piece in pieces.items():
            self._atoms.setdefault(self._meaning(piece), []).append(atom_id)

    def holds(self, piece: Piece) -> bool:
        """Whether nothing that somebody wrote is lost with a piece."""
        return not piece.is_edited or self._is_its_atom_s(piece) or bool(self.others(piece))

    def others(self, piece: Piece) -> list[str]:
        """The atoms that say what a piece says, though its mark does not name them."""
        return [one for one in self._atoms.get(self._meaning(piece), ()) if one != piece.mark.atom_id]

    def _is_its_atom_s(self, piece: Piece) -> bool:
        wanted = self._pieces.get(piece.mark.atom_id)
        if wanted is None or shown_only(piece.body) != shown_only(wanted.body):
            return False
        return self._meaning(piece) == self._meaning(wanted)

    def _meaning(self, piece: Piece) -> _Meaning | None:
        """What a piece says, with the fields that no rule has; None where its front matter was damaged."""
        try:
            rule = as_kept(rule_in(piece, self._form))
            fields = front_matter.fields(piece.front) if piece.front else {}
        except Unreadable:
            return None
        return rule, repr(sorted((name, value) for name, value in fields.items() if name not in _IN_THE_RULE))
