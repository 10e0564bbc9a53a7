"""What the plan says already. A piece that says no more may be written anew, whatever atom its mark names.

An edit that was taken into the plan is in the plan's spelling there, and may have become a new atom, since its own was
deleted. Then the mark is an old one, and so are the lines about the old atom's molecule and relations.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.repository.rules.formats import front_matter
from groundplan.repository.rules.formats.front_matter import UnreadableRule
from groundplan.repository.rules.formats.registry import RuleFormat, parse_piece
from groundplan.repository.rules.marks import Piece
from groundplan.repository.rules.rule import Rule, list_display_lines, normalize_rule

# The patterns are in the rule, and a description repeats its heading. Any other field that is not ours would be lost.
_RULE_FIELDS = ("paths", "globs", "description")

_Meaning = tuple[Rule, str]


class KnownContent:
    """The pieces that are wanted, by their atoms and by what they say."""

    def __init__(self, pieces: Mapping[str, Piece], form: RuleFormat) -> None:
        self._pieces = pieces
        self._form = form
        self._atoms: dict[_Meaning | None, list[str]] = {}
        for atom_id, piece in pieces.items():
            self._atoms.setdefault(self._get_meaning(piece), []).append(atom_id)

    def covers(self, piece: Piece) -> bool:
        """Whether nothing that somebody wrote is lost with a piece."""
        return not piece.is_edited or self._matches_own_atom(piece) or bool(self.others(piece))

    def others(self, piece: Piece) -> list[str]:
        """The atoms that say what a piece says, though its mark does not name them."""
        return [one for one in self._atoms.get(self._get_meaning(piece), ()) if one != piece.mark.atom_id]

    def _matches_own_atom(self, piece: Piece) -> bool:
        wanted = self._pieces.get(piece.mark.atom_id)
        if wanted is None or list_display_lines(piece.body) != list_display_lines(wanted.body):
            return False
        return self._get_meaning(piece) == self._get_meaning(wanted)

    def _get_meaning(self, piece: Piece) -> _Meaning | None:
        """What a piece says, with the fields that no rule has; None where its front matter was damaged."""
        try:
            rule = normalize_rule(parse_piece(piece, self._form))
            fields = front_matter.parse_fields(piece.front) if piece.front else {}
        except UnreadableRule:
            return None
        return rule, repr(sorted((name, value) for name, value in fields.items() if name not in _RULE_FIELDS))
