"""Which role has which permission, by default and by a project's policies."""

from __future__ import annotations

import pytest

from groundplan.kernel.access import GRANTS, WIDENING_POLICIES, Permission, Role, allows
from groundplan.policies import Policies

BY_EDITORS = '{"publish_role":"editor"}'


@pytest.mark.parametrize("policies", ["{}", '{"publish_role":"owner"}', '{"publish_gates":"AB"}'])
def test_a_role_carries_what_it_was_granted_and_nothing_else(policies: str) -> None:
    carried = {(role, one) for role in Role for one in Permission if one in GRANTS and allows(role, one, policies)}

    assert carried == {(role, one) for one, roles in GRANTS.items() for role in roles}


def test_a_policy_gives_its_permission_to_the_role_that_it_names_and_to_no_other() -> None:
    more = {(role, one) for role in Role for one in GRANTS if allows(role, one, BY_EDITORS) and not allows(role, one)}

    assert more == {(Role.EDITOR, Permission.PURPOSE_PUBLISH)}


def test_a_policy_takes_nothing_from_those_who_may_anyway() -> None:
    assert [one for one, roles in GRANTS.items() for role in roles if not allows(role, one, BY_EDITORS)] == []


def test_what_a_policy_widens_belongs_to_a_project_and_the_policy_is_there() -> None:
    assert WIDENING_POLICIES.keys() <= GRANTS.keys()
    assert set(WIDENING_POLICIES.values()) <= set(Policies.__struct_fields__)
