"""Runs the examples in docstrings and documentation pages."""

from __future__ import annotations

import doctest
import importlib
import runpy

import pytest

from conftest import ROOT

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    "name",
    [
        "oddcell",
        "oddcell._detect",
        "oddcell._base",
        "oddcell._cells",
        "oddcell._repair",
        "oddcell.pyod",
        "oddcell.plot",
    ],
)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0 and (tried > 0 or name == "oddcell._base")


@pytest.mark.parametrize("page", ["python.md", "coming-from-pyod-and-scikit-learn.md"])
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False, optionflags=OPTIONS)
    assert failed == 0 and tried > 0


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples/python/orders.py"))
