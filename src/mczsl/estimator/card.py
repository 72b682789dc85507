"""The model card: what a model is, in the layout that the Hugging Face hub reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mczsl.estimator.classes import ClassTable
    from mczsl.estimator.files import Values
    from mczsl.estimator.labels import Label

CARD = "README.md"
_CLASSES_LISTED = 50

_USE = """\
## How to use it

```python
from mczsl import ZeroShotClassifier

model = ZeroShotClassifier.load("path/to/this/folder")
model.predict(X)                  # X: rows of {features} features
model.top_k(X, k=3)               # labels and probabilities
model.partial_fit(X_new, y_new)   # learn more; old samples are not needed
```
"""

_LIMITS = """\
## Limits

- It compares feature vectors. They must come from the same extractor, prepared in the same way, as
  those it was trained on; others give answers without any sign that they are wrong.
- Every row gets one of the known classes, also a row that belongs to none of them.
- Probabilities are a softmax over the candidates: a ranking, not a measured frequency.
- {unseen}
- {memory}
- The figures above are of samples like those it was trained on. Measure it on your own.
"""


def write_card(values: Values, classes: ClassTable, remembered: int, means: int) -> str:
    """The text of ``README.md``; the model's memory holds samples and means of classes."""
    pairs = list(zip(classes.labels, classes.seen.tolist(), strict=True))
    seen = [label for label, is_seen in pairs if is_seen]
    unseen = [label for label, is_seen in pairs if not is_seen]
    also = f" and the means of {means} classes" if means else ""
    memory = f"This folder holds the features of {remembered} training samples{also} as its memory."
    parts = [
        _front_matter(values),
        _what_it_is(values, seen, unseen, classes.attribute_dim),
        _USE.format(features=values.features),
        _lessons(values),
        _LIMITS.format(
            unseen=_about_unseen(values),
            memory=memory if remembered or means else "It keeps no training samples.",
        ),
    ]
    return "\n".join(parts)


def markdown_text(text: object) -> str:
    r"""A text that shows as it is: no markup, no HTML, no line breaks.

    >>> print(markdown_text("<b>x</b> | `y`\n# z"))
    &lt;b&gt;x&lt;/b&gt; \| \`y\` # z
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    escaped = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~])", r"\\\1", escaped)


def percent(share: float | None) -> str:
    """A share as a percentage; a dash where it was not measured.

    >>> percent(0.9051), percent(None)
    ('90.5 %', '-')
    """
    return "-" if share is None else f"{100 * share:.1f} %"


def _front_matter(values: Values) -> str:
    lines = [
        "---",
        "library_name: mczsl",
        f"license: {values.license}",
        "tags: [mczsl, zero-shot-learning, continual-learning, tabular-classification]",
        "metrics: [accuracy]",
    ]
    figures = [("accuracy on held-back samples", values.lessons[-1].accuracy)]
    figures.append(("accuracy on classes without samples", values.lessons[-1].zero_shot))
    measured = [(name, figure) for name, figure in figures if figure is not None]
    if measured:
        lines += ["model-index:", "- name: mczsl classifier", "  results:"]
        lines += ["  - task: {type: tabular-classification}"]
        lines += ["    dataset: {name: samples of the last lesson, type: private}"]
        lines += ["    metrics:"]
        for name, figure in measured:
            lines.append(f"    - {{type: accuracy, name: per-class {name}, value: {figure}}}")
    return "\n".join([*lines, "---", ""])


def _what_it_is(
    values: Values, seen: Sequence[Label], unseen: Sequence[Label], attribute_dim: int
) -> str:
    described = {
        "attributes": f"{attribute_dim} attributes for each class",
        "descriptions": f"a text for each class, read by {markdown_text(values.encoder)}",
        "one-hot": "nothing but a random code for each class",
    }[values.source]
    return "\n".join(
        [
            f"# A zero-shot classifier for {len(seen) + len(unseen)} classes",
            "",
            f"It assigns rows of {values.features} features to one of {len(seen) + len(unseen)} "
            f"classes. {len(seen)} were learned from samples; {len(unseen)} it knows by "
            "description alone. It goes on learning, also new classes, without its old data.",
            "",
            f"- method: `{values.parameters.method}`, calibration "
            f"`{values.config.get('calibration', 'none')}`, by mczsl {values.version}",
            f"- classes are described by: {described}",
            f"- seen classes: {_listed(seen)}",
            f"- unseen classes: {_listed(unseen)}",
            "",
        ]
    )


def _lessons(values: Values) -> str:
    rows = [
        f"| {number} | {lesson.samples} | {lesson.classes} | {lesson.new_classes} "
        f"| {percent(lesson.accuracy)} ({lesson.held_back} samples) | {percent(lesson.zero_shot)} |"
        for number, lesson in enumerate(values.lessons, start=1)
    ]
    return "\n".join(
        [
            "## What it was trained on, and how well it did",
            "",
            "| lesson | samples | classes | new ones | accuracy after it | zero-shot before it |",
            "|---:|---:|---:|---:|---:|---:|",
            *rows,
            "",
            "*Accuracy after it*: on samples of the lesson that were held back from training. "
            "*Zero-shot before it*: on the samples of the lesson's new classes, before any of them "
            "was learned. Both are means over the classes, with every known class as a candidate; "
            "a dash is where there was nothing to measure.",
            "",
        ]
    )


def _about_unseen(values: Values) -> str:
    if values.source == "one-hot":
        return "Its classes have no description, so it cannot recognise a class without samples."
    return (
        "A class without samples is recognised by its description alone, which is less reliable, "
        "and the worse the less it has in common with classes that have samples."
    )


def _listed(labels: Sequence[Label]) -> str:
    shown = ", ".join(markdown_text(label) for label in labels[:_CLASSES_LISTED]) or "none"
    more = len(labels) - _CLASSES_LISTED
    return f"{shown}, and {more} more" if more > 0 else shown
