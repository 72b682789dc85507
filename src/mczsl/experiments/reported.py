"""The figures that the paper reports, for showing beside results."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from mczsl.errors import unknown_name
from mczsl.experiments.paper import REPORTED


@dataclass(frozen=True)
class Reported:
    """What one of the paper's tables says about one dataset: rows by label."""

    features: str
    note: str
    rows: dict[str, dict[str, Any]]


def reported(table: str | None, dataset: str, protocol: str) -> Reported | None:
    """The paper's figures for a dataset in a setting; None where it has none."""
    if table is None:
        return None
    whole = _read()
    if table not in whole or table == "features":
        raise unknown_name("table of the paper", table, whole.keys() - {"features"})
    rows = {
        row["label"]: row
        for row in whole[table]["rows"]
        if row["dataset"].lower() == dataset.lower() and whole[table]["protocol"] == protocol
    }
    return Reported(whole["features"], whole[table]["note"], rows) if rows else None


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(REPORTED.read_text(encoding="utf-8"))
