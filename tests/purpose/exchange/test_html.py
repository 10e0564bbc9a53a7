"""A version as one HTML file: complete, without script, and safe with any text."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.purpose.client import PurposeClient, op

HOSTILE = """</style><script>alert(1)</script><img src=x onerror=alert(1)>"'&"""


class Elements(HTMLParser):
    """The elements of a page, what they load, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.loaded: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_file_has_the_picture_the_numbered_assumptions_and_the_list(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("add_assumption", node="OC1", assumption_text="Springs stay", risk_level="HIGH", owner="ben"),
        op("add_indicator", node="OC1", name="Households", unit="%", baseline=20, target=95),
    )
    chain_client.record(measurements=[{"indicator": "IN1", "value": 40, "as_of": "2026-03-01"}])

    page = Elements(chain_client.call("purpose.export", format="html").content)

    assert page.names.count("svg") == 1
    assert page.names.count("ol") == 1
    assert page.names.count("tr") == 8  # four nodes, each in the table of its type
    for text in ("Springs stay", "high risk", "owner ben", "Households", "from 20 %, to 95 %, 40 % on 2026-03-01"):
        assert text in page.text
    assert page.loaded == ["#AS1"]


def test_stored_text_is_text_in_the_file(chain_client: PurposeClient) -> None:
    chain_client.edit(
        op("update_node", node="G1", title=HOSTILE, description=HOSTILE),
        op("add_assumption", node="OC1", assumption_text=HOSTILE, owner=HOSTILE),
        op("add_indicator", node="OC1", name=HOSTILE, unit=HOSTILE),
    )

    page = Elements(chain_client.call("purpose.export", format="html").content)

    assert not {"script", "img"} & set(page.names)
    assert page.names.count("style") == 2  # of the page and of the picture
    assert page.loaded == ["#AS1"]
