"""(b) A whole GZSL training on CUB against a plain implementation of NM-ZSL's published recipe."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize
from torch.utils.data import DataLoader, TensorDataset

from mczsl.data import FeatureDataset
from mczsl.methods import get_method
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run

BUDGETS = (0.05, 0.1, 0.2, 0.35, 0.5, 1.0)  # shares of the default preset's epochs


def run() -> dict[str, Any]:
    """Seconds to NM-ZSL's final H, and to the end, for both."""
    config = real_cub_or_synthetic()
    dataset = Run(config).dataset
    plain_h, plain_seconds = _plain_nm_zsl(dataset)
    result: dict[str, Any] = {
        "dataset": f"{dataset.name} {dataset.provenance.get('features')}",
        "plain_nm_zsl": {"H": plain_h, "seconds": plain_seconds},
        "mczsl": [],
    }
    full = get_method("mczsl").Config.model_fields["epochs"].default
    for share in BUDGETS:
        epochs = max(2, round(share * full))
        record = Run(config.model_copy(update={"settings": {"epochs": epochs}})).finish()
        point = {"epochs": epochs, "H": record["mH"], "seconds": record["train_seconds"]}
        result["mczsl"].append(point)
        if record["mH"] >= plain_h and "ratio_to_same_H" not in result:
            result["ratio_to_same_H"] = plain_seconds / record["train_seconds"]
    result["ratio_to_the_end"] = plain_seconds / result["mczsl"][-1]["seconds"]
    return result


def real_cub_or_synthetic() -> RunConfig:
    """GZSL on CUB where it is at hand, and on synthetic data of its shapes elsewhere."""
    root = os.environ.get("MCZSL_DATA")
    if root and (Path(root) / "CUB" / "effnetlite0.mat").exists():
        return RunConfig(dataset="CUB", features="effnetlite0", semantics="att", data_root=root)
    return RunConfig(dataset="synthetic:cub")


class ClassNorm(nn.Module):
    """Class normalisation as published: over the classes, divided by the variance."""

    def __init__(self, width: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, hidden: Tensor) -> Tensor:
        if self.training:
            mean, variance = hidden.mean(0), hidden.var(0, unbiased=False)
            self.mean = 0.9 * self.mean + 0.1 * mean.detach()
            self.variance = 0.9 * self.variance + 0.1 * variance.detach()
        else:
            mean, variance = self.mean, self.variance
        return (hidden - mean) / (variance + 1e-5)


def _plain_nm_zsl(dataset: FeatureDataset) -> tuple[float, float]:
    """Batches of 256 from a DataLoader, 50 epochs, all seen classes in every step.

    Gives H in percent and the seconds of training, without the test.
    """
    begin = time.perf_counter()
    torch.manual_seed(0)
    features = torch.from_numpy(dataset.features[:].astype("float32"))
    labels, splits = torch.from_numpy(dataset.labels), dataset.splits
    attributes = torch.from_numpy(dataset.attributes)
    attributes = normalize(attributes, dim=1) * attributes.shape[1] ** 0.5
    seen = torch.from_numpy(dataset.seen_classes)
    width, hidden = features.shape[1], 1024
    last = nn.Linear(hidden, width)
    bound = (3 / (hidden * width)) ** 0.5
    nn.init.uniform_(last.weight, -bound, bound)
    net = nn.Sequential(
        *(nn.Linear(attributes.shape[1], hidden), nn.ReLU(), nn.Linear(hidden, hidden)),
        *(ClassNorm(hidden), nn.ReLU(), ClassNorm(hidden), last, nn.ReLU()),
    )
    adam = torch.optim.Adam(net.parameters(), lr=5e-4, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(adam, 25, gamma=0.1)
    train = torch.from_numpy(splits.trainval)
    targets = torch.searchsorted(seen, labels[train])
    loader = DataLoader(TensorDataset(features[train], targets), batch_size=256, shuffle=True)
    for _ in range(50):
        for batch, target in loader:
            adam.zero_grad()
            logits = 25 * normalize(batch, dim=1) @ normalize(net(attributes[seen]), dim=1).T
            cross_entropy(logits, target).backward()
            adam.step()
        schedule.step()
    trained = time.perf_counter() - begin
    net.eval()
    with torch.no_grad():
        prototypes = normalize(net(attributes), dim=1)
        candidates = torch.cat([seen, torch.from_numpy(dataset.unseen_classes)])
        accuracy = []
        for rows in (splits.test_seen, splits.test_unseen):
            guess = candidates[(features[rows] @ prototypes[candidates].T).argmax(1)]
            right = (guess == labels[rows]).double()
            accuracy.append(
                torch.stack([right[labels[rows] == c].mean() for c in labels[rows].unique()]).mean()
            )
    one, two = (float(value) for value in accuracy)
    return 200 * one * two / (one + two), trained
