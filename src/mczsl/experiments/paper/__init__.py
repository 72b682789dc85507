"""The paper's tables and figures as experiments, and the figures that it reports."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
REPORTED = FOLDER / "reported.toml"


def experiments() -> dict[str, Path]:
    """The files of the experiments by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml")) if path != REPORTED}
