"""What all methods share that generate features of classes and train a softmax on them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from mczsl.methods.base import Progress, Scorer, State
from mczsl.methods.replay import ReplayConfig, ReplayMethod, positions
from mczsl.nn.softmax_classifier import train_softmax
from mczsl.protocols import ClassSet, Samples, Task
from mczsl.seeding import torch_generator


class GenerativeConfig(ReplayConfig):
    """Settings of a generative net and of the classifier behind it."""

    latent: int = Field(64, ge=1, description="dimensions of the latent space")
    rate: float = Field(1e-3, gt=0, description="learning rate of Adam")
    epochs: int = Field(25, ge=1)
    batch_size: int = Field(50, ge=1)
    classifier_steps: int = Field(100, ge=1, description="steps that train the classifier")
    classifier_shots: int = Field(2, ge=1, description="samples of each class in such a step")
    classifier_rate: float = Field(1e-3, gt=0, description="learning rate of the classifier")
    unseen_weight: float = Field(
        2.0, gt=0, description="weight of a generated sample when its class is unseen"
    )


class GenerativeMethod(ReplayMethod):
    """Learns to generate, then trains a linear softmax on generated samples of all known classes.

    The classifier is trained at the end of each task. It depends on nothing but the net and the
    classes, so it needs no place in the state, and any other set of classes gets one of its own.
    """

    config: GenerativeConfig
    uses_unseen_attributes: bool = True
    classes_are_independent: bool = False
    _classifier: tuple[ClassSet, nn.Linear] | None = None

    @abstractmethod
    def loss(
        self, features: Tensor, attributes: Tensor, share: float, generator: torch.Generator
    ) -> Tensor:
        """The net's loss on prepared samples and attributes, after this share of the epochs."""

    @abstractmethod
    def generate(self, attributes: Tensor, shots: int, generator: torch.Generator) -> Tensor:
        """Points (shots, n, width) of the classes with these prepared attributes (n, A)."""

    @abstractmethod
    def represent(self, features: Tensor) -> Tensor:
        """Prepared features (n, D) in the space where points are generated, (n, width)."""

    def prepare(self, features: Tensor) -> Tensor:
        """Features, or attributes, with about 1 in each dimension: as long as the root of those."""
        return normalize(super().prepare(features), dim=1) * math.sqrt(features.shape[1])

    def train(self, samples: Samples, task: Task) -> Iterator[Progress]:
        """Shuffled batches for some epochs."""
        config = self.config
        attributes = self.prepare(task.seen.attributes)[positions(samples.labels, task.seen.ids)]
        adam = torch.optim.Adam(self.net.parameters(), lr=config.rate, amsgrad=True, fused=True)
        generator = torch_generator(self.setting.seeds.training, "batches", task.index)
        for epoch in range(config.epochs):
            self._classifier = None  # it would be of a net that is no more
            order = torch.randperm(len(attributes), generator=generator)
            for rows in order.split(config.batch_size):
                adam.zero_grad(set_to_none=True)
                share = epoch / config.epochs
                loss = self.loss(samples.take(rows), attributes[rows], share, generator)
                loss.backward()
                adam.step()
            yield Progress(epoch + 1, config.epochs, loss.item())

    def learn(self, task: Task) -> Iterator[Progress]:
        """Train the net, then the classifier of all classes known so far."""
        yield from super().learn(task)
        self._classifier = None
        self.classifier(task.seen + task.unseen)

    def classifier(self, classes: ClassSet) -> nn.Linear:
        """The softmax classifier of these classes; the last one is kept."""
        if self._classifier is not None and _same(classes, self._classifier[0]):
            return self._classifier[1]
        config, attributes = self.config, self.prepare(classes.attributes)
        weights = torch.where(torch.isin(classes.ids, self.seen), 1.0, config.unseen_weight)
        generator = torch_generator(self.setting.seeds.training, "classifier")

        @torch.no_grad()
        def draw() -> Tensor:
            return self.generate(attributes, config.classifier_shots, generator)

        linear = train_softmax(
            draw, weights.to(attributes.device), config.classifier_steps, config.classifier_rate
        )
        self._classifier = (classes, linear)
        return linear

    @torch.no_grad()
    def scorer(self, classes: ClassSet) -> Scorer:
        """Logits of the classifier of these classes."""
        linear = self.classifier(classes)
        return lambda features: linear(self.represent(self.prepare(features)))

    def load_state(self, state: State) -> None:
        """Take over weights and memory; the classifier follows from them."""
        super().load_state(state)
        self._classifier = None


def _same(one: ClassSet, other: ClassSet) -> bool:
    return torch.equal(one.ids, other.ids) and torch.equal(one.attributes, other.attributes)
