"""Commands for people with their own data: train, learn, add-class, predict, info, export."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mczsl.cli import options
from mczsl.cli.output import as_text, show_table
from mczsl.cli.run import parse_settings
from mczsl.errors import ConfigError, printable

if TYPE_CHECKING:
    from mczsl import ZeroShotClassifier

Model = Annotated[Path, typer.Argument(help="Folder of a saved model.")]
Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, parquet or .npz; without --labels, with a column headed label, class, target or "
        "y, or else the label first."
    ),
]
Labels = Annotated[
    Path | None, typer.Option(help="File of labels, if they are not in the data; see the guide.")
]
Attributes = Annotated[
    Path | None, typer.Option(help="Table of the classes: name, then its attributes.")
]
Descriptions = Annotated[
    Path | None, typer.Option(help="Instead: CSV with a class and a text about it in each row.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Save there, not over MODEL.")]

export_app = typer.Typer(no_args_is_help=True)


def train(
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    labels: Labels = None,
    attributes: Attributes = None,
    descriptions: Descriptions = None,
    method: options.Method = "mczsl",
    preset: options.Preset = "default",
    settings: options.Settings = None,
    memory_size: Annotated[int, typer.Option(help="Samples that the model may keep.")] = 5000,
    validation_fraction: Annotated[
        float, typer.Option(help="Share of each class's samples that is held back to measure.")
    ] = 0.1,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    license: Annotated[str, typer.Option(help="Named in the model card.")] = "unknown",
) -> None:
    """Make a model from labelled features; described classes without samples are known too."""
    import numpy as np

    from mczsl import ZeroShotClassifier
    from mczsl.cli.samples import read_classes, read_labelled
    from mczsl.data.descriptions import read_descriptions
    from mczsl.estimator.files import require_room

    samples = read_labelled(data, labels)
    texts = read_descriptions(descriptions) if descriptions else None
    known = read_classes(attributes) if attributes else (None if texts else samples.attributes)
    classifier = ZeroShotClassifier(
        method,
        preset=preset,
        settings=parse_settings(settings or []),
        class_attributes=known,
        class_descriptions=texts,
        memory_size=memory_size,
        validation_fraction=validation_fraction,
        random_state=seed,
    )
    require_room(out, license)
    _teach(classifier, samples.X, samples.labels, threads)
    if samples.columns is not None:  # so that later files may have them in another order
        classifier.feature_names_in_ = np.array(samples.columns, dtype=object)
    classifier.save(out, license)
    _show_lesson(classifier, out)


def learn(
    model: Model,
    data: Data,
    labels: Labels = None,
    attributes: Attributes = None,
    descriptions: Descriptions = None,
    out: Out = None,
    threads: options.Threads = None,
) -> None:
    """Teach a saved model more: old classes or new ones. Its old data is not needed."""
    from mczsl.cli.samples import (
        add_classes,
        add_described,
        in_model_order,
        model_labels,
        read_labelled,
    )
    from mczsl.estimator.files import require_room

    if attributes and descriptions:
        raise ConfigError("--attributes and --descriptions: give one of the two")
    with _alone(out or model):
        classifier = _load(model)
        require_room(out or model)
        samples = read_labelled(data, labels, classifier)
        X = in_model_order(classifier, samples.X, samples.columns, data)
        described = attributes or descriptions
        if described:
            add_classes(classifier, described)
        else:
            add_described(classifier, samples)
        _teach(classifier, X, model_labels(classifier, samples.labels), threads)
        classifier.save(out or model)
    _show_lesson(classifier, out or model)


def add_class(
    model: Model,
    name: Annotated[str | None, typer.Argument(help="The new class; or see --table.")] = None,
    attributes: Annotated[
        str | None, typer.Option(help="Its attributes: numbers with commas between them.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="Instead: a text about it.")] = None,
    table: Annotated[
        Path | None, typer.Option(help="Many at once: a file of names with attributes or texts.")
    ] = None,
    out: Out = None,
) -> None:
    """Make classes known to a saved model that have no sample yet."""
    from mczsl.cli.samples import add_classes, model_labels

    if (name is None) == (table is None):
        raise ConfigError("name one class, or give a file of classes with --table")
    if table is not None and (attributes, description) != (None, None):
        raise ConfigError("--table: the file describes the classes; name one class to do it here")
    with _alone(out or model):
        classifier = _load(model)
        if table is not None:
            added = add_classes(classifier, table)
        else:
            added = model_labels(classifier, [name or ""])
            numbers = None if attributes is None else [_numbers(attributes)]
            texts = None if description is None else [description]
            classifier.add_classes(added, attributes=numbers, descriptions=texts)
        classifier.save(out or model)
    print(f"{printable(str(out or model))}: {len(added)} new, {len(classifier.classes_)} classes")


def predict(
    model: Model,
    data: Annotated[Path, typer.Argument(help="CSV, parquet, .npy or .npz with features.")],
    top: Annotated[int, typer.Option(help="How many classes for each row, likeliest first.")] = 1,
    among: Annotated[
        list[str] | None, typer.Option(help="Only this class is a candidate; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file, not the screen.")] = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Rank the classes for each row: CSV with row, rank, label, probability, seen or unseen.

    If the data has labels, they are left out, and the accuracy is told on stderr.
    """
    from mczsl.cli.predictions import accuracy_line, as_csv, as_json_lines
    from mczsl.cli.samples import model_labels, read_questions
    from mczsl.storage import write_output

    classifier = _load(model)
    _use_threads(threads)
    candidates = model_labels(classifier, among) if among else None
    asked = read_questions(data, classifier)
    with _plain_warnings():
        labels, shares = classifier.top_k(asked.X, top, candidates)
    seen = set(classifier.seen_classes_.tolist())
    text = (as_json_lines if as_json else as_csv)(labels, shares, seen, asked.files)
    if out is None:
        sys.stdout.write(text)
    else:
        write_output(out, text.encode())
    if asked.labels is not None:
        true = model_labels(classifier, asked.labels)
        line = accuracy_line(labels[:, 0], true, set(classifier.classes_.tolist()))
        print(f"mczsl: {line}", file=sys.stderr)


