"""One connection: its protocol era, its open requests, and the answer to each message.

    undecided ──initialize──────────────▶ handshake    requests use the revision agreed once
        └─────a request with envelope───▶ stateless    every request has its own revision

The first such message decides the era of the connection; requests of the other era are refused. Over stdio a connection
is the process, over HTTP a session, or one request of the stateless revision. `receive` and `perform` may run in
several threads: they share only the calls in flight, a dict whose single operations are atomic, and their cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeAlias

from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Invalid
from groundplan.surfaces.mcp import protocol
from groundplan.surfaces.mcp.methods import (
    CAPABILITIES,
    WORKER_METHODS,
    Tools,
    answer_method,
    build_discovery,
    check_call_params,
    describe_server,
)
from groundplan.surfaces.mcp.protocol import Message, RequestId, RpcError, build_error, build_result
from groundplan.surfaces.mcp.recovery import RecoveredRequest

Send: TypeAlias = Callable[[Any], None]


class Batch:
    """The answers to an array of messages. They are sent as one array when the last one is complete."""

    def __init__(self, send: Send, pending_count: int) -> None:
        self._send = send
        self._pending_count = pending_count
        self._answers: list[Message] = []
        self._lock = Lock()

    def add_answer(self, answer: Message | None) -> None:
        """Add one answer; None stands for a message without an answer."""
        with self._lock:
            self._pending_count -= 1
            if answer is not None:
                self._answers.append(answer)
            if self._pending_count == 0 and self._answers:
                self._send(self._answers)


class Call:
    """A request that takes time, or a refused tool call whose error the tool must still encode."""

    __slots__ = ("cancellation", "id", "is_withdrawn", "method", "params", "refusal", "send", "stateless")

    def __init__(
        self,
        request_id: RequestId,
        method: str,
        params: Message,
        *,
        stateless: bool,
        send: Send,
        refusal: Invalid | None = None,
    ) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.stateless = stateless
        self.send = send
        self.refusal = refusal
        self.cancellation = Cancellation()
        self.is_withdrawn = False  # the client wants no answer


class Connection:
    """The protocol of one connection, without I/O and threads. `send` receives each answer; None means no answer."""

    def __init__(self, version: str, revision: str | None = None, *, instructions: str = "") -> None:
        self._server = describe_server(version)
        self._instructions = instructions
        self._in_flight: dict[RequestId, Call] = {}
        self._stop_reason: str | None = None
        self.revision = revision  # None until the era is decided

    def receive(self, message: Any, send: Send, cancellation: Cancellation | None = None) -> list[Call]:
        """Answer a message, or return the calls that will answer it. `cancellation` can end its call."""
        if type(message) is dict:
            return self._receive_one(message, send, cancellation=cancellation)
        if type(message) is list:
            return self._receive_batch(message, send)
        send(build_error(None, RpcError(protocol.INVALID_REQUEST, "a message must be an object")))
        return []

    def refuse(self, request: RecoveredRequest | None, error: Invalid, send: Send) -> list[Call]:
        """Answer a line that the input gate refused; the answer has the id of the request if it is known.

        A tool call gets the error as the result of its tool: that text reaches the agent, which can fix the call.
        Nothing in the line takes effect, so it does not decide the era either.
        """
        request_id: RequestId | None = None
        try:
            if request is not None:
                request_id = self._check_unused_id(request.message["id"])
                if request.message["method"] == "tools/call":
                    call = self._build_rejected_call(request_id, request, error, send)
                    request_id = None
                    self._begin(call)
                    return [call]
            raise protocol.unreadable_message(error)
        except RpcError as refused:
            send(build_error(request_id, refused))
            return []

    def perform(self, call: Call, tools: Tools) -> None:
        """Run a call and send its answer, unless the client cancelled it."""
        if self._stop_reason is not None:
            call.cancellation.cancel(self._stop_reason)
        answer = None if call.is_withdrawn else self._run_call(call, tools)
        # Before the answer goes out: a client may use the id again as soon as it has read it.
        del self._in_flight[call.id]
        call.send(None if call.is_withdrawn else answer)

    def stop(self, reason: str) -> None:
        """Cancel all current and later calls, which are answered with an error. Any thread may call this."""
        self._stop_reason = reason
        for call in list(self._in_flight.values()):
            call.cancellation.cancel(reason)

    def _receive_batch(self, messages: list[Any], send: Send) -> list[Call]:
        if self.revision != protocol.BATCH_REVISION or not messages:
            reason = "a batch needs at least one message" if not messages else "this revision has no batches"
            send(build_error(None, RpcError(protocol.INVALID_REQUEST, reason, {"code": "invalid_batch"})))
            return []
        batch = Batch(send, len(messages))
        calls: list[Call] = []
        for message in messages:
            if type(message) is dict:
                calls += self._receive_one(message, batch.add_answer, in_batch=True)
            else:
                batch.add_answer(build_error(None, RpcError(protocol.INVALID_REQUEST, "a message must be an object")))
        return calls

    def _receive_one(
        self, message: Message, send: Send, *, in_batch: bool = False, cancellation: Cancellation | None = None
    ) -> list[Call]:
        answer: Message | None = None
        request_id: RequestId | None = None
        try:
            if not protocol.is_response(message):
                request_id = protocol.parse_id(message)
                protocol.check_shape(message)
                if request_id is None:
                    self._handle_notification(message)
                else:
                    new_id, request_id = request_id, None
                    request_id = self._check_unused_id(new_id)
                    handled = self._handle_request(request_id, message, send, in_batch=in_batch)
                    if isinstance(handled, Call):
                        handled.cancellation = cancellation or handled.cancellation
                        request_id = None
                        self._begin(handled)
                        return [handled]
                    answer = build_result(request_id, handled)
        except RpcError as error:
            answer = build_error(request_id, error)
        send(answer)
        return []

    def _handle_notification(self, message: Message) -> None:
        """Handle a notification. It gets no answer, not even an error."""
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and type(params) is dict:
            target = protocol.parse_id({"id": params.get("requestId")})
            call = None if target is None else self._in_flight.get(target)
            if call is not None:
                call.is_withdrawn = True
                call.cancellation.cancel("the client cancelled this request")

    def _check_unused_id(self, request_id: RequestId) -> RequestId:
        """Return the id of a new request, or raise if it is in use.

        The error is sent without an id, because it would look like the answer to the request in flight.
        """
        if request_id in self._in_flight:
            raise _duplicate_id(request_id)
        return request_id

    def _begin(self, call: Call) -> None:
        """Reserve the id of a call. Raise if another thread has reserved it."""
        if self._in_flight.setdefault(call.id, call) is not call:
            raise _duplicate_id(call.id)

    def _handle_request(self, request_id: RequestId, message: Message, send: Send, *, in_batch: bool) -> Message | Call:
        """Return the result of a request, or the call that will answer it."""
        method = message["method"]
        params = protocol.parse_params(message)
        if method == "initialize":
            return self._initialize(params, in_batch=in_batch)
        revision = self._resolve_revision(method, params)
        if revision is not None:
            self.revision = revision
            if method == "server/discover":
                return build_discovery(self._server, self._instructions)
        elif method == "ping":
            return {}
        params = check_call_params(method, params)
        return Call(request_id, method, params, stateless=revision is not None, send=send)

    def _resolve_revision(self, method: str, params: Message) -> str | None:
        """Return the revision in the envelope of a request; None if it has no envelope."""
        enveloped = protocol.has_envelope(params)
        if self.revision in protocol.STATELESS_REVISIONS or (enveloped and self.revision is None):
            return protocol.check_envelope(params)
        if enveloped:
            raise RpcError(
                protocol.INVALID_REQUEST,
                f"this connection started with the handshake of {self.revision}; "
                f"requests with a {protocol.STATELESS_REVISIONS[-1]} envelope need a separate connection",
                {"code": "mixed_eras"},
            )
        if self.revision is None:
            _check_opening(method, params)
        return None

    def _build_rejected_call(
        self, request_id: RequestId, request: RecoveredRequest, error: Invalid, send: Send
    ) -> Call:
        method = request.message["method"]
        params = protocol.parse_params(request.message)
        if request.is_whole or protocol.has_envelope(params):
            stateless = self._resolve_revision(method, params) is not None
        elif self.revision is None:
            raise protocol.unreadable_message(error)  # the part that decides the era was cut off
        else:
            stateless = self.revision in protocol.STATELESS_REVISIONS
        if request.is_whole:
            check_call_params(method, params)
        # Only the name, so that the rest of a refused line does not wait in memory for the worker.
        named = {"name": params.get("name")}
        return Call(request_id, method, named, stateless=stateless, send=send, refusal=error)

    def _initialize(self, params: Message, *, in_batch: bool) -> Message:
        requested = params.get("protocolVersion")
        if self.revision in protocol.STATELESS_REVISIONS:
            raise protocol.unsupported_revision(
                f"this connection speaks {self.revision}, which has no initialize", requested
            )
        if in_batch:
            raise RpcError(protocol.INVALID_REQUEST, "initialize cannot be part of a batch")
        if type(requested) is not str:
            raise RpcError(protocol.INVALID_PARAMS, "initialize needs a protocolVersion, which must be a string")
        known = requested in protocol.HANDSHAKE_REVISIONS
        self.revision = requested if known else protocol.HANDSHAKE_REVISIONS[-1]
        return {
            "protocolVersion": self.revision,
            "capabilities": CAPABILITIES,
            "serverInfo": self._server,
            "instructions": self._instructions,
        }

    def _run_call(self, call: Call, tools: Tools) -> Message:
        try:
            value = answer_method(
                tools,
                call.method,
                call.params,
                stateless_server=self._server if call.stateless else None,
                cancellation=call.cancellation,
                refusal=call.refusal,
            )
        except RpcError as error:
            return build_error(call.id, error)
        return build_result(call.id, value)


def _duplicate_id(request_id: RequestId) -> RpcError:
    data = {"code": "duplicate_id", "id": request_id}
    return RpcError(protocol.INVALID_REQUEST, "a request with this id is still in progress", data)


def _check_opening(method: str, params: Message) -> None:
    """Raise if a request comes before the era is decided and does not decide it."""
    if method == "server/discover":
        protocol.check_envelope(params)
    if method in WORKER_METHODS:
        hint = f"send initialize before {method}, or give it a {protocol.STATELESS_REVISIONS[-1]} envelope"
        raise RpcError(protocol.INVALID_REQUEST, hint, {"code": "not_initialized"})
