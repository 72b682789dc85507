"""The classes that a model knows: a stable number, a description, and whether they have been seen.

Every change gives a new table, so whoever holds the old one is not disturbed.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mczsl.errors import DataError, unknown_name
from mczsl.estimator.labels import Kind, Label, kind_of
from mczsl.protocols import ClassSet
from mczsl.seeding import numpy_generator

CODE_WIDTH = 256


@dataclass(frozen=True, eq=False)
class ClassTable:
    """Classes, sorted by label. A number is given once and never to another class."""

    labels: tuple[Label, ...]
    ids: Tensor
    attributes: Tensor
    seen: Tensor
    next_id: int

    @staticmethod
    def empty(attribute_dim: int) -> ClassTable:
        """A table without classes."""
        return ClassTable(
            labels=(),
            ids=torch.empty(0, dtype=torch.int64),
            attributes=torch.empty(0, attribute_dim),
            seen=torch.empty(0, dtype=torch.bool),
            next_id=0,
        )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def places(self) -> dict[Label, int]:
        """Where each label stands."""
        return {label: place for place, label in enumerate(self.labels)}

    @property
    def kind(self) -> Kind | None:
        """The sort of labels; None as long as there are none."""
        return kind_of(self.labels[0]) if self.labels else None

    @property
    def attribute_dim(self) -> int:
        """How many numbers describe a class."""
        return int(self.attributes.shape[1])

    def find(self, labels: Sequence[Label]) -> Tensor:
        """Where these classes stand; a class that is not known is an error."""
        for label in labels:
            if label not in self.places:
                names = [str(known) for known in self.labels]
                if len(names) > 20:  # the nearest are enough
                    names = difflib.get_close_matches(str(label), names, n=5, cutoff=0.3)
                raise unknown_name("class", str(label), names, error=DataError)
        return torch.tensor([self.places[label] for label in labels], dtype=torch.int64)

    def with_classes(self, labels: Sequence[Label], attributes: NDArray[np.float32]) -> ClassTable:
        """A table with more classes, not seen yet."""
        every = [*self.labels, *labels]
        order = sorted(range(len(every)), key=lambda place: every[place])
        ids = torch.cat([self.ids, torch.arange(self.next_id, self.next_id + len(labels))])
        rows = torch.cat([self.attributes, torch.from_numpy(attributes)])
        seen = torch.cat([self.seen, torch.zeros(len(labels), dtype=torch.bool)])
        return ClassTable(
            labels=tuple(every[place] for place in order),
            ids=ids[order],
            attributes=rows[order],
            seen=seen[order],
            next_id=self.next_id + len(labels),
        )

    def without_classes(self, labels: Collection[Label]) -> ClassTable:
        """A table without these classes."""
        gone = set(labels)
        kept = [place for place, label in enumerate(self.labels) if label not in gone]
        return replace(
            self,
            labels=tuple(self.labels[place] for place in kept),
            ids=self.ids[kept],
            attributes=self.attributes[kept],
            seen=self.seen[kept],
        )

    def with_seen(self, now: Tensor) -> ClassTable:
        """A table in which these classes (a mask) have been seen."""
        return replace(self, seen=self.seen | now)

    def select(self, which: Tensor) -> ClassSet:
        """The classes at these places (an index or a mask), as methods take them."""
        return ClassSet(self.ids[which], self.attributes[which])


def one_hot_codes(labels: Sequence[Label]) -> NDArray[np.float32]:
    """What stands for the attributes of classes that nobody described.

    One-hot vectors need one dimension for every class that will ever come, and a net has a fixed
    number of inputs. So they are projected to 256 dimensions by a random matrix of signs: a class's
    code is a row of that matrix, drawn from the label alone. Two codes are nearly orthogonal (their
    cosine is about 1/16), as one-hot vectors are exactly.
    """
    generators = (numpy_generator(0, "one-hot", kind_of(label), str(label)) for label in labels)
    return np.stack([generator.choice([-1.0, 1.0], CODE_WIDTH) for generator in generators]).astype(
        np.float32
    )
