"""The stream of events of one client, from its request to its last message.

`GET /v1/projects/{project}/events` follows a project, `GET /v1/organization/events` the organization of the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import HTTPConnection

from groundplan.kernel.errors import Invalid
from groundplan.kernel.events import EventPosition, parse_position
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.http.answers import (
    COMMON_HEADERS,
    Answer,
    HttpProblem,
    accepts,
)
from groundplan.surfaces.http.event_streams import WHERE, EventStream, EventStreams, encode_named, encode_retry
from groundplan.surfaces.http.log_lines import log_exception
from groundplan.surfaces.vocabularies import PROJECT

EVENT_STREAM = "text/event-stream"
ACCEPTED = (EVENT_STREAM, "text/*", "*/*")
AFTER = "after"  # in the query string: a position, for a client that cannot send the header
LAST_EVENT_ID = "last-event-id"
HEADERS = [
    *COMMON_HEADERS,
    (b"content-type", EVENT_STREAM.encode()),
    (b"x-accel-buffering", b"no"),  # a proxy must not collect messages
]


class EventStreamHandler:
    """Answers the requests for the events of a project or of the organization."""

    def __init__(self, streams: EventStreams) -> None:
        self._streams = streams

    async def __call__(self, scope: Any, receive: Any, send: Any, in_path: Mapping[str, Any]) -> Answer | None:
        """Send a stream until it ends, or the answer that refuses it."""
        connection = HTTPConnection(scope)
        if not accepts(connection.headers.get("accept", "*/*"), ACCEPTED):
            raise HttpProblem(406, "not_acceptable", f"events are {EVENT_STREAM}; accept that, or leave out Accept")
        project: str | None = in_path.get(PROJECT)
        if project is not None:
            validate_value(project)
            project = apply_marker(NormalizedName(), project, (PROJECT,))
        after = _read_position(connection, scope["query_string"])
        stream = await self._streams.open(connection, project, after)
        if stream is None:
            return Answer(204, b"")  # a browser then does not connect again
        await self._run(stream, receive, send)
        return None

    async def _run(self, stream: EventStream, receive: Any, send: Any) -> None:
        sending = asyncio.ensure_future(self._send_messages(stream, send))
        leaving = asyncio.ensure_future(_wait_for_disconnection(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.leave(stream)
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_messages(self, stream: EventStream, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        limits = self._streams.limits
        body = encode_retry(limits.retry_ms) + _greet(stream)
        is_last = False
        try:
            while True:
                # A client that takes nothing is left; it goes on where it was when it connects again.
                async with asyncio.timeout(limits.send_s):
                    await send({"type": "http.response.body", "body": body, "more_body": not is_last})
                if is_last:
                    return
                body, is_last = await self._streams.next(stream)
        except TimeoutError:
            return
        except Exception:
            log_exception(WHERE)


def _greet(stream: EventStream) -> bytes:
    """Return the first message: the revision of the project and, for a new client, the start of the stream."""
    rev = stream.start.last.rev
    if stream.is_reset:
        return encode_named("reset", rev=rev, position=stream.position)
    goes_on = stream.position != stream.start.last
    return encode_named("hello", rev=rev, position=None if goes_on else stream.position)


def _read_position(connection: HTTPConnection, query: bytes) -> EventPosition | None:
    """Return the position after which the client continues. The header wins, because a browser repeats the address."""
    given: str | None = None
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name != AFTER or given is not None:
            raise Invalid(
                f"the stream of events takes the parameter {AFTER} once, and not {quote_text(name)}",
                code="unknown_argument" if name != AFTER else "duplicate_argument",
                field=name,
            )
        given = value
    given = connection.headers.get(LAST_EVENT_ID) or given
    if given is None:
        return None
    position = parse_position(given)
    if position is None:
        raise Invalid(
            f"{quote_text(given)} is not the id of an event; send one as it was received, such as 42.0, or none",
            code="invalid_event_id",
        )
    return position


async def _wait_for_disconnection(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
