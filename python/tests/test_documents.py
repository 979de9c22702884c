"""Checks the Python in README and docs: the README's examples run, and every argument that a page names exists."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import oddcell
import oddcell._names
import oddcell.pyod
from oddcell import _oddcell

from conftest import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RULES = {"alpha", "fdr", "top", "contamination"}


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_readme_run(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    orders = pd.DataFrame({"items": random.integers(1, 9, 200), "product": random.choice(["tea", "cup"], 200)})
    orders["total"] = orders["items"] * orders["product"].map({"tea": 4.0, "cup": 9.0})
    orders.loc[7, "total"] = 900.0
    monkeypatch.chdir(tmp_path)
    orders.to_csv("orders.csv", index=False)
    names: dict[str, Any] = {}
    for block in blocks((ROOT / "README.md").read_text(encoding="utf-8")):
        # A shorter training than the default, to save time.
        block = block.replace("OddCell()", 'OddCell(train_for="300 steps")')
        exec(block, names)  # the document is ours
    assert 7 not in names["clean"].index
    assert names["model"].n_features_in_ == 3


def pieces(text: str) -> Iterator[str]:
    """The Python of a page: its blocks, the inputs of its sessions, and what stands between backticks."""
    yield from blocks(text)
    yield from re.findall(r"^(?:>>>|\.\.\.) (.*)$", text, re.MULTILINE)
    yield from re.findall(r"`([^`\n]+)`", text)


def calls(text: str) -> Iterator[ast.Call]:
    for piece in pieces(text):
        try:
            tree = ast.parse(piece)
        except SyntaxError:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def accepted(function: str) -> set[str] | None:
    """The keywords that a function of ours takes; None if it is not ours."""
    if function in ("judge", "score_batches"):
        return RULES
    ours = getattr(oddcell, function, None) or getattr(oddcell.OddCell, function, None)
    if ours is None or not callable(ours):
        return None
    keywords = set(inspect.signature(ours).parameters)
    if function in ("detect", "report"):
        keywords |= {name for entry in oddcell.detectors() for name in entry["params"]} | set(
            _oddcell.default_options()
        )
    return keywords


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_argument_that_a_page_names_exists(page: Path):
    for call in calls(page.read_text(encoding="utf-8")):
        function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        known = accepted(function)
        if known is None:
            continue
        for keyword in call.keywords:
            assert keyword.arg in known, f"{ast.unparse(call)}: {function} has no argument {keyword.arg}"


def test_calls_are_found_in_blocks_sessions_and_between_backticks():
    text = "Use `detect(X, top=3)`.\n```python\nfit(a=1)\n```\n```pycon\n>>> judge(X, fdr=0.1)\n```\n"
    found = {ast.unparse(call.func): call.keywords[0].arg for call in calls(text)}
    assert found == {"fit": "a", "judge": "fdr", "detect": "top"}


def test_the_table_of_common_arguments_is_that_of_the_classes():
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    table = text.split("| argument | default | meaning |\n|---|---|---|\n")[1].split("\n\n")[0]
    rows = [[cell.strip("` ") for cell in line.split("|")[1:3]] for line in table.splitlines()]
    assert len(rows) == 4
    for name in oddcell.detectors():
        kind = getattr(oddcell, oddcell._names.CLASS_NAMES[name["name"]])
        defaults = {key: argument.default for key, argument in inspect.signature(kind).parameters.items()}
        for argument, default in rows:
            assert defaults[argument] == ast.literal_eval(default), f"{kind.__name__}: {argument}"
