"""``mczsl demo``: the main job on embedded pictures, in all three settings, within a minute."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mczsl.cli.output import show_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from mczsl.runs.loop import Run

# Less than the defaults, so that all of it takes no longer than a minute on two cores.
METHODS: dict[str, dict[str, Any]] = {
    "mczsl": {"epochs": 30},
    "sequential": {"epochs": 10, "hidden": 256},
    "eszsl": {},
}
PROTOCOLS = ("gzsl", "fixed", "dynamic")
SHOWN = 16  # emoji in the picture


class Outcome(NamedTuple):
    """A run's record and, of one run, the three best classes for each drawing never seen."""

    record: dict[str, Any]
    guesses: NDArray[np.int64] | None


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("demo"),
) -> None:
    """MCZSL against two baselines on embedded emoji: a table and two pictures."""
    from mczsl.cli.features import watch_count
    from mczsl.reports.plots import harmonic_per_task, save_png

    outcomes = {}
    with watch_count("runs") as show:
        for key, outcome in _perform():
            outcomes[key] = outcome
            show(len(outcomes), len(PROTOCOLS) * len(METHODS))
    records = [outcomes[protocol, method].record for protocol in PROTOCOLS for method in METHODS]
    columns = ("protocol", "method", "mSA", "mUA", "mH", "forgetting", "train_seconds")
    show_table(
        ["setting", "method", "seen", "unseen", "H", "forgetting", "seconds"],
        [[record[column] for column in columns] for record in records],
        title="Emoji drawn by new artists, and emoji known by their description only",
        caption=f"shorter than the defaults: {_shortened()}",
    )
    continual = {
        f"{protocol} continual GZSL": [r for r in records if r["protocol"] == protocol]
        for protocol in PROTOCOLS[1:]
    }
    save_png(harmonic_per_task(continual), out / "harmonic_per_task.png")
    print(f"H per task: {out / 'harmonic_per_task.png'}")
    guesses = outcomes["gzsl", "mczsl"].guesses
    assert guesses is not None
    save_png(never_seen(guesses), out / "never_seen.png")
    print(f"Emoji never seen, each with three guesses: {out / 'never_seen.png'}")
    print("In full:         mczsl run --protocol dynamic")
    print("Real data next:  mczsl data get   and then   mczsl run --dataset CUB --protocol dynamic")


def best_guesses(run: Run, count: int = 3) -> NDArray[np.int64]:
    """The classes with the best scores, of all classes, for each drawing of an unseen one."""
    import numpy as np
    import torch

    from mczsl.protocols import class_set

    dataset = run.dataset
    classes = class_set(dataset, np.arange(dataset.n_classes))
    features = torch.from_numpy(dataset.features[dataset.splits.test_unseen])
    guesses: NDArray[np.int64] = run.method.scores(features, classes).topk(count).indices.numpy()
    return guesses


def never_seen(guesses: NDArray[np.int64]) -> Figure:
    """Drawings of unseen emoji, taken at random, each with the best guesses."""
    import numpy as np

    from mczsl.data import emoji
    from mczsl.reports.guesses import Named, Question, guesses_picture
    from mczsl.seeding import numpy_generator

    dataset, pictures = emoji.load(), emoji.thumbnails()
    names, labels, rows = dataset.class_names, dataset.labels, dataset.splits.test_unseen
    hits = guesses == labels[rows][:, np.newaxis]
    _, example = np.unique(labels, return_index=True)  # a drawing of each class
    mixed = numpy_generator(0, "demo", "emoji").permutation(len(rows))
    _, first = np.unique(labels[rows][mixed], return_index=True)  # no emoji twice
    questions = [
        Question(
            Named(pictures[rows[place]], names[labels[rows[place]]]),
            tuple(Named(pictures[example[guess]], names[guess]) for guess in guesses[place]),
        )
        for place in mixed[np.sort(first)[:SHOWN]]
    ]
    title = (
        f"Emoji never seen, with the best guesses out of {len(names)}: the first is right for "
        f"{hits[:, 0].mean():.0%}, one of three for {hits.any(axis=1).mean():.0%}.\n"
        f"These {SHOWN} are taken at random. A thick frame and a tick mark the right one."
    )
    return guesses_picture(questions, title)


def _perform() -> Iterator[tuple[tuple[str, str], Outcome]]:
    """All runs in two processes, the long ones first."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1), context) as pool:
        keys = [(protocol, method) for method in METHODS for protocol in reversed(PROTOCOLS)]
        begun = {pool.submit(_one, *key, METHODS[key[1]]): key for key in keys}
        for future in as_completed(begun):
            yield begun[future], future.result()


def _one(protocol: str, method: str, settings: dict[str, Any]) -> Outcome:
    from mczsl.runs.config import RunConfig
    from mczsl.runs.loop import Run

    config = RunConfig(
        dataset="emoji", protocol=protocol, method=method, settings=settings, threads=1
    )
    run = Run(config)
    record = run.finish()
    return Outcome(record, best_guesses(run) if (protocol, method) == ("gzsl", "mczsl") else None)


def _shortened() -> str:
    return "; ".join(
        f"{method} {', '.join(f'{key}={value}' for key, value in settings.items())}"
        for method, settings in METHODS.items()
        if settings
    )
