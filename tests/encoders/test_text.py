"""Sentences to vectors: the same as the published model's, offline, and never from nonsense."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mczsl.encoders.text import (
    LONGEST_TEXT,
    CallableEncoder,
    TextEncoder,
    load_encoder,
    require_same_encoder,
)
from mczsl.errors import ConfigError, DataError

TEXTS = ["a red apple", "grinning face with smiling eyes, happy and joyful", "snow ⛄ 雪", "x"]


@pytest.fixture(scope="module")
def minilm() -> TextEncoder:
    return load_encoder("minilm")


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0, len(text), text.count("a")] for text in texts]


def test_minilm_gives_unit_vectors_near_for_near_meanings(minilm: TextEncoder) -> None:
    vectors = minilm.encode(["a small dog", "a puppy", "an income tax form"])
    assert vectors.shape == (3, minilm.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]


def test_minilm_equals_the_published_model(minilm: TextEncoder) -> None:
    """Three numbers of each vector, as sentence-transformers 6.2 computes them."""
    published = [
        [0.004040, 0.040309, 0.098285],
        [-0.007194, -0.020692, -0.044791],
        [-0.081333, 0.061285, -0.019854],
        [-0.097910, 0.018454, -0.011628],
        [-0.027002, 0.002709, 0.012454],
    ]
    vectors = minilm.encode([*TEXTS, "many words " * 300])
    np.testing.assert_allclose(vectors[:, [0, 100, 383]], published, atol=2e-6)


def test_a_text_is_encoded_alike_alone_and_among_others(minilm: TextEncoder) -> None:
    together = minilm.encode(TEXTS)
    alone = np.concatenate([minilm.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_only_the_first_256_tokens_count(minilm: TextEncoder) -> None:
    start = "apple " * 254  # and the two marks at both ends
    vectors = minilm.encode([start, start + "zebra " * 1000])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


def test_the_identity_names_the_weights(minilm: TextEncoder) -> None:
    assert minilm.identity == "all-MiniLM-L6-v2:53aa51172d142c89+be50c3628f2bf5bb"
    require_same_encoder(minilm, minilm.identity)


def test_another_encoder_is_refused_for_known_classes() -> None:
    with pytest.raises(ConfigError, match=r"'mine-1'.*'mine-2'"):
        require_same_encoder(CallableEncoder(letters, "mine-2"), "mine-1")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["fine", ""], "description 1 is empty"),
        ([" \n\t"], "description 0 is empty"),
        (["x" * (LONGEST_TEXT + 1)], "has 100001 characters"),
        (["half a character \ud800"], "no valid Unicode"),
        ([None], "description 0 is NoneType"),
        ("one text", "expected a list of texts"),
        ([], "no descriptions"),
    ],
)
def test_texts_that_describe_nothing_are_refused(
    minilm: TextEncoder, texts: list[str], message: str
) -> None:
    for encoder in (minilm, CallableEncoder(letters, "letters")):
        with pytest.raises(DataError, match=message):
            encoder.encode(texts)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda texts: np.ones((1, 4)), r"returned shape \(1, 4\), expected \(2, 4\)"),
        (lambda texts: np.full((2, 4), np.nan), "nan at row 0"),
        (lambda texts: np.zeros((2, 4)), "all zeros"),
        (lambda texts: [[1, 2], [3]], "rows differ in length"),
        (lambda texts: ["a", "b"], "must be numbers"),
        (lambda texts: [1.0, 2.0], "must be a table"),
    ],
)
def test_a_callable_that_returns_nonsense_is_named(
    function: Callable[[list[str]], object], message: str
) -> None:
    with pytest.raises(DataError, match=f"text encoder 'mine'.*{message}"):
        CallableEncoder(function, "mine").encode(["a", "b"])  # type: ignore[arg-type]


def test_a_callable_whose_width_changes_is_named() -> None:
    growing = CallableEncoder(lambda texts: np.ones((len(texts), len(texts))), "growing")
    assert growing.dim == 1
    with pytest.raises(DataError, match=r"expected \(2, 1\)"):
        growing.encode(["a", "b"])


def test_names_are_checked() -> None:
    with pytest.raises(ConfigError, match="needs an identity"):
        CallableEncoder(letters, " ")
    with pytest.raises(ConfigError, match="did you mean 'minilm'"):
        load_encoder("mini-lm")


@settings(max_examples=25)
@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=3))
def test_any_text_that_can_be_written_has_a_finite_vector(
    minilm: TextEncoder, texts: list[str]
) -> None:
    vectors = minilm.encode(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_network_is_needed(tmp_path: Path) -> None:
    """In a new process with an empty home, every attempt to connect would be an error."""
    program = """
import socket
def refuse(*_): raise AssertionError("reached for the network")
socket.socket.connect = socket.getaddrinfo = refuse
from mczsl.encoders.text import load_encoder
print(load_encoder().encode(["a red apple"]).shape)
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "(1, 384)\n", done.stderr
    assert not any(tmp_path.iterdir())
