"""What the tests of saved classifiers do in a process of its own."""

from pathlib import Path

from mczsl import ZeroShotClassifier


def save_for_ever(folder: Path, source: Path) -> None:
    """Save a classifier again and again, with one more class each time."""
    model = ZeroShotClassifier.load(source)
    while True:
        count = len(model.classes_)
        model.add_classes([f"class {count}"], attributes=[[count] * 12])
        model.save(folder)
