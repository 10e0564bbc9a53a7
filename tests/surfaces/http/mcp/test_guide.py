"""The requests of the guide to MCP over HTTP get its answers, and its settings are those that are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

from groundplan.surfaces.cli.setup.serve import PORT, build_http_client_settings
from groundplan.surfaces.http.exposure import Exposure
from tests.engines import Engine
from tests.surfaces.http.mcp.client import McpClient
from tests.surfaces.http.test_guide import BLOCK, contains, split_block

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "mcp-over-http.md"
SETTINGS = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_guide_works_as_it_stands(mcp: McpClient, engine: Engine) -> None:
    engine.session("ada").call("project.create", name="atlas")
    blocks = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    assert len(blocks) == 6
    for request, answer in zip(blocks[::2], blocks[1::2], strict=True):
        line, sent, message = split_block(request)
        given = {name.lower().replace("-", "_"): value for name, value in sent.items()}
        reply = mcp.exchange(message, verb=line.split()[0], **given)
        status, headers, promised = split_block(answer)
        assert reply.status == int(status.split()[0]), reply.body
        assert contains(reply.json, promised), reply.body
        for name, value in headers.items():
            assert re.fullmatch(re.escape(value).replace("…", ".+"), reply.headers[name.lower()]), name


def test_the_settings_of_a_client_are_those_that_the_server_prints() -> None:
    (shown,) = SETTINGS.findall(GUIDE.read_text(encoding="utf-8"))

    assert json.loads(shown) == build_http_client_settings(Exposure(port=PORT))
    behind = Exposure(port=PORT, allowed_hosts=("plan.example.org",), proxies=("127.0.0.1",))
    assert "https://plan.example.org/mcp" in json.dumps(build_http_client_settings(behind))
