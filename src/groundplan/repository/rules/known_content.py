"""The content that the plan already has. A piece with only such content may be overwritten, whatever its mark says.

An imported edit is normalized in the plan, and may have become a new atom if its own was deleted. Then the mark and the
lines about the molecule and relations of the old atom are outdated.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.repository.rules.formats import front_matter
from groundplan.repository.rules.formats.front_matter import UnreadableRule
from groundplan.repository.rules.formats.registry import RuleFormat, parse_piece
from groundplan.repository.rules.marks import Piece
from groundplan.repository.rules.rule import Rule, list_display_lines, normalize_rule

# Fields that the rule itself covers; the description repeats its heading. Other fields would be lost.
_RULE_FIELDS = (*front_matter.PATTERN_FIELDS, "description")

_Meaning = tuple[Rule, str]


class KnownContent:
    """The generated pieces, by atom and by content."""

    def __init__(self, pieces: Mapping[str, Piece], form: RuleFormat) -> None:
        self._pieces = pieces
        self._form = form
        self._atoms: dict[_Meaning | None, list[str]] = {}
        for atom_id, piece in pieces.items():
            self._atoms.setdefault(self._get_meaning(piece), []).append(atom_id)

    def covers(self, piece: Piece) -> bool:
        """Return whether a piece can be overwritten without losing edits."""
        return not piece.is_edited or self._matches_own_atom(piece) or bool(self.list_other_atoms(piece))

    def list_other_atoms(self, piece: Piece) -> list[str]:
        """Return the other atoms with the content of a piece, apart from the one in its mark."""
        return [one for one in self._atoms.get(self._get_meaning(piece), ()) if one != piece.mark.atom_id]

    def _matches_own_atom(self, piece: Piece) -> bool:
        wanted = self._pieces.get(piece.mark.atom_id)
        if wanted is None or list_display_lines(piece.body) != list_display_lines(wanted.body):
            return False
        return self._get_meaning(piece) == self._get_meaning(wanted)

    def _get_meaning(self, piece: Piece) -> _Meaning | None:
        """Return the rule of a piece and its other fields, or None if its front matter is damaged."""
        try:
            rule = normalize_rule(parse_piece(piece, self._form))
            fields = front_matter.parse_fields(piece.front) if piece.front else {}
        except UnreadableRule:
            return None
        return rule, repr(sorted((name, value) for name, value in fields.items() if name not in _RULE_FIELDS))
