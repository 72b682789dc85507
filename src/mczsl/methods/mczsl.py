"""MCZSL: meta-learned attribute self-gating for continual generalized zero-shot learning.

Verma, Liang, Mehta and Carin, 2021. A class's attributes a become a prototype in feature space,

    h = ReLU(Phi_a(a)) * sigmoid(Phi_s(a)) + ReLU(Phi_b(a))          self-gating
    p = SCN(W SCN(h)),   SCN(h) = (h - alpha mu) / (beta sigma)      scaled class normalisation

and a sample belongs to the class whose prototype has the largest cosine to it. The net is trained
with Reptile on N-way K-shot episodes from the current task and a reservoir of past samples: z steps
of Adam lead from theta to theta~, then the outer Adam steps along theta - theta~.

Beyond the paper, and off in the preset ``paper``: an offset on seen classes (calibration), virtual
classes, dropout on attributes, a metric that plays down what varies inside of classes, and a replay
from class means: every sample is its class's mean and a deviation from it, and past classes, of
which the mean is kept, borrow the deviations of all samples at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from mczsl.memory.class_means import ClassMeans
from mczsl.methods.base import Progress, Setting, State
from mczsl.methods.prototypes import PrototypeConfig, PrototypeMethod, positions
from mczsl.methods.registry import register_method
from mczsl.nn.episodes import EpisodeSampler, VirtualClasses, drop
from mczsl.nn.reptile import Loss, PlainAdam, Reptile
from mczsl.nn.scaled_norm import ScaledNorm
from mczsl.nn.self_gating import SelfGating
from mczsl.nn.within_class import WIDEST, WithinClassMetric
from mczsl.protocols import Samples, Task
from mczsl.protocols.pool import pool_of
from mczsl.seeding import torch_generator

MOST_EPISODES = 8  # in an epoch: where a class has hundreds of samples, more do not help
_MOST_DEVIATIONS = 2**13  # samples of a task from which the metric is learned


class MCZSLConfig(PrototypeConfig):
    """Settings of MCZSL. The defaults are ours; ``--preset paper`` is faithful to the text."""

    calibration: Literal["none", "auto"] = "auto"
    feature_transform: Literal["none", "sqrt"] = Field(
        "sqrt", description="square root of every feature, if the first ones are never negative"
    )
    metric: Literal["cosine", "within-class"] = Field(
        "within-class",
        description="compare by the plain cosine, or play down what varies inside of classes "
        "(with up to 4096 features)",
    )
    replay: Literal["samples", "means"] = Field(
        "means",
        description="past classes come back as remembered samples, or as their mean with "
        "deviations of all samples; means take up room of the memory",
    )
    gating: bool = Field(True, description="attribute self-gating (off: one ReLU layer)")
    normalisation: Literal["scaled", "unscaled", "none"] = "scaled"
    norm_over: Literal["features", "classes"] = Field(
        "features", description="mean and deviation of a class over its dimensions, or over classes"
    )
    output_relu: bool = Field(False, description="ReLU behind the projection")
    meta: bool = Field(False, description="Reptile (off: plain Adam on such episodes)")
    ways: int = Field(50, ge=1, description="N, classes in an episode")
    shots: int = Field(8, ge=1, description="K, samples of each class in an episode")
    inner_steps: int = Field(5, ge=1, description="z, Adam steps inside an episode")
    inner_rate: float = Field(1e-4, gt=0, description="learning rate of the inner Adam")
    inner_state: Literal["second-moment", "keep", "reset"] = Field(
        "second-moment", description="what the inner Adam carries to the next episode"
    )
    rate: float = Field(1e-3, gt=0, description="first learning rate of the outer (or plain) Adam")
    epochs: int = Field(60, ge=1, description="E, over which the rate falls to 0")
    episodes: int | None = Field(
        None,
        ge=1,
        description="episodes in an epoch; by default as many as go through the task, at most 8",
    )
    virtual: float = Field(
        1.0, ge=0, le=10, description="virtual classes for each class of an episode"
    )
    attribute_dropout: float = Field(
        0.15, ge=0, lt=1, description="share of attributes that is hidden at each step"
    )
    softmax_over: Literal["episode", "seen"] = Field(
        "episode", description="classes that compete in training: the episode's, or all with data"
    )


class PrototypeNet(nn.Sequential):
    """Gating, normalisation, projection, normalisation; each part can be left out (ablations)."""

    def __init__(self, config: MCZSLConfig, attribute_dim: int, feature_dim: int):
        def norm(width: int) -> nn.Module:
            if config.normalisation == "none":
                return nn.Identity()
            return ScaledNorm(width, config.norm_over, scaled=config.normalisation == "scaled")

        gate = (
            SelfGating(attribute_dim, config.hidden)
            if config.gating
            else nn.Sequential(nn.Linear(attribute_dim, config.hidden), nn.ReLU())
        )
        project = nn.Linear(config.hidden, feature_dim)
        activation = nn.ReLU() if config.output_relu else nn.Identity()
        super().__init__(gate, norm(config.hidden), project, activation, norm(feature_dim))


@register_method("mczsl")
class MCZSL(PrototypeMethod):
    """Meta-continual zero-shot learning: self-gating, scaled normalisation, replay, Reptile."""

    Config = MCZSLConfig
    config: MCZSLConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "hidden": 2048,
            "epochs": 200,
            "episodes": 1,
            "ways": 10,
            "shots": 5,
            "calibration": "none",
            "meta": True,
            "feature_transform": "none",
            "metric": "cosine",
            "replay": "samples",
            "virtual": 0,
            "attribute_dropout": 0,
        }
    }

    def __init__(self, config: MCZSLConfig, setting: Setting):
        super().__init__(config, setting)
        wanted = config.metric == "within-class" and setting.feature_dim <= WIDEST
        self.metric = WithinClassMetric(setting.feature_dim, setting.device) if wanted else None
        self.means = ClassMeans.empty(setting.feature_dim, setting.device)

    def build_net(self) -> nn.Module:
        """Self-gating and projection with scaled normalisation."""
        return PrototypeNet(self.config, self.setting.attribute_dim, self.setting.feature_dim)

    def observe(self, samples: Samples) -> None:
        """Learn the metric and the means of the classes that arrive."""
        super().observe(samples)
        by_means = self.config.replay == "means" and self.memory.capacity > 0
        if self.metric is None and not by_means:
            return
        arrived = ClassMeans.of(samples, self.directions)
        if self.metric is not None:
            count, device = len(samples.labels), self.setting.device
            generator = torch_generator(self.setting.seeds.training, "deviations", len(self.seen))
            rows = torch.arange(count)
            if count > _MOST_DEVIATIONS:
                rows = torch.randperm(count, generator=generator)[:_MOST_DEVIATIONS]
            own = arrived.means[arrived.places(samples.labels[rows]).to(device)]
            freedom = len(rows) * (1 - len(arrived) / count)
            self.metric.add(self.directions(samples.take(rows)), own, freedom)
        # A class without a mean in the memory: there was no room for means before.
        if by_means and torch.isin(self.memory.samples.labels, self.means.ids).all():
            self._keep(self.means + arrived)

    def _keep(self, means: ClassMeans) -> None:
        """Means may take half of the memory's capacity; with more classes samples have to do."""
        if 2 * len(means) > self.memory.capacity:
            means = ClassMeans.empty(self.setting.feature_dim, self.setting.device)
        self.means, self.memory.taken = means, len(means)

    def prepare(self, features: Tensor) -> Tensor:
        """Directions of features, in the learned metric."""
        directions = super().prepare(features)
        return directions if self.metric is None else directions @ self.metric.map

    def class_weights(self, prototypes: Tensor) -> Tensor:
        """The metric is put into the classes' side, where it costs least."""
        weights = super().class_weights(prototypes)
        return weights if self.metric is None else weights @ self.metric.map.T

    def train(self, samples: Samples, task: Task) -> Iterator[Progress]:
        """Episodes for E epochs, with an outer rate that falls to zero."""
        config = self.config
        generator = torch_generator(self.setting.seeds.training, "episodes", task.index)
        samples = pool_of(samples, self.setting.feature_dim, generator)
        past = self.means.ids[~torch.isin(self.means.ids, task.samples.labels)]
        sampler = EpisodeSampler(samples.labels, config.ways, config.shots, generator, past)
        borrow = self._borrower(samples.labels, sampler.classes) if len(past) else None
        attributes = task.seen.attributes[positions(sampler.classes, task.seen.ids)]
        passes = len(task.samples.labels) / (config.ways * config.shots)
        episodes = config.episodes or min(max(1, round(passes)), MOST_EPISODES)
        learner = self._learner()
        for epoch in range(config.epochs):
            learner.anneal(1 - epoch / max(1, config.epochs - 1))
            for _ in range(episodes):
                chosen, rows = sampler.draw()
                features = samples.take(rows.flatten()).unflatten(0, rows.shape)
                if borrow is not None:
                    features = borrow(features, chosen, rows)
                loss = learner.step(self._episode_loss(features, attributes, chosen, generator))
            yield Progress(epoch + 1, config.epochs, loss.item())

    def _borrower(
        self, labels: Tensor, classes: Tensor
    ) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        """Moves drawn samples to the means of the classes that they were drawn for."""
        means = self.means.means
        if self.metric is not None:
            means = means @ self.metric.map
        of_sample, of_class = self.means.places(labels), self.means.places(classes)

        def borrow(features: Tensor, chosen: Tensor, rows: Tensor) -> Tensor:
            wanted, had = means[of_class[chosen]].unsqueeze(1), means[of_sample[rows]]
            return features + (wanted - had)

        return borrow

    def _learner(self) -> Reptile | PlainAdam:
        config, parameters = self.config, self.parameters()
        if not config.meta:
            return PlainAdam(parameters, config.rate)
        return Reptile(
            parameters, config.rate, config.inner_rate, config.inner_steps, config.inner_state
        )

    def _episode_loss(
        self, features: Tensor, attributes: Tensor, chosen: Tensor, generator: torch.Generator
    ) -> Loss:
        """Cross-entropy of an episode: features (ways, shots, D) of the chosen classes."""
        config, targets = self.config, chosen
        attributes = attributes.to(features.device)
        if config.softmax_over == "episode":
            attributes, targets = attributes[chosen], torch.arange(len(chosen))
        virtual = VirtualClasses(len(chosen), round(config.virtual * len(chosen)), generator)
        between = virtual.attributes(attributes[targets])
        targets = torch.cat([targets, len(attributes) + torch.arange(len(between))])
        targets = targets.repeat_interleave(features.shape[1]).to(features.device)
        inputs = self.net_inputs(torch.cat([attributes, between]))

        def loss() -> Tensor:
            shown = drop(inputs, config.attribute_dropout, generator)
            logits = self.logits(features.flatten(0, 1), shown).unflatten(0, features.shape[:2])
            return cross_entropy(torch.cat([logits, virtual.logits(logits)]).flatten(0, 1), targets)

        return loss

    def state(self) -> State:
        """What the net, the memories and the metric have learned."""
        kept = self.means
        means = State({"labels": kept.ids, "counts": kept.counts, "sums": kept.sums.cpu()})
        state = super().state().with_part("mean_memory", means)
        return (
            state if self.metric is None else state.with_part("metric", State(self.metric.state()))
        )

    def load_state(self, state: State) -> None:
        """Take over what :meth:`state` gave."""
        if self.metric is not None:
            self.metric.load_state(state.part("metric").tensors)
        means = state.part("mean_memory").tensors
        self._keep(
            ClassMeans(means["labels"], means["counts"], means["sums"].to(self.setting.device))
        )
        super().load_state(state)
