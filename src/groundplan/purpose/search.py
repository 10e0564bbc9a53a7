"""Find items of the purpose by the keys in links, and by the words of a search."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from groundplan.kernel.search_words import SearchWords, TextMatch, build_parameters, drop_repeated
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import LinkTarget, LinkTargets

CANDIDATES_MAX = 2_000  # keys that an unknown one is compared with
EXPLAINED_MAX = 20  # unknown keys that get suggestions; a call with more has a more general mistake
NEAR_MAX = 3

_KEY = re.compile(r"\s*([a-zA-Z]+)[\s_-]*([0-9]{1,9})\s*")

sql = load_queries(__file__)


class _TargetRow(Struct):
    version_id: str
    key: str
    kind: str
    title: str


def find_purpose_targets(tx: Transaction, keys: Sequence[str]) -> LinkTargets:
    """Return the nodes and assumptions with some keys, of the latest published version or of the draft."""
    versions = _find_versions(tx)
    if not versions:
        return LinkTargets({}, {})
    place = {"project_id": tx.project.id, "version_ids": to_json_array(versions)}
    rows = tx.all(sql.link_targets, _TargetRow, **place, keys=to_json_array(keys))
    rows.sort(key=lambda row: versions.index(row.version_id))  # a later one replaces an earlier one
    targets = {row.key: LinkTarget(row.key, row.kind, row.title) for row in rows}
    unknown = [key for key in dict.fromkeys(keys) if key not in targets][:EXPLAINED_MAX]
    if not unknown:
        return LinkTargets(targets, {})
    known = tx.scalars(sql.link_target_keys, **place, at_most=CANDIDATES_MAX)
    near = {key: _find_near(key, known) for key in unknown}
    return LinkTargets(targets, {key: names for key, names in near.items() if names})


def find_indicator_names(tx: Transaction, keys: Sequence[str]) -> dict[str, str]:
    """Return the names of the indicators with some keys, of the latest published version or of the draft."""
    versions = _find_versions(tx)
    place = {"project_id": tx.project.id, "version_ids": to_json_array(versions)}
    rows = tx.all(sql.indicator_names, _TargetRow, **place, keys=to_json_array(keys)) if versions else []
    rows.sort(key=lambda row: versions.index(row.version_id))  # a later one replaces an earlier one
    return {row.key: row.title for row in rows}


def _find_versions(tx: Transaction) -> list[str]:
    """Return the draft and the latest published version; each may be missing."""
    rows = tx.all(sql.newest_versions, project_id=tx.project.id)  # a draft always has the last number
    return [id_ for id_, status in rows[: 2 if rows and rows[0][1] == "DRAFT" else 1]]


def _find_near(key: str, known: Sequence[str]) -> list[str]:
    """Return keys that resemble an unknown key: they differ only in the number, nearest first, else in the letters."""
    given = _KEY.fullmatch(key)
    if given is None:
        return []
    letters, number = given[1].upper(), int(given[2])
    ranked = []
    for candidate in known:
        parts = _KEY.fullmatch(candidate)
        if parts is None:
            continue
        is_same = parts[1] == letters
        if is_same or int(parts[2]) == number:
            ranked.append((not is_same, abs(int(parts[2]) - number), candidate))
    return [candidate for _, _, candidate in sorted(ranked)[:NEAR_MAX]]


def find_items(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return matching items of the theories of some projects, and what was recorded about them.

    What the published version and the draft have is returned once, as it is published. A decision, question, review,
    waiver or measurement has the position of its event. Those with all words in their titles come first.
    """
    return drop_repeated(tx.all(sql.items_with_words, TextMatch, **build_parameters(projects, words)))
