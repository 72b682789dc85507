"""The aligned auto-encoders: the loss term by term, its warm-up, and one latent space."""

from itertools import pairwise

import numpy as np
import torch

from mczsl.methods.cada_vae import CADA
from mczsl.protocols import class_set
from tests.methods.streams import build, learned, stream

SMALL = {"feature_encoder": 64, "feature_decoder": 64, "attribute_encoder": 64}
SMALL |= {"attribute_decoder": 64, "latent": 16}


def untrained(**weights: float) -> CADA:
    method = build("cada_res", stream()[0], 0, **SMALL, **weights)
    assert isinstance(method, CADA)
    return method


def loss(method: CADA, share: float) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    x, a = torch.randn(7, 32, generator=generator), torch.randn(7, 16, generator=generator)
    return method.loss(x, a, share, torch.Generator().manual_seed(4)).detach()


def test_the_loss_term_by_term() -> None:
    method = untrained(beta=0.3, gamma=2.0, delta=8.0)
    generator = torch.Generator().manual_seed(3)
    x, a = torch.randn(7, 32, generator=generator), torch.randn(7, 16, generator=generator)
    features, attributes = method.net.features, method.net.attributes
    q_x, q_a = features.encoder(x), attributes.encoder(a)
    noise = torch.Generator().manual_seed(4)
    z_x, z_a = q_x.sample(noise), q_a.sample(noise)
    terms = [(x - features.decoder(z_x)).abs().sum() + (a - attributes.decoder(z_a)).abs().sum()]
    terms += [0.3 * (q_x.divergence() + q_a.divergence()).sum()]
    terms += [2.0 * (x - features.decoder(z_a)).abs().sum()]
    terms += [2.0 * (a - attributes.decoder(z_x)).abs().sum()]
    means, deviations = q_x.mean - q_a.mean, q_x.deviation - q_a.deviation
    terms += [8.0 * (means.square().sum(dim=1) + deviations.square().sum(dim=1)).sqrt().sum()]
    torch.testing.assert_close(loss(method, 1.0), torch.stack(terms).sum() / 7)


def test_the_weights_rise_one_after_the_other() -> None:
    """At the start only the auto-encoders' own errors count; nothing ever falls again."""
    bare = loss(untrained(beta=0, gamma=0, delta=0), 0.5)
    full = untrained()
    torch.testing.assert_close(loss(full, 0.0), bare)
    path = [loss(full, share).item() for share in np.linspace(0, 1, 11)]
    assert all(after >= before for before, after in pairwise(path))
    assert path[-1] > 1.5 * path[0]


def test_features_and_attributes_meet_in_the_latent_space() -> None:
    dataset, plan = stream("gzsl", tasks=None)
    method = learned("cada_res", dataset, plan, **SMALL, epochs=60, rate=1e-3)
    assert isinstance(method, CADA)
    classes = class_set(dataset, dataset.seen_classes)
    points = method.net.attributes.encoder(method.prepare(classes.attributes)).mean
    rows = dataset.splits.test_seen
    real = method.represent(method.prepare(torch.from_numpy(np.asarray(dataset.features[rows]))))
    nearest = torch.cdist(real, points).argmin(dim=1)
    assert (classes.ids[nearest].numpy() == dataset.labels[rows]).mean() > 5 / len(classes)
