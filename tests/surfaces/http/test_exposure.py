"""The server is open to others only with tokens, names and encryption."""

from __future__ import annotations

from itertools import product

import pytest

from groundplan.kernel.errors import Invalid
from groundplan.surfaces.http.exposure import (
    Exposure,
    TlsFiles,
    UnsafeBind,
    check_exposure,
    parse_host,
    parse_proxy,
)

TLS = TlsFiles("cert.pem", "key.pem")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "127.9.9.9"])
def test_loopback_needs_nothing(host: str) -> None:
    check_exposure(Exposure(host), lambda: False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "fd00::1"])  # noqa: S104 - refused
def test_any_other_address_needs_tokens_names_and_encryption(host: str) -> None:
    names, tls, proxies = ("plan.example.org",), TLS, ("10.0.0.1",)
    for with_token, with_name, with_tls, with_proxy in product([False, True], repeat=4):
        exposure = Exposure(
            host, 0, names if with_name else (), tls if with_tls else None, proxies if with_proxy else ()
        )
        if with_token and with_name and (with_tls or with_proxy):
            check_exposure(exposure, lambda: True)
            continue
        with pytest.raises(UnsafeBind) as refused:
            check_exposure(exposure, lambda given=with_token: given)  # type: ignore[misc] # the value of this turn
        assert ("token create" in refused.value.message) is not with_token
        assert ("--allowed-host" in refused.value.message) is not with_name
        assert ("--tls-cert" in refused.value.message) is not (with_tls or with_proxy)


def test_a_proxy_on_this_machine_makes_loopback_public() -> None:
    with pytest.raises(UnsafeBind):
        check_exposure(Exposure(proxies=("127.0.0.1",)), lambda: True)


@pytest.mark.parametrize("text", ["", "plan.example.org", "1.2.3", "*", "127.0.0.1:80"])
def test_a_host_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_host(text)


@pytest.mark.parametrize("text", ["", "*", "proxy", "10.0.0.0/99"])
def test_a_proxy_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_proxy(text)


def test_an_address_is_written_as_browsers_write_it() -> None:
    assert Exposure(parse_host("localhost"), 8321).address == "http://127.0.0.1:8321"
    assert Exposure(parse_host("[::1]"), 8321, tls=TLS).address == "https://[::1]:8321"
