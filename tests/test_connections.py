"""Every connection between slices leads to a function, and the short words load no others than they need."""

from __future__ import annotations

from groundplan import providers
from groundplan.connections import CONNECTIONS, REFUSALS
from groundplan.kernel import ports
from groundplan.kernel.ports import Hook, Provider, load_by_name


def test_every_connection_leads_to_a_function() -> None:
    assert [name for name in CONNECTIONS.values() if not callable(load_by_name(name))] == []
    assert all(load_by_name(name) for name in REFUSALS)


def test_every_provider_and_hook_is_connected() -> None:
    declared = {
        one for module in (ports, providers) for one in vars(module).values() if isinstance(one, Hook | Provider)
    }
    assert declared == set(CONNECTIONS)
