"""Operations that are registered by the name of their module are loaded when they are first asked for."""

from __future__ import annotations

import sys

import pytest

from groundplan.kernel.operations.registry import Registry

SOURCES = {"knowledge.match": "groundplan.knowledge.reading.match:OPERATION", "work.next": "gone:OPERATION"}


def test_asking_for_the_names_loads_nothing() -> None:
    registry = Registry(sources=SOURCES)

    assert registry.names == ("knowledge.match", "work.next")
    assert "work.next" in registry
    assert "gone" not in sys.modules


def test_an_operation_is_loaded_once_by_its_name() -> None:
    registry = Registry(sources=SOURCES)

    assert registry["knowledge.match"].name == "knowledge.match"
    assert registry["knowledge.match"] is registry["knowledge.match"]
    with pytest.raises(ModuleNotFoundError):
        registry["work.next"]
    with pytest.raises(KeyError):
        registry["work.claim"]


def test_an_operation_under_the_name_of_another_is_refused() -> None:
    registry = Registry(sources={"work.next": SOURCES["knowledge.match"]})

    with pytest.raises(ValueError, match="is registered as work"):
        registry["work.next"]


def test_a_name_is_registered_once() -> None:
    loaded = Registry(sources=SOURCES)["knowledge.match"]

    with pytest.raises(ValueError, match="registered twice"):
        Registry([loaded, loaded])
    with pytest.raises(ValueError, match="registered twice"):
        Registry([loaded], sources=SOURCES)
