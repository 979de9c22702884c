"""The rules that decide which rows are odd."""

from __future__ import annotations

from typing import Any, TypedDict

RULES = ("alpha", "fdr", "top", "contamination")


class Rule(TypedDict):
    """One rule and its value; the others are None. All None: the default rule."""

    alpha: float | None
    fdr: float | None
    top: int | None
    contamination: float | None


def rule_of(given: dict[str, Any]) -> Rule:
    """The rule in keyword arguments. The library checks its value."""
    for name in given:
        if name not in RULES:
            raise TypeError(f"there is no rule `{name}`; known: {', '.join(RULES)}")
    return Rule(
        alpha=given.get("alpha"),
        fdr=given.get("fdr"),
        top=given.get("top"),
        contamination=given.get("contamination"),
    )
