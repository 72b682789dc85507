"""The figures that the papers and their authors' code give, as the methods here use them.

Where a figure shows in what a method does, it is looked for there: in the net, in the optimiser, in
the loss. The rest is compared by name.
"""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mczsl.methods import generative, get_method, make_config
from mczsl.methods.cada_vae import CADA
from mczsl.methods.nm_zsl import PUBLISHED_FACTOR
from mczsl.methods.replay import ReplayMethod
from mczsl.testing.subject import Subject
from mczsl.testing.world import ATTRIBUTES, FEATURES, WORLD

# Method and preset; a figure by the name of its setting.
FIGURES: dict[tuple[str, str], dict[str, Any]] = {
    # Skorokhodov and Elhoseiny 2021, and their public code.
    ("nm_zsl", "paper"): {
        **{"hidden": 1024, "scale": 25, "learn_scale": False, "attribute_scaling": "l2"},
        **{"rate": 5e-4, "weight_decay": 1e-4, "epochs": 50, "batch_size": 256},
        **{"calibration": "none", "feature_transform": "none", "memory": "reservoir"},
    },
    # Schonfeld et al. 2019: latent space, widths, last weights, training.
    ("cada_res", "paper"): {
        **{"latent": 64, "feature_encoder": 1560, "feature_decoder": 1660},
        **{"attribute_encoder": 1450, "attribute_decoder": 665},
        **{"beta": 0.25, "gamma": 2.37, "delta": 8.13},
        **{"rate": 1.5e-4, "epochs": 100, "batch_size": 50},
        "unseen_weight": 400 / 200,  # that many latent points of an unseen and of a seen class
    },
    # Mishra et al. 2018; the epochs are those of CADA, as theirs are not given.
    ("cvae_res", "paper"): {"latent": 50, "hidden": 512, "beta": 1, "epochs": 100},
    # Verma et al. 2021. Ways, shots and inner steps are those of the first author's earlier code,
    # and the factor on the cosine is that of NM-ZSL's: the paper gives none of them.
    ("mczsl", "paper"): {
        **{"hidden": 2048, "epochs": 200, "rate": 1e-3, "inner_rate": 1e-4},
        **{"ways": 10, "shots": 5, "inner_steps": 5, "scale": 25},
        **{"meta": True, "gating": True, "normalisation": "scaled", "softmax_over": "episode"},
        **{"calibration": "none", "feature_transform": "none", "metric": "cosine"},
        **{"replay": "samples", "memory": "reservoir", "virtual": 0, "attribute_dropout": 0},
    },
}
FIGURES["nm_zsl", "default"] = FIGURES["nm_zsl", "paper"]
FIGURES["seq_cada", "paper"] = {**FIGURES["cada_res", "paper"], "memory": "none"}
FIGURES["seq_cvae", "paper"] = {**FIGURES["cvae_res", "paper"], "memory": "none"}
# The net and the training of NM-ZSL without its normalisation; without and with a memory.
FIGURES["sequential", "default"] = {**FIGURES["nm_zsl", "paper"], "memory": "none"}
FIGURES["agem", "default"] = FIGURES["nm_zsl", "paper"]


@pytest.mark.parametrize(("name", "preset"), FIGURES)
def test_settings_are_the_published_ones(name: str, preset: str) -> None:
    config = make_config(get_method(name), preset).model_dump()
    expected = FIGURES[name, preset]
    assert {key: config[key] for key in expected} == expected


def test_the_factor_on_seen_scores_is_the_published_one() -> None:
    assert PUBLISHED_FACTOR == 0.95


