"""The requests of the REST guide work from top to bottom and get the answers that the guide shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.surfaces.http.client import HttpClient, Reply

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "rest.md"
BLOCK = re.compile(r"^```http\n(.*?)^```", re.MULTILINE | re.DOTALL)
IDS = ("q8cdfw", "k7m2qp")  # in the guide; the real ones differ


def split_block(text: str) -> tuple[str, dict[str, str], Any]:
    """Return the first line of a block, its headers and its body."""
    head, _, body = text.strip().partition("\n\n")
    first, *lines = head.split("\n")
    return first, dict(line.split(": ", 1) for line in lines), json.loads(body) if body else None


def send(http: HttpClient, text: str) -> Reply:
    line, headers, body = split_block(text)
    method, target = line.split(" ", 1)
    given: dict[str, Any] = {name.lower().replace("-", "_"): one for name, one in headers.items()}
    return http.send(method, target, body, **given)


def learn_ids(promised: Any, given: Any, real: dict[str, str]) -> None:
    """Remember what the ids of the guide are here."""
    if isinstance(promised, dict) and isinstance(given, dict):
        for name in promised.keys() & given.keys():
            learn_ids(promised[name], given[name], real)
    elif isinstance(promised, list) and isinstance(given, list):
        for one, other in zip(promised, given, strict=True):
            learn_ids(one, other, real)
    elif promised in IDS and isinstance(given, str):
        real.setdefault(promised, given)


def contains(given: Any, promised: Any) -> bool:
    """Return whether an answer has everything that the guide shows of it."""
    if isinstance(promised, dict) and isinstance(given, dict):
        return all(name in given and contains(given[name], value) for name, value in promised.items())
    if isinstance(promised, list) and isinstance(given, list):
        return len(given) == len(promised) and all(map(contains, given, promised))
    return bool(given == promised)


def rename_ids(text: str, real: dict[str, str]) -> str:
    for told, given in real.items():
        text = text.replace(told, given)
    return text


def test_the_guide_works_as_it_stands(http: HttpClient) -> None:
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    real: dict[str, str] = {}
    assert len(blocks) >= 10
    for request, answer in zip(blocks[::2], blocks[1::2], strict=True):
        reply = send(http, rename_ids(request, real))
        learn_ids(split_block(answer)[2], reply.json, real)
        status, headers, promised = split_block(rename_ids(answer, real))
        assert reply.status == int(status.split()[0]), f"{request}\n{reply.body.decode()}"
        assert contains(reply.json, promised), f"{request}\n{reply.body.decode()}"
        for name, value in headers.items():
            assert re.fullmatch(re.escape(value).replace("…", ".+"), reply.headers[name.lower()]), name
