"""Generated requests: whatever is sent, the answer is documented, is never a defect, and is alike on both stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.transport import Response

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.surfaces.http import rest
from groundplan.surfaces.http.openapi import build_openapi
from groundplan.surfaces.http.routes import RouteTable
from tests.access.test_matrix import placeholder_values, populate_with_purpose
from tests.campaigns.table import CampaignRow, report_campaign
from tests.engines import PostgresEngine, SqliteEngine, fill_once
from tests.proof import scaled
from tests.surfaces.http.client import ACTOR, HttpClient, Reply

BASE = "http://localhost"
load_all_checks()
CHECKED: list[Any] = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]
# What a parameter of a path names, by the word before it or its name. Random values would hardly ever name anything.
KNOWN = {
    "project": "project",
    "node_id": "node",
    "entityId": "node",
    "parentId": "atom",
    "sectionId": "section",
    "id": "node",
    "atoms": "atom",
    "features": "feature",
    "templates": "template",
}
TRIES = 3  # of a request whose process got no processor for so long that PostgreSQL ended its transaction
POSITIVE_SHARE = 3  # for each invalid request, as many that follow the document
ROUND_CASES = (
    250  # with one database: later requests meet what earlier ones deleted, and Hypothesis keeps every example
)
CASES_MAX = 1_000_000  # of one day


@cache
def build_cases() -> st.SearchStrategy[Case[Any]]:
    schema = schemathesis.openapi.from_dict(build_openapi(RouteTable(OPERATIONS)))
    found: list[Any] = list(schema.get_all_operations())
    # The stream of events has no end; test_live_events.py asks for it.
    operations = [operation for operation in (one.ok() for one in found) if not operation.path.endswith("/events")]
    strategies = [
        operation.as_strategy(generation_mode=mode)
        for mode, share in ((GenerationMode.POSITIVE, POSITIVE_SHARE), (GenerationMode.NEGATIVE, 1))
        for operation in operations
        for _ in range(share)
    ]
    return st.sampled_from(strategies).flatmap(lambda strategy: strategy)


class Store:
    """A filled database behind the application."""

    def __init__(self, engine: SqliteEngine | PostgresEngine) -> None:
        fill_once(engine, populate_with_purpose)
        self.http = HttpClient(engine.store, local_actor)
        self.named = placeholder_values(engine, "atlas", "ada")

    def send(self, case: Case[Any], *, is_known: bool) -> tuple[requests.PreparedRequest, Reply]:
        """Send a case as it is, or with the names of existing things in its path and without a precondition."""
        kwargs = case.as_transport_kwargs(base_url=BASE)
        request = requests.Request(
            **{name: kwargs[name] for name in ("method", "url", "headers", "params", "json", "data") if name in kwargs}
        ).prepare()
        body = request.body.encode() if isinstance(request.body, str) else request.body
        assert body is None or isinstance(body, bytes)
        headers = {name.lower(): str(value) for name, value in request.headers.items()}
        target = str(request.url).removeprefix(BASE)
        for name in ("content-length", "accept-encoding", "host", ACTOR, *(["if-match"] if is_known else [])):
            headers.pop(name, None)
        if is_known:
            _, query, text = target.partition("?")
            target = self.fill_path(case) + query + text
        for _ in range(TRIES):
            reply = self.http.send_bytes(str(request.method), target, body or b"", headers)
            if reply.status != 503 or reply.code != "store_disconnected":
                break
        return request, reply

    def fill_path(self, case: Case[Any]) -> str:
        parts = case.operation.path.split("/")
        given = case.path_parameters or {}
        for at, part in enumerate(parts):
            if part.startswith("{"):
                name, _, suffix = part[1:].partition("}")
                thing = KNOWN.get(parts[at - 1]) or KNOWN.get(name) if not suffix else None
                thing = self.choose_run(case) if name == "runId" else thing
                parts[at] = quote(self.named[thing] if thing else f"{given.get(name, 1)}{suffix}", safe="")
        return "/".join(parts)

    @staticmethod
    def choose_run(case: Case[Any]) -> str:
        return "run" if case.method == "GET" else "draft"


OpenStores = Callable[[], AbstractContextManager[list[Store]]]


@pytest.fixture
def open_stores(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStores:
    """Opens fresh databases of the engines of this run, filled alike."""
    only = request.config.getoption("--store")
    team: PostgresEngine | None = None if only == "sqlite" else request.getfixturevalue("team")

    @contextmanager
    def open_fresh() -> Iterator[list[Store]]:
        with ExitStack() as stack:
            engines: list[SqliteEngine | PostgresEngine] = []
            if only != "postgres":
                folder = stack.enter_context(TemporaryDirectory(dir=tmp_path))
                engines.append(stack.enter_context(closing(SqliteEngine(Path(folder) / "plan.db"))))
            if team is not None:
                team.reset()
                engines.append(team)
            found = [Store(engine) for engine in engines]
            for store in found:
                stack.callback(store.http.close)
            yield found

    return open_fresh


def attack(open_stores: OpenStores, cases: int, *, first: int = 0) -> int:
    """Send generated requests in rounds, other ones every day; return how many were sent to each store."""
    sent = 0
    today = datetime.now(UTC).toordinal()
    for begun in range(first, first + cases, ROUND_CASES):
        with open_stores() as stores:
            sent += attack_once(stores, min(ROUND_CASES, first + cases - begun), round_seed=today * CASES_MAX + begun)
    return sent


def attack_once(stores: list[Store], cases: int, *, round_seed: int) -> int:
    """Send generated requests, each as it is and with the names of existing things, to every store."""
    sent = 0

    @seed(round_seed)
    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=build_cases())
    def send_everywhere(case: Case[Any]) -> None:
        nonlocal sent
        for is_known in (False, True):
            answers = []
            for store in stores:
                request, reply = store.send(case, is_known=is_known)
                headers = {name: [value] for name, value in reply.headers.items()}
                response = Response(reply.status, headers, reply.body, request, 0.0, False)
                case.validate_response(response, checks=CHECKED)
                answers.append((reply.status, reply.code if reply.status >= 400 else ""))
            assert len(set(answers)) == 1, f"{request.method} {request.url}: {answers}"
            sent += 1

    send_everywhere()
    return sent


# To each store 1,000 requests in `make test` and 100,000 in `make proof`, in parts that run in several processes: most
# of the time goes into generating them. A case is two requests.
PARTS = scaled(1, 4)
CASES_OF_PART = scaled(500, 12_500)


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("part", range(PARTS))
def test_no_request_meets_a_defect_or_an_answer_that_is_not_documented(
    open_stores: OpenStores, record_property: Callable[[str, Any], None], part: int
) -> None:
    sent = attack(open_stores, CASES_OF_PART, first=part * CASES_OF_PART)

    name = f"generated HTTP requests to each store, part {part + 1} of {PARTS}"
    report_campaign(record_property, CampaignRow(name, sent, 2 * CASES_OF_PART, 0))


def fail(*_given: Any, **_named: Any) -> Any:
    raise ZeroDivisionError


def answer_number(value: Any) -> bytes:
    return b"42"


@pytest.mark.slow
@pytest.mark.teeth
@pytest.mark.parametrize(("name", "sabotage"), [("execute", fail), ("encode", answer_number)])
def test_a_defect_and_an_undocumented_answer_are_noticed(
    open_stores: OpenStores, monkeypatch: pytest.MonkeyPatch, name: str, sabotage: Any
) -> None:
    monkeypatch.setattr(rest, name, sabotage)

    with pytest.raises(BaseException, match=r"Server error|violates schema"):
        attack(open_stores, 50)