def built(name: str, **settings: Any) -> Any:
    preset = get_method(name).presets["paper"]
    return Subject(name, {**preset, **settings}).build()


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        # Encoders give a mean and a deviation for each of the latent dimensions.
        ("cvae_res", [(18, 512), (512, 2 * 50), (50 + 6, 512), (512, 12)]),
        (
            "cada_res",
            [
                *((12, 1560), (1560, 2 * 64), (64, 1660), (1660, 12)),
                *((6, 1450), (1450, 2 * 64), (64, 665), (665, 6)),
            ],
        ),
        ("nm_zsl", [(6, 1024), (1024, 1024), (1024, 12)]),
        ("mczsl", [(6, 3 * 2048), (2048, 12)]),  # the three layers of the gate in one
    ],
)
def test_nets_have_the_published_layers(name: str, layers: list[tuple[int, int]]) -> None:
    assert (FEATURES, ATTRIBUTES) == (12, 6)
    method = built(name)
    assert isinstance(method, ReplayMethod)
    linear = [layer for layer in method.net.modules() if isinstance(layer, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in linear] == layers


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nm_zsl", {"lr": 5e-4, "weight_decay": 1e-4, "amsgrad": False}),
        ("cada_res", {"lr": 1.5e-4, "weight_decay": 0, "amsgrad": True}),
    ],
)
def test_the_optimiser_is_the_published_one(
    name: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[dict[str, Any]] = []
    step = torch.optim.Adam.step

    def noting(adam: torch.optim.Adam) -> None:
        used.append({key: adam.param_groups[0][key] for key in expected})
        step(adam)

    monkeypatch.setattr(torch.optim.Adam, "step", noting)
    method = built(name, epochs=2)
    next(iter(method.learn(WORLD.task(0, method.uses_unseen_attributes))))
    assert used
    assert all(each == expected for each in used)


def test_an_unseen_class_counts_as_its_number_of_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 points of an unseen class and 200 of a seen one: here twice the weight."""
    noted: list[Tensor] = []
    train_softmax = generative.train_softmax

    def noting(draw: Any, class_weights: Tensor, *rest: Any) -> nn.Linear:
        noted.append(class_weights)
        return train_softmax(draw, class_weights, *rest)

    monkeypatch.setattr(generative, "train_softmax", noting)
    method = built("cada_res", epochs=1, classifier_steps=1)
    task = WORLD.task(0, True)
    list(method.learn(task))
    assert noted[-1].tolist() == [1.0] * len(task.seen) + [400 / 200] * len(task.unseen)


# When each weight of CADA rises from 0 to its last value, in epochs of 100: the public code.
RISES = {"beta": (0, 93, 0.25), "gamma": (21, 75, 2.37), "delta": (6, 22, 8.13)}


@pytest.mark.parametrize("weight", RISES)
def test_the_weights_of_cada_rise_when_published(weight: str) -> None:
    first, last, most = RISES[weight]
    risen = [first + 1, (first + last) / 2, last - 1]
    expected = {epoch: most * (epoch - first) / (last - first) for epoch in risen}
    expected |= {0: 0.0, first: 0.0, last: most, 99: most}
    others = dict.fromkeys(set(RISES) - {weight}, 0.0)
    published, plain = built("cada_res", **others), built("cada_res", **others, **{weight: 0.0})
    unit = built("cada_res", **others, **{weight: 1.0})
    term = loss(unit, 1.0) - loss(plain, 1.0)
    for epoch, value in expected.items():
        found = (loss(published, epoch / 100) - loss(plain, epoch / 100)) / term
        # The losses are some tens in single precision.
        assert found == pytest.approx(value, rel=1e-3, abs=1e-3)


def loss(method: CADA, share: float) -> float:
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(7, FEATURES, generator=generator)
    a = torch.randn(7, ATTRIBUTES, generator=generator)
    with torch.no_grad():
        return float(method.loss(x, a, share, torch.Generator().manual_seed(4)))


def test_the_weights_of_cada_are_taken_at_the_share_of_the_epochs() -> None:
    method, shares = built("cada_res", epochs=4), []
    loss = method.loss

    def noting(x: Tensor, a: Tensor, share: float, generator: torch.Generator) -> Tensor:
        shares.append(share)
        return loss(x, a, share, generator)

    method.loss = noting
    list(method.learn(WORLD.task(0, True)))
    assert sorted(set(shares)) == [0, 0.25, 0.5, 0.75]
