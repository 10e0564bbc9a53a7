"""The knowledge of the example: molecules and atoms about the software that monitors the pumps.

Only molecules and atoms whose name does not exist yet are written, so a second fill changes nothing, an interrupted
fill is completed, and edits by others stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from groundplan.session import Session

TASK = "Write down what the first three pumps taught us"
PATH = "totals/day.py"  # a path to query the example with


@dataclass(frozen=True, slots=True)
class ExampleMolecule:
    """A molecule: a domain and the knowledge about all of it."""

    name: str
    knowledge: str


@dataclass(frozen=True, slots=True)
class ExampleAtom:
    """An atom: an area of the software."""

    name: str
    molecule: str | None
    paths: tuple[str, ...]
    knowledge: str
    related: tuple[tuple[str, str], ...] = ()  # (name of an earlier atom, reason)
    changelog: tuple[str, ...] = ()


MOLECULES = (
    ExampleMolecule(
        "Readings",
        "A pump sends one frame for every hundred strokes, at most every ten minutes, over a radio link that loses one "
        "frame in twenty. Nothing here may assume that a frame arrives, or arrives once.",
    ),
    ExampleMolecule("Alerts", "A person gets at most one message a day for each pump, whatever the sensors say."),
)

ATOMS = (
    ExampleAtom(
        "Radio gateway",
        "Readings",
        ("gateway/**", "config/gateway-*.toml"),
        "Frames carry the pump's own count of strokes, which starts at zero after a battery change: never subtract two "
        "counts without looking at the boot number beside them.\n\nDecoders are one file for each type of pump.",
        changelog=("Kept frames in the order of arrival; the count alone is not enough after a battery change",),
    ),
    ExampleAtom(
        "Daily totals",
        "Readings",
        ("totals/**", "migrations/*_totals.sql"),
        "A day begins at five in the morning, when the queues are empty. Totals are written again for three days back, "
        "because frames arrive late; the nightly job must give the same rows when it runs twice.",
        related=(("Radio gateway", "reads its frames, late ones included"),),
    ),
    ExampleAtom(
        "Silence rule",
        "Alerts",
        ("alerts/silence*.py", "config/thresholds.toml"),
        "A day without strokes is an alert only if the day before had more than forty: on feasts nobody fetches water.",
        related=(("Daily totals", "decides by them, not by frames"),),
    ),
    ExampleAtom(
        "Text messages",
        None,
        ("sms/**",),
        "The provider takes 160 characters and no accents. Sending is tried for an hour, then the message is dropped.",
    ),
)

COMMIT = "5d41c0ffee7a"
FILES = (
    "README.md",
    "alerts/queue.py",
    "alerts/silence.py",
    "alerts/silence_test.py",
    "config/gateway-north.toml",
    "config/gateway-south.toml",
    "config/thresholds.toml",
    "docs/install.md",
    "docs/pumps/foot-pump.md",
    "docs/pumps/hand-pump.md",
    "gateway/decoders/foot_pump.py",
    "gateway/decoders/hand_pump.py",
    "gateway/frames.py",
    "gateway/radio.py",
    "migrations/0001_pumps.sql",
    "migrations/0002_totals.sql",
    "reports/month.py",
    "reports/templates/month.html",
    "sms/provider.py",
    "sms/texts.toml",
    "totals/day.py",
    "totals/nightly.py",
    "web/map.js",
    "web/static/pump.svg",
    "web/view.py",
)


def fill_knowledge(session: Session, project: str) -> bool:
    """Write the knowledge of the example into a project, and return whether anything was written."""
    task = _create_task(session, project)
    molecules = _load_ids_by_name(session, project, "molecule")
    atoms = _load_ids_by_name(session, project, "atom")
    missing = [atom for atom in ATOMS if atom.name not in atoms]
    for molecule in MOLECULES:
        if molecule.name not in molecules and missing:
            created = session.call(
                "knowledge.create",
                entityType="molecule",
                projectId=project,
                name=molecule.name,
                knowledge=molecule.knowledge,
                createdByTaskId=task,
            )
            molecules[molecule.name] = created.molecule.id
    for atom in missing:
        atoms[atom.name] = _write(session, project, task, atom, molecules, atoms)
    if missing:
        _record_check(session, project)
    return bool(missing)


def _record_check(session: Session, project: str) -> None:
    """Record what a check of the software would find, so that pages can show its files."""
    found = {"Radio gateway": "changed", "Daily totals": "fresh", "Silence rule": "fresh"}
    atoms = session.call("knowledge.list", projectId=project).atoms
    checks = [
        {"id": atom.id, "version": atom.version, "freshness": found.get(atom.name, "unanchored")} for atom in atoms
    ]
    for check, atom in zip(checks, atoms, strict=True):
        if atom.name == "Radio gateway":
            check["files"] = ["gateway/radio.py"]
    session.call(
        "knowledge.record_check",
        projectId=project,
        commit=COMMIT,
        atoms=checks,
        files=list(FILES),
        filesTotal=len(FILES),
    )


def _create_task(session: Session, project: str) -> str:
    found = session.call("work.query", project=project, filter={"text": TASK}).nodes
    if found:
        return str(found[0].id)
    return str(session.call("work.plan", project=project, nodes=[{"ref": "task", "summary": TASK}]).created[0].id)


def _load_ids_by_name(session: Session, project: str, entity_type: str) -> dict[str, str]:
    page = session.call("knowledge.search", entityType=entity_type, projectId=project, limit=100)
    return {item.name: item.id for item in page.items}


def _write(
    session: Session, project: str, task: str, atom: ExampleAtom, molecules: dict[str, str], atoms: dict[str, str]
) -> str:
    created = session.call(
        "knowledge.create",
        entityType="atom",
        projectId=project,
        name=atom.name,
        paths=list(atom.paths),
        knowledge=atom.knowledge,
        moleculeId=molecules.get(atom.molecule) if atom.molecule else None,
        relatedAtoms=[{"atomId": atoms[name], "reason": reason} for name, reason in atom.related if name in atoms],
        createdByTaskId=task,
    )
    for summary in atom.changelog:
        session.call(
            "knowledge.append_changelog", parentType="atom", parentId=created.atom.id, taskId=task, summary=summary
        )
    return str(created.atom.id)
