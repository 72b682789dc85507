"""The demonstration from beginning to end, with less training than it has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mczsl.cli import app, demo
from mczsl.data import emoji

QUICK = {"mczsl": {"epochs": 1, "hidden": 32}, "eszsl": {}}


def test_a_table_two_pictures_and_what_to_do_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "METHODS", QUICK)
    monkeypatch.setattr(demo, "PROTOCOLS", ("gzsl", "dynamic"))
    shown = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    for setting in demo.PROTOCOLS:
        for method in QUICK:
            row = next(
                line.split()
                for line in shown.output.splitlines()
                if line.split()[:2] == [setting, method]
            )
            assert 0 < float(row[2]) < 100
    assert "shorter than the defaults: mczsl epochs=1, hidden=32" in shown.output
    assert "mczsl data get" in shown.output
    for name in ("harmonic_per_task.png", "never_seen.png"):
        with Image.open(tmp_path / name) as picture:
            assert min(picture.size) > 400


def test_the_right_guesses_are_counted_and_marked() -> None:
    dataset = emoji.load()
    right = dataset.labels[dataset.splits.test_unseen]
    others = dataset.seen_classes[:2]
    never_right = np.tile(others, (len(right), 1))
    second = np.column_stack([never_right[:, 0], right, never_right[:, 1]])
    for guesses, share, ticks in (
        (np.column_stack([right, never_right]), "100%, one of three for 100%", demo.SHOWN),
        (second, "0%, one of three for 100%", demo.SHOWN),
        (np.column_stack([never_right, never_right[:, :1]]), "0%, one of three for 0%", 0),
    ):
        figure = demo.never_seen(guesses)
        assert share in figure.get_suptitle()
        names = [axis.get_xlabel() for axis in figure.axes]
        assert sum(name.startswith("\N{CHECK MARK} ") for name in names) == ticks
        thick = [a for a in figure.axes if a.axison and a.spines["top"].get_linewidth() > 2]
        assert len(thick) == ticks, "not by colour alone"


def test_no_emoji_is_asked_twice_and_each_was_never_trained_on() -> None:
    dataset = emoji.load()
    guesses = np.tile(dataset.seen_classes[:3], (len(dataset.splits.test_unseen), 1))
    figure = demo.never_seen(guesses)
    wanted = {dataset.class_names[number] for number in dataset.unseen_classes}
    asked = [
        axis.get_xlabel().replace("\n", " ")
        for axis in figure.axes
        if axis.axison and not axis.spines["top"].get_visible()
    ]
    assert len(set(asked)) == len(asked) == demo.SHOWN
    assert all(any(name.startswith(each.rstrip("…")) for name in wanted) for each in asked)
