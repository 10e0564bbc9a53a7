"""Routes of pages: read the form, run the page in a thread, and show refusals as a page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.routing import Route as StarletteRoute

from groundplan.kernel.errors import GroundplanError, Unauthenticated
from groundplan.surfaces.http.answers import (
    COMPRESSED_BYTES_MIN,
    Answer,
    AnswerSender,
    HttpProblem,
    compress,
    encode_headers,
    method_not_allowed,
)
from groundplan.surfaces.http.authentication import CSRF_OF_FORM, SAME_ORIGIN
from groundplan.surfaces.http.front_door import ROUTE_OF_REQUEST
from groundplan.surfaces.http.log_lines import log_exception
from groundplan.surfaces.http.operation_pool import OperationPool
from groundplan.surfaces.web.render import HTML_TYPE, redirect, render_page

FORM_BYTES_MAX = 4096  # of a form without a login
FORM_S = 10.0
FORM_FIELDS_MAX = 10
LOGIN_PATH = "/login"
ISSUER_LOGIN_PATH = f"{LOGIN_PATH}/issuer"
_GONE = Answer(400, b"", content_type=b"text/plain")  # nobody reads it

Form = Mapping[str, str]
Page = Callable[[Request, Form], Answer]  # called in a thread


class FormLimits(NamedTuple):
    """The limits of a form."""

    bytes_max: int = FORM_BYTES_MAX
    fields_max: int = FORM_FIELDS_MAX


SMALL_FORM = FormLimits()


def make_page_route(
    pool: OperationPool, path: str, pages: Mapping[str, Page], *, limits: FormLimits = SMALL_FORM
) -> StarletteRoute:
    """Return a route that has a page for each method."""
    allowed = [*pages, "HEAD"] if "GET" in pages else list(pages)

    async def answer(request: Request) -> Any:
        request.scope[ROUTE_OF_REQUEST] = path
        page = pages.get("GET" if request.method == "HEAD" else request.method)
        try:
            if page is None:
                raise method_not_allowed(request.method, allowed)
            form = await _read_form(request, limits) if request.method == "POST" else {}
            request.scope[CSRF_OF_FORM] = form.get("csrf", "")
        except HttpProblem as problem:
            return AnswerSender(_show_error(problem))
        made = await pool.run(lambda: _compress(request, _run(page, request, form)), request.receive)
        return AnswerSender(made or _GONE)

    route = StarletteRoute(path, answer)
    route.methods = None  # other methods are refused here, as a page
    return route


def _run(page: Page, request: Request, form: Form) -> Answer:
    try:
        return page(request, form)
    except Unauthenticated:
        return redirect(LOGIN_PATH)
    except GroundplanError as error:
        return _show_error(error)
    except Exception:
        return _show_error(log_exception("a page"))


def _compress(request: Request, answer: Answer) -> Answer:
    """Compress a page, unless another site could have caused the request.

    Not for other sites: they could choose a part of the address that the page repeats, and learn from the length of the
    answer whether the rest contains the same text.
    """
    if (
        answer.content_type != HTML_TYPE
        or len(answer.body) < COMPRESSED_BYTES_MIN
        or "gzip" not in request.headers.get("accept-encoding", "")
        or request.headers.get("sec-fetch-site") not in SAME_ORIGIN
    ):
        return answer
    headers = [*answer.headers, (b"content-encoding", b"gzip"), (b"vary", b"accept-encoding, sec-fetch-site")]
    return answer._replace(body=compress(answer.body), headers=headers)


def _show_error(error: GroundplanError) -> Answer:
    headers = encode_headers(error.headers) if isinstance(error, HttpProblem) else []
    return render_page("problem.html", status=error.status, headers=headers, message=error.message)


async def _read_form(request: Request, limits: FormLimits) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HttpProblem(415, "unsupported_media_type", "this page takes its own form only")
    body = bytearray()
    try:
        async with asyncio.timeout(FORM_S):
            async for part in request.stream():
                body += part
                if len(body) > limits.bytes_max:
                    raise HttpProblem(413, "too_large", "the form is too large", headers={"connection": "close"})
    except TimeoutError:
        raise HttpProblem(408, "too_slow", "the form did not arrive in time", headers={"connection": "close"}) from None
    try:
        # Blank fields too: one that a person emptied says so.
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=limits.fields_max, errors="strict"
        )
    except ValueError:
        raise HttpProblem(400, "invalid_form", "the form cannot be read; send the page's own form") from None
    return dict(fields)
