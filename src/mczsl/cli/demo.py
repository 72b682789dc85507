"""``mczsl demo``: the main job on embedded data, in all three settings, within a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mczsl.cli.output import show_table

METHODS = ("mczsl", "sequential")
PROTOCOLS = ("gzsl", "fixed", "dynamic")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
) -> None:
    """MCZSL against the lower bound on embedded data; a table and a picture."""
    from mczsl.cli.progress import watch
    from mczsl.reports.plots import harmonic_per_task, save_png
    from mczsl.runs.config import RunConfig
    from mczsl.runs.loop import run

    records = []
    for protocol in PROTOCOLS:
        for method in METHODS:
            with watch() as listener:
                config = RunConfig(dataset="digits", protocol=protocol, method=method, threads=1)
                records.append(run(config, listener=listener))
    columns = ("protocol", "method", "mSA", "mUA", "mH", "forgetting", "train_seconds")
    rows = [[record[column] for column in columns] for record in records]
    show_table(
        ["setting", "method", "seen", "unseen", "H", "forgetting", "seconds"],
        rows,
        title="Handwritten digits, three of which are known by description only",
    )
    continual = {
        f"{protocol} continual GZSL": [r for r in records if r["protocol"] == protocol]
        for protocol in PROTOCOLS[1:]
    }
    picture = out / "harmonic_per_task.png"
    save_png(harmonic_per_task(continual), picture)
    print(f"H per task: {picture}")
    print("Real data next:  mczsl data get   and then   mczsl run --dataset CUB --protocol dynamic")
