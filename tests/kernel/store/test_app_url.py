"""The URL that `groundplan init` prints for everybody but the owner."""

from __future__ import annotations

from groundplan.kernel.store.postgres.setup import _build_app_url


def test_the_app_url_never_carries_the_owners_name_or_password() -> None:
    url = _build_app_url(
        "postgresql://owner:secret@/plans?host=/run/pg&user=owner&password=secret", "plans_app", "fresh"
    )

    assert url == "postgresql://plans_app:fresh@/plans?host=%2Frun%2Fpg"
