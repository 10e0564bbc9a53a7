"""Check that a person owns each project. In open access, an agent owns the projects that it creates."""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

CHECK = "owners"

sql = load_queries(__file__)


def check_owners(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the organization that no person owns."""
    names = tx.scalars(sql.projects_without_person)
    for name in names:
        yield warn(CHECK, f"no person owns the project {name}", f"add a person as an owner of {name}")
    if not names:
        yield ok(CHECK, "a person owns each project")
