"""Nothing of a project, and nothing private of a person, shows in an answer to somebody who may not see it.

Each project and Ada's own things have a word of their own. Everybody reads and searches whatever they can, and looks
for the words of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from reference.placeholders import fill_placeholders
from tests.access.examples import ROWS, example
from tests.access.permissions import RULES
from tests.access.test_matrix import PEOPLE, placeholder_values, populate_with_purpose
from tests.engines import Engine, fill_once

# The words: one for each project, with its owner, and one for Ada's own things.
ATLAS, FINNS, MALLORYS, ADAS = "heron", "plover", "dunlin", "siskin"
PLACES = {ATLAS: ("atlas", "ada"), FINNS: ("finn's own", "finn"), MALLORYS: ("mallory's own", "mallory")}
SEEN_BY = {
    ATLAS: {"ada", "ben", "cleo", "bot"},
    FINNS: {"finn"},
    MALLORYS: {"mallory"},
    ADAS: {"ada"},
}
ShownWord = tuple[str, str, str]  # row, person, word
OWN_PROJECT = {"finn": "finn's own", "mallory": "mallory's own"}  # the others are in atlas, or in none
READERS = [who for who in PEOPLE if who != "anonymous"]

# Requests that look for a word by a part of it, so that no answer repeats the word from the request.
SEARCHES: dict[str, dict[str, Any]] = {
    "project.list": {"archived": True},
    "member.list": {"scopeId": "{part} fields"},
    "event.list": {"project": "{project}", "limit": 200},
    "organization.events": {"limit": 200},
    "briefing.search without project": {"text": "{part}"},
    "briefing.search": {"text": "{part}", "project": "{project}"},
    "container.search without project": {"containerType": "task", "query": "{part}"},
    "container.overview without project": {"containerType": "feature"},
    "knowledge.context": {"projectId": "{project}", "paths": "{part}/one.md"},
    "knowledge.search": {"entityType": "atom", "projectId": "{project}", "query": "{part}"},
    "tag.usage without project": {"tag": "{part}"},
    "work.query": {"project": "{project}", "limit": 100},
}


def populate_with_words(engine: Engine) -> None:
    """Add the words to everything that can be named, in each project and in Ada's own things."""
    populate_with_purpose(engine)
    for word, (project, owner) in PLACES.items():
        add_word(engine.session(PEOPLE[owner]), project, word)
    ada = engine.session(PEOPLE["ada"])
    ada.call("token.create", kind="person", label=ADAS)
    ada.call("organization.add_member", name="emma", email=f"{ADAS}@example.org")
    mallory = engine.session(PEOPLE["mallory"])
    mallory.call("template.create", name=MALLORYS, targetEntityType="TASK")
    mallory.call("organization.add_member", name=MALLORYS)


def add_word(session: Session, project: str, word: str) -> None:
    """Name one of each thing in a project by a word, and give its owner a project of this name and an archived one."""
    node = {"ref": "w", "summary": f"A {word}", "properties": {"x": word}}
    task = session.call("work.plan", project=project, nodes=[node]).created[0].id
    session.call("section.add", entityType="TASK", entityId=task, title=word, content=word, tags=word)
    feature = session.call("container.create", containerType="feature", name=word, projectId=project, tags=word)
    session.call("container.block", containerType="task", id=task, version=1, blockedBy=feature.feature.id)
    atom = {"entityType": "atom", "projectId": project, "name": word, "paths": [f"{word}/**"]}
    session.call("knowledge.create", **atom, createdByTaskId=task)
    run = session.call("context.create_draft", scopeId=project).run.id
    length = {"pointer": f"/{word}/length", "label": word, "value": 214}
    session.call("context.edit", runId=run, inputs=[length])
    if project != "atlas":  # it has a draft
        session.call("purpose.draft", project=project)
    goal = {"op": "add_node", "ref": "w", "node_type": "GOAL", "title": word}
    session.call("purpose.edit", project=project, operations=[goal])
    session.call("purpose.record", project=project, requests=[{"question": word, "about": ["G1"], "to": "ada"}])
    session.call("project.create", name=f"{word} fields")
    session.call("project.create", name=f"{word} marsh")
    session.call("project.archive", project=f"{word} marsh")


def list_requests(row: str, named: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the example of a row, and its searches for each word."""
    yield example(row, named)
    if row in SEARCHES:
        for word in SEEN_BY:
            yield fill_placeholders(SEARCHES[row], {**named, "part": word[1:]})


def find_words(engine: Engine, rows: Iterable[str]) -> set[ShownWord]:
    """Return every word that somebody sees, with the row and the person."""
    rows = [row for row in rows if RULES[row].reads and not RULES[row].if_missing]
    shown = set()
    for who in READERS:
        session = engine.session(PEOPLE[who])
        named = placeholder_values(engine, OWN_PROJECT.get(who, "atlas"), who)
        for row in rows:
            for request in list_requests(row, named):
                try:
                    answer = encode(session.call(ROWS[row].requested.name, **request))
                except GroundplanError as refusal:
                    answer = encode(refusal.to_dict())
                shown |= {(row, who, word) for word in SEEN_BY if word.encode() in answer}
    return shown


def only_leaks(shown: set[ShownWord]) -> set[ShownWord]:
    """Return the words that somebody sees who may not."""
    return {(row, who, word) for row, who, word in shown if who not in SEEN_BY[word]}


@pytest.fixture
def words(engine: Engine) -> Engine:
    fill_once(engine, populate_with_words)
    return engine


# Where at least the owner of a project must see its word, or the test looks at nothing.
SHOWS_PROJECTS = {
    "briefing.inbox without project",
    "briefing.search without project",
    "container.blocked_tasks without project",
    "container.overview without project",
    "container.search without project",
    "event.list",
    "knowledge.list",
    "organization.events",
    "project.list",
    "purpose.open",
    "tag.list without project",
    "tag.usage without project",
    "work.onboard without project",
    "work.open without project",
    "work.query",
}
SHOWS_OWN = {"invitation.list", "organization.events", "token.list"}


def test_everybody_sees_what_is_theirs_and_nothing_that_is_hidden(words: Engine) -> None:
    shown = find_words(words, RULES)
    by_owner = {word: {row for row, who, seen in shown if (who, seen) == (PLACES[word][1], word)} for word in PLACES}

    assert only_leaks(shown) == set()
    assert {word: unseen for word, rows in by_owner.items() if (unseen := SHOWS_PROJECTS - rows)} == {}
    assert {row for row, _, seen in shown if seen == ADAS} == SHOWS_OWN
