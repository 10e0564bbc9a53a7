"""Read the head and the body of a request, within the limits of size and time."""

from __future__ import annotations

import asyncio
from typing import Any

from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.surfaces.http.arguments import RequestHead
from groundplan.surfaces.http.problems import HttpProblem

BODY_S = 30.0  # a client that sends more slowly holds memory for too long


def read_head(scope: Any) -> RequestHead:
    """Return the method, the query string and the headers; a repeated header is one list."""
    headers: dict[str, str] = {}
    for raw_name, value in scope["headers"]:
        name = raw_name.decode("latin-1")
        text = value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return RequestHead(scope["method"], scope["query_string"], headers)


async def read_body(head: RequestHead, receive: Any) -> bytes | None:
    """Return the body; None if the client disconnects before its end.

    Raises:
        HttpProblem: it is too large, or too slow. The rest of it is not read.
    """
    declared = head.headers.get("content-length", "")
    if declared.isdigit() and (len(declared) > 15 or int(declared) > BODY_BYTES_MAX):
        raise _too_large()
    if not declared and "transfer-encoding" not in head.headers:
        return b""
    try:
        async with asyncio.timeout(BODY_S):
            return await _receive_body(receive)
    except TimeoutError:
        raise HttpProblem(
            408, "too_slow", f"the body did not arrive within {BODY_S:g} s", headers={"connection": "close"}
        ) from None


async def _receive_body(receive: Any) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > BODY_BYTES_MAX:
            raise _too_large()
        if not message.get("more_body"):
            return b"".join(parts)


def _too_large() -> HttpProblem:
    return HttpProblem(
        413,
        "too_large",
        f"the body has more than {BODY_BYTES_MAX} bytes; send it in smaller batches",
        headers={"connection": "close"},
        limit_bytes=BODY_BYTES_MAX,
    )
