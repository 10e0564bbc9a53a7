"""Issues of GitHub, from the output of `gh issue list --json` or of the REST API.

    {"number": 12, "title": "…", "state": "OPEN", "labels": [{"name": "bug"}], "body": "…", …}

Names are in camel case from `gh` and with underscores from REST. Dependencies there are advisory and may lead to other
repositories, so they become links without an effect on the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groundplan.exchange.items import (
    TITLE_BYTES_MAX,
    BadLines,
    SourcePlan,
    add_comment,
    add_links,
    add_section,
    choose_fate,
    clean_title,
    explain_drop,
    make_tags,
    normalize_word,
    replace_unstorable,
)
from groundplan.exchange.texts import iter_json_values, read_text
from groundplan.work.importing.items import Fate, SourceItem, SourceLink

TOOL = "github"

_FATES: dict[str, Fate] = {"open": "open", "closed": "done", "": "open"}
_DROPPED_REASONS = ("not planned", "duplicate")
_DATES = {
    "source_created_at": ("createdAt", "created_at"),
    "source_updated_at": ("updatedAt", "updated_at"),
    "source_closed_at": ("closedAt", "closed_at"),
}


def read_github(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the issues of a file. Pull requests are left out."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    entries: dict[str, tuple[SourceItem, Mapping[str, Any]]] = {}
    for line, entry in iter_json_values(read_text(path), str(path), bad):
        if not isinstance(entry, dict):
            bad.add(str(path), line, "is not an issue (a JSON object with number and title)")
        elif _is_pull_request(entry):
            plan.left_out["pull requests"] += 1
        elif (problem := _find_problem(entry)) is not None:
            bad.add(str(path), line, problem, _format_number(entry))
        else:
            _add_entry(plan, entries, entry, str(path), line)
    for item, entry in entries.values():
        _connect(plan, item, entry, entries)
        plan.items.append(item)
    plan.skipped = bad.skipped
    _warn_about_comments(plan, [entry for _, entry in entries.values()])
    return plan


def _is_pull_request(entry: Mapping[str, Any]) -> bool:
    return entry.get("pull_request") is not None or entry.get("isPullRequest") is True


def _find_problem(entry: Mapping[str, Any]) -> str | None:
    title = entry.get("title")
    if not isinstance(title, str) or not title.strip():
        return "is an issue without a title; ask for it with --json number,title,…"
    if len(title.encode("utf-8", "replace")) > TITLE_BYTES_MAX:
        return f"has a title of more than {TITLE_BYTES_MAX} bytes"
    return None


def _format_number(entry: Mapping[str, Any]) -> str | None:
    number = entry.get("number")
    is_number = isinstance(number, int) and not isinstance(number, bool)
    return f"#{number}" if is_number or (isinstance(number, str) and number.isdecimal()) else None


def _add_entry(
    plan: SourcePlan,
    entries: dict[str, tuple[SourceItem, Mapping[str, Any]]],
    entry: Mapping[str, Any],
    file: str,
    line: int,
) -> None:
    number = _format_number(entry)
    name = number or clean_title(entry["title"])[:200]
    source_id, count = name, 1
    while source_id in entries:
        earlier = entries[source_id][1]
        if number is not None and _get_url(earlier) == _get_url(entry):
            plan.left_out["issues that are there twice"] += 1
            if _get_text(entry, "updatedAt", "updated_at") < _get_text(earlier, "updatedAt", "updated_at"):
                return
            break
        count += 1
        source_id = f"{name}~{count}"
    if count > 1 and source_id not in entries:
        plan.note_placed(source_id, "id", f"{name} is there more than once; this one is {source_id}")
    item = _build_item(plan, entry, source_id, is_numbered=number is not None)
    item.file, item.line = file, line
    entries[source_id] = item, entry


def _build_item(plan: SourcePlan, entry: Mapping[str, Any], source_id: str, *, is_numbered: bool) -> SourceItem:
    state = _get_text(entry, "state")
    fate, hold_reason = choose_fate(state, _FATES)
    reason = _get_text(entry, "stateReason", "state_reason")
    if fate == "done" and normalize_word(reason) in _DROPPED_REASONS:
        fate = "dropped"
    if fate == "held":
        plan.note_placed(source_id, "status", f"{hold_reason} is unknown; the node is held")
    item = SourceItem(
        source_id=source_id,
        title=plan.clean_title(source_id, entry["title"]),
        aliases=[source_id] if is_numbered else [],
        fate=fate,
        hold_reason=hold_reason,
        source_status=state or None,
        properties=_build_properties(entry, reason),
    )
    explain_drop(item, f"closed as {normalize_word(reason)}")
    _add_texts(item, entry)
    return item


def _build_properties(entry: Mapping[str, Any], state_reason: str) -> dict[str, Any]:
    milestone = entry.get("milestone")
    due = _get_text(milestone, "dueOn", "due_on") if isinstance(milestone, dict) else ""
    given = {
        "assignee": ", ".join(_list_names(entry.get("assignees") or entry.get("assignee"))),
        "created_by": ", ".join(_list_names(entry.get("author") or entry.get("user"))),
        "type": ", ".join(_list_names(entry.get("issueType") or entry.get("type"))),
        "state_reason": state_reason,
        "due": due,
        **{name: _get_text(entry, *fields) for name, fields in _DATES.items()},
    }
    return {name: replace_unstorable(value) for name, value in given.items() if value}


def _add_texts(item: SourceItem, entry: Mapping[str, Any]) -> None:
    add_section(item, "body", entry.get("body"))
    comments = entry.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict) and isinstance(text := comment.get("body"), str) and text.strip():
            author = ", ".join(_list_names(comment.get("author") or comment.get("user")))
            add_comment(item, text, author=author, at=_get_text(comment, "createdAt", "created_at"))
    groups = (entry.get("labels"), entry.get("milestone"), entry.get("issueType") or entry.get("type"))
    item.tags = make_tags(name for group in groups for name in _list_names(group))
    if url := _get_url(entry):
        add_links(item, [url])


def _connect(
    plan: SourcePlan,
    item: SourceItem,
    entry: Mapping[str, Any],
    entries: Mapping[str, tuple[SourceItem, Mapping[str, Any]]],
) -> None:
    """Set the parent of an item and its links to other items."""
    parent = entry.get("parent")
    if parent_url := (_get_url(parent) if isinstance(parent, dict) else _get_text(entry, "parent_issue_url")):
        parent_id = _find_issue(parent_url, entry, entries)
        if parent_id is None or parent_id == item.source_id:
            plan.note_lost(item.source_id, "parent", f"{parent_url} is not in the file")
        else:
            item.parent = parent_id
    for url in _list_blocking(entry):
        target = _find_issue(url, entry, entries)
        if target is not None and target != item.source_id:
            item.links.append(SourceLink("blocked_by", target))
        else:
            add_links(item, [url])
    summary = entry.get("issue_dependencies_summary")
    count = summary.get("blocked_by") if isinstance(summary, dict) else None
    if isinstance(count, int) and count > len(item.links):
        detail = f"is blocked by {count} issues, which the file counts and does not name"
        plan.note_lost(item.source_id, "dependencies", detail)


def _list_blocking(entry: Mapping[str, Any]) -> Iterator[str]:
    blocking = entry.get("blockedBy") or entry.get("blocked_by")
    for issue in blocking if isinstance(blocking, list) else ():
        if url := (_get_url(issue) if isinstance(issue, dict) else issue if isinstance(issue, str) else ""):
            yield url


def _find_issue(
    url: str, entry: Mapping[str, Any], entries: Mapping[str, tuple[SourceItem, Mapping[str, Any]]]
) -> str | None:
    """Return the source id of the issue with an address, if it is in the file and of the same repository."""
    repository, number = _split_url(url)
    own = _split_url(_get_url(entry))[0]
    source_id = f"#{number}"
    return source_id if source_id in entries and (not own or own == repository) else None


def _split_url(url: str) -> tuple[str, str]:
    """Return owner/name and number from the address of an issue, either of its page or in the API."""
    head, _, number = url.rstrip("/").rpartition("/issues/")
    return "/".join(head.split("/")[-2:]), number


def _get_url(entry: Mapping[str, Any]) -> str:
    """Return the address of an issue, preferably of its page."""
    return _get_text(entry, "html_url", "url")


def _get_text(entry: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := entry.get(name), str) and value), "")


def _list_names(group: Any) -> list[str]:
    """Return the names of labels, people or a milestone, which are texts, or objects with one of several keys."""
    names = []
    for member in group if isinstance(group, list) else [group]:
        name = _get_text(member, "name", "login", "title") if isinstance(member, dict) else member
        if isinstance(name, str) and name.strip():
            names.append(name)
    return names


def _warn_about_comments(plan: SourcePlan, entries: list[Mapping[str, Any]]) -> None:
    counts = [count for entry in entries if type(count := entry.get("comments")) is int and count > 0]
    if counts:
        plan.warnings.append(
            f"the file counts {sum(counts)} comments of {len(counts)} issues and does not have them;"
            " gh issue list --json …,comments does"
        )
