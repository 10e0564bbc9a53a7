"""The memory of the MCP memory server: entities and relations become molecules.

    {"type": "entity", "name": "Checkout", "entityType": "module", "observations": ["Never rounds twice."]}
    {"type": "relation", "from": "Checkout", "to": "Cart", "relationType": "reads"}

Some files have no `type`, have `_type`, have observations that are objects with a `text`, or are one object with
`entities` and `relations`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundplan.exchange.items import BadLines, SourcePlan, clean_title, replace_unstorable, split_by_bytes
from groundplan.exchange.texts import iter_json_values, read_text
from groundplan.knowledge.requests import KNOWLEDGE_BYTES_MAX, REASON_BYTES_MAX, RELATED_MAX
from groundplan.work.importing.items import SourceMolecule, SourceRelation

TOOL = "memory"
NAME_CHARS_MAX = 255


@dataclass(slots=True)
class _Entity:
    """An entity of the file, merged from all of its lines."""

    name: str
    line: int
    types: dict[str, None] = field(default_factory=dict)
    observations: dict[str, None] = field(default_factory=dict)
    relations: dict[str, dict[str, None]] = field(default_factory=dict)  # the reasons by name
    lost_fields: set[str] = field(default_factory=set)  # of observations, beside their text


def read_memory(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the entities and relations of a file."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    entities: dict[str, _Entity] = {}
    relations: list[tuple[str, str, str]] = []
    for line, entry in _iter_entries(read_text(path), str(path), bad):
        problem = _read_entry(entry, line, entities, relations)
        if problem is not None:
            bad.add(str(path), line, problem)
    for source, target, reason in dict.fromkeys(relations):
        _connect(plan, entities, source, target, reason)
    for entity in entities.values():
        plan.molecules += _build_molecules(plan, entity, str(path))
    plan.skipped = bad.skipped
    return plan


def _iter_entries(text: str, file: str, bad: BadLines) -> Iterator[tuple[int, Any]]:
    for line, value in iter_json_values(text, file, bad):
        if isinstance(value, dict) and isinstance(value.get("entities"), list):
            yield from ((line, entry) for entry in value["entities"])
            relations = value.get("relations")
            yield from ((line, entry) for entry in (relations if isinstance(relations, list) else ()))
        else:
            yield line, value


def _read_entry(
    entry: Any, line: int, entities: dict[str, _Entity], relations: list[tuple[str, str, str]]
) -> str | None:
    """Add an entity or a relation, or return the reason why the entry is neither."""
    if not isinstance(entry, dict):
        return "is neither an entity nor a relation"
    kind = entry.get("type", entry.get("_type"))
    if kind == "relation" or (kind is None and "from" in entry and "to" in entry):
        return _read_relation(entry, relations)
    if kind == "entity" or (kind is None and "name" in entry and ("entityType" in entry or "observations" in entry)):
        return _read_entity(entry, line, entities)
    return "is neither an entity (name, entityType, observations) nor a relation (from, to, relationType)"


def _read_entity(entry: Mapping[str, Any], line: int, entities: dict[str, _Entity]) -> str | None:
    observations = entry.get("observations", [])
    if not _is_name(entry.get("name")):
        return f"is an entity without a name of at most {NAME_CHARS_MAX} characters"
    texts = [_read_observation(entry) for entry in observations] if isinstance(observations, list) else [None]
    if None in texts:
        return "is an entity whose observations are not a list of texts, or of objects with a text"
    name = clean_title(entry["name"])
    entity = entities.setdefault(name, _Entity(name, line))
    if isinstance(type_ := entry.get("entityType"), str) and type_.strip():
        entity.types[clean_title(type_)] = None
    entity.observations |= {replace_unstorable(text).strip(): None for text in texts if text and text.strip()}
    names = {clean_title(name) for wrapped in observations if isinstance(wrapped, dict) for name in wrapped}
    entity.lost_fields |= {name for name in names if name != "text" and not name.startswith("_")}
    return None


def _read_observation(entry: Any) -> str | None:
    """Return the text of an observation, which some files wrap into an object with its dates; None if it has none."""
    text = entry.get("text") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else None


def _read_relation(entry: Mapping[str, Any], relations: list[tuple[str, str, str]]) -> str | None:
    if not _is_name(entry.get("from")) or not _is_name(entry.get("to")):
        return "is a relation without two names of entities in from and to"
    reason = entry.get("relationType")
    if not isinstance(reason, str) or not reason.strip() or len(reason.encode("utf-8", "replace")) > REASON_BYTES_MAX:
        return f"is a relation without a relationType of at most {REASON_BYTES_MAX} bytes"
    relations.append((clean_title(entry["from"]), clean_title(entry["to"]), clean_title(reason)))
    return None


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and 0 < len(name.strip()) <= NAME_CHARS_MAX


def _connect(plan: SourcePlan, entities: dict[str, _Entity], source: str, target: str, reason: str) -> None:
    missing = [name for name in (source, target) if name not in entities]
    if missing:
        plan.note_lost(source, "relation", f"{reason} {target}: there is no entity {missing[0]}")
    elif source == target:
        plan.note_lost(source, "relation", f"{reason}: an entity cannot be related to itself")
    else:
        entities[source].relations.setdefault(target, {})[reason] = None


def _build_molecules(plan: SourcePlan, entity: _Entity, file: str) -> Iterator[SourceMolecule]:
    """Yield the molecule of an entity, and more molecules if its text is too long for one."""
    lines = [f"Type: {', '.join(entity.types)}", ""] if entity.types else []
    lines += ["- " + text.replace("\n", "\n  ") for text in entity.observations]
    related = [SourceRelation(name, _join_reasons(reasons)) for name, reasons in entity.relations.items()]
    for relation in related[RELATED_MAX:]:
        detail = f"{relation.reason} {relation.name}: more than {RELATED_MAX} relations of one entity"
        plan.note_lost(entity.name, "relation", detail)
    if entity.lost_fields:
        plan.note_lost(entity.name, "observations", f"have {', '.join(sorted(entity.lost_fields))} beside their text")
    name = entity.name
    for number, part in enumerate(split_by_bytes("\n".join(lines), KNOWLEDGE_BYTES_MAX), 1):
        if number > 1:
            name = f"{entity.name[: NAME_CHARS_MAX - 10]} ({number})"
            plan.note_placed(entity.name, "observations", f"are too long for one molecule; see {name}")
        yield SourceMolecule(
            name=name,
            knowledge=part,
            related=related[:RELATED_MAX] if number == 1 else [SourceRelation(entity.name, "continues it")],
            file=file,
            line=entity.line,
        )


def _join_reasons(reasons: Mapping[str, None]) -> str:
    return replace_unstorable(", ".join(reasons)).encode()[:REASON_BYTES_MAX].decode("utf-8", "ignore")
