"""Answers over HTTP: the status, the headers and the bytes, compressed where that pays and the client accepts it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

JSON_TYPE = b"application/json"
COMPRESSED_BYTES_MIN = 1024  # below it, the header of gzip and the time cost more than the bytes
GZIP_LEVEL = 4  # a third of the time of level 6 for a twentieth more bytes
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # 16: with the header of gzip, which has no time in it

Headers = list[tuple[bytes, bytes]]

# On every answer that does not say otherwise: no cache may keep it, and no browser may take it for another type.
COMMON_HEADERS: Headers = [
    (b"cache-control", b"private, no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Answer(NamedTuple):
    """An answer that is ready to be sent."""

    status: int
    body: bytes
    headers: Sequence[tuple[bytes, bytes]] = ()  # besides those that every answer has
    content_type: bytes = JSON_TYPE


def compress(body: bytes) -> bytes:
    """Return the bytes in gzip; equal bytes give equal bytes."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


async def send_answer(send: Any, answer: Answer, *, has_body: bool = True) -> None:
    """Send an answer. `has_body` is false for HEAD, whose headers are those of GET."""
    own = {name for name, _ in answer.headers}
    headers = [*(common for common in COMMON_HEADERS if common[0] not in own), *answer.headers]
    if answer.status not in (204, 304):
        headers += [(b"content-type", answer.content_type), (b"content-length", b"%d" % len(answer.body))]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body if has_body else b""})


class AnswerSender:
    """An answer as an ASGI application, which Starlette accepts as the response of an endpoint."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        """Send the answer."""
        await send_answer(send, self._answer, has_body=scope["method"] != "HEAD")