def info(model: Model, as_json: options.AsJson = False) -> None:
    """What a saved model is, knows and was taught."""
    classifier = _load(model)
    learned = classifier.model_
    facts = {
        "method": learned.name,
        "calibration": learned.method.config.calibration,
        "features": learned.features,
        "described by": learned.semantics.encoder or learned.semantics.source,
        "attributes": learned.classes.attribute_dim,
        "seen": classifier.seen_classes_.tolist(),
        "unseen": classifier.unseen_classes_.tolist(),
        "memory_size": classifier.memory_size,
        "lessons": classifier.history_,
    }
    if as_json:
        print(json.dumps(facts))
        return
    for name in ("seen", "unseen"):
        facts[name] = f"{len(facts[name])}: {', '.join(map(str, facts[name][:20]))}" + (
            ", ..." if len(facts[name]) > 20 else ""
        )
    lessons = facts.pop("lessons")
    show_table(["", str(model)], [(name, str(value)) for name, value in facts.items()])
    header = ["lesson", "samples", "classes", "new", "held back", "accuracy", "zero-shot"]
    rows = [[number, *lesson.values()] for number, lesson in enumerate(lessons, start=1)]
    show_table(header, [[*row[:5], *map(_percent, row[5:])] for row in rows])


@export_app.command("onnx")
def export_onnx(
    model: Model,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the ONNX files.")],
) -> None:
    """Write scorer.onnx, class_encoder.onnx and classes.npz, for programs without torch."""
    from mczsl.export import onnx

    onnx.export_onnx(_load(model), out)
    for name in (onnx.SCORER, onnx.CLASS_ENCODER, onnx.CLASSES):
        print(printable(str(out / name)))


# ---------------------------------------------------------------- inside


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """From loading to saving, so that what two commands teach a model at a time adds up."""
    from mczsl import storage

    def tell() -> None:
        print(f"mczsl: waiting until another command is done with {folder}", file=sys.stderr)

    with storage.locked(folder, tell):
        yield


def _load(folder: Path) -> ZeroShotClassifier:
    from mczsl import ZeroShotClassifier

    return ZeroShotClassifier.load(folder)


def _teach(classifier: ZeroShotClassifier, X: Any, y: list[Any], threads: int | None) -> None:
    """Learn with a line about it; a signal stops it between two steps, and nothing is saved."""
    from mczsl.cli.features import watch_count
    from mczsl.runs.interrupts import Interrupted, catch_signals

    _use_threads(threads)
    try:
        with _plain_warnings(), catch_signals() as stop, watch_count("epochs") as show:
            for progress in classifier.learning(X, y):
                show(progress.epoch, progress.epochs)
                stop.check()
    except Interrupted as stopped:
        print(f"mczsl: {stopped}; nothing was saved", file=sys.stderr)
        raise typer.Exit(stopped.exit_code) from None


def _use_threads(threads: int | None) -> None:
    if threads:
        import torch

        torch.set_num_threads(threads)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Warnings as lines for a user, without the code that they come from."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        # The columns of files are compared by name where both sides have names; see samples.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        warnings.showwarning = lambda message, *_, **__: print(
            f"mczsl: {printable(str(message))}", file=sys.stderr
        )
        yield


def _show_lesson(classifier: ZeroShotClassifier, folder: Path) -> None:
    lesson = classifier.history_[-1]
    print(
        f"{printable(str(folder))}: learned {lesson['samples']} samples of {lesson['classes']} "
        f"classes, {lesson['new_classes']} of them new; accuracy {_percent(lesson['accuracy'])} on "
        f"{lesson['held_back']} held back, {_percent(lesson['zero_shot'])} on new classes before"
    )


def _percent(share: float | None) -> str:
    return as_text(None) if share is None else f"{100 * share:.1f} %"


def _numbers(text: str) -> list[float]:
    try:
        return [float(cell) for cell in text.split(",")]
    except ValueError:
        raise ConfigError(f"--attributes {text!r}: write numbers, commas between them") from None
