"""The card that is saved with a model: readable for people, and for the Hugging Face hub."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from mczsl import ZeroShotClassifier
from mczsl.errors import ConfigError
from tests.estimator.animals import NAMES, QUICK, quick, seen_of


def card_of(model: ZeroShotClassifier, folder: Path, **options: Any) -> tuple[dict[str, Any], str]:
    """What the front matter says, and the text behind it."""
    model.save(folder, **options)
    _, front, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


def test_it_says_what_the_model_is_and_how_good(tmp_path: Path) -> None:
    model = quick().partial_fit(*seen_of(range(4), each=20))
    model.partial_fit(*seen_of(range(4, 8), each=20))
    front, text = card_of(model, tmp_path, license="cc-by-4.0")
    assert front["library_name"] == "mczsl"
    assert front["license"] == "cc-by-4.0"
    assert {"zero-shot-learning", "continual-learning"} <= set(front["tags"])
    result = front["model-index"][0]["results"][0]
    history = model.history_[-1]
    assert [metric["value"] for metric in result["metrics"]] == [
        history["accuracy"],
        history["zero_shot"],
    ]
    assert "rows of 40 features to one of 20 classes" in text
    assert f"seen classes: {', '.join(NAMES[:8])}\n" in text
    assert f"| 2 | 72 | 4 | 4 | {100 * history['accuracy']:.1f} % (8 samples) |" in text
    assert "features of 144 training samples and the means of 8 classes as its memory" in text
    assert "## Limits" in text


def test_nothing_measured_is_said_so(tmp_path: Path) -> None:
    model = ZeroShotClassifier(settings=QUICK, memory_size=0).fit(*seen_of(range(2), each=3))
    front, text = card_of(model, tmp_path)
    assert front["license"] == "unknown"
    assert "model-index" not in front
    assert "| - (0 samples) | - |" in text
    assert "cannot recognise a class without samples" in text
    assert "keeps no training samples" in text


def test_the_hub_can_read_it(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    model = quick().fit(*seen_of(range(4), each=20))
    model.save(tmp_path)
    card = hub.ModelCard.load(tmp_path / "README.md")
    assert card.data.library_name == "mczsl"
    assert card.data.eval_results[0].metric_value == model.history_[0]["accuracy"]


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "a\nb\n---\nlicense: mit",
        "| x | y |",
        "![x](http://example.com/x.png)",
        "\x1b[31mred",
        "`rm -rf`",
        "=HYPERLINK(1)",
    ],
)
def test_a_class_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    X, y = seen_of(range(2))
    labels = np.where(y == NAMES[0], name, "other")
    model = ZeroShotClassifier(settings=QUICK).fit(X, labels.astype(object))
    front, text = card_of(model, tmp_path)
    assert front["license"] == "unknown"
    line = next(line for line in text.splitlines() if line.startswith("- seen classes: "))
    assert "other" in line, "the name has no line breaks"
    assert not re.search(r"<\w|(?<!\\)[`|]|(?<!\\)\[|\x1b", line.removeprefix("- seen classes: "))


def test_a_license_stays_until_another_is_named(tmp_path: Path) -> None:
    model = quick().fit(*seen_of(range(2)))
    assert card_of(model, tmp_path, license="apache-2.0")[0]["license"] == "apache-2.0"
    model.partial_fit(*seen_of(range(2)))
    assert card_of(model, tmp_path)[0]["license"] == "apache-2.0"
    assert card_of(model, tmp_path, license="mit")[0]["license"] == "mit"


@pytest.mark.parametrize("license", ["", "mit\ntags: x", "a: b", "[x]", 3])
def test_a_license_is_an_identifier(license: Any, tmp_path: Path) -> None:
    model = quick().fit(*seen_of(range(2)))
    with pytest.raises(ConfigError, match="license"):
        model.save(tmp_path / "model", license=license)
    assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------- people write into it


@pytest.mark.parametrize("card", ["", "my own words", None])
def test_a_card_has_no_influence_on_the_model(card: str | None, tmp_path: Path) -> None:
    X, y = seen_of(range(3))
    model = quick().fit(X, y)
    model.save(tmp_path)
    place = tmp_path / "README.md"
    place.unlink() if card is None else place.write_text(card)
    np.testing.assert_array_equal(ZeroShotClassifier.load(tmp_path).scores(X), model.scores(X))


def test_an_edited_card_is_not_lost(tmp_path: Path) -> None:
    model = quick().fit(*seen_of(range(3)))
    model.save(tmp_path)
    place, edits = tmp_path / "README.md", []
    for note in ("\nMade by A.\n", "\nMade by B.\n"):
        edits.append(place.read_text() + note)
        place.write_text(edits[-1])
        with pytest.warns(UserWarning, match=r"README.md: was edited.* is now README-\w+.md"):
            model.save(tmp_path)
        assert "Made by" not in place.read_text()
    aside = [path.read_text() for path in tmp_path.glob("README-*.md")]
    assert sorted(aside) == sorted(edits)
    ZeroShotClassifier.load(tmp_path)


def test_a_card_that_nobody_edited_is_replaced_without_a_word(tmp_path: Path) -> None:
    model = quick().fit(*seen_of(range(3)))
    for license in ("mit", "apache-2.0", "mit"):
        model.save(tmp_path, license=license)
        assert f"license: {license}\n" in (tmp_path / "README.md").read_text()
    assert not list(tmp_path.glob("README-*"))
