"""Which rows are called odd."""

from __future__ import annotations

from typing import Any, TypedDict

RULES = ("alpha", "fdr", "n_odd", "contamination")


class Rule(TypedDict):
    """At most one of them is not None."""

    alpha: float | None
    fdr: float | None
    n_odd: int | None
    contamination: float | None


def rule_of(given: dict[str, Any]) -> Rule:
    """The rule that keyword arguments ask for; the library checks it."""
    for name in given:
        if name not in RULES:
            raise TypeError(f"there is no rule `{name}`; known: {', '.join(RULES)}")
    return Rule(**{name: given.get(name) for name in RULES})  # type: ignore[typeddict-item]
