"""The conditional auto-encoder: its loss by hand, and features that belong to their classes."""

import numpy as np
import torch

from mczsl.methods.cvae import CVAE
from mczsl.protocols import class_set
from tests.methods.streams import build, learned, stream

QUICK = {"hidden": 64, "latent": 8, "epochs": 60}


def test_the_loss_is_squared_error_and_divergence() -> None:
    dataset, _ = stream()
    method = build("cvae_res", dataset, 0, beta=0.5, hidden=16)
    assert isinstance(method, CVAE)
    x, a = torch.randn(7, 32), torch.randn(7, 16)
    found = method.loss(x, a, 0.0, torch.Generator().manual_seed(3))
    q = method.net.encoder(torch.cat([x, a], dim=1))
    z = q.sample(torch.Generator().manual_seed(3))
    x_again = method.net.decoder(torch.cat([z, a], dim=1))
    error = ((x - x_again) ** 2).sum() / 7
    divergence = (q.mean**2 + q.deviation**2 - q.log_variance - 1).sum() / 2 / 7
    torch.testing.assert_close(found, error + 0.5 * divergence)


def test_generated_features_lie_near_their_class() -> None:
    dataset, plan = stream("gzsl", tasks=None)
    method = learned("cvae_res", dataset, plan, **QUICK)
    assert isinstance(method, CVAE)
    seen = class_set(dataset, dataset.seen_classes)
    drawn = method.generate(method.prepare(seen.attributes), 50, torch.Generator().manual_seed(0))
    assert drawn.shape == (50, len(seen), 32)
    rows = dataset.splits.test_seen
    real = method.prepare(torch.from_numpy(np.asarray(dataset.features[rows])))
    nearest = torch.cdist(real, drawn.mean(dim=0)).argmin(dim=1)
    right = seen.ids[nearest].numpy() == dataset.labels[rows]
    assert right.mean() > 5 / len(seen)
