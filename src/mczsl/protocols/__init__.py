"""The three evaluation settings: ``gzsl``, ``fixed`` and ``dynamic`` continual GZSL."""

from mczsl.data import FeatureDataset
from mczsl.errors import unknown_name
from mczsl.protocols import dynamic, fixed, gzsl
from mczsl.protocols.plan import Plan, Stage, class_set
from mczsl.protocols.task import (
    ClassSet,
    JoinedSamples,
    PreparedSamples,
    Samples,
    SelectedSamples,
    TableSamples,
    Task,
    TensorSamples,
)
from mczsl.seeding import Seeds

PROTOCOLS = {"gzsl": gzsl.plan, "fixed": fixed.plan, "dynamic": dynamic.plan}


def make_plan(
    dataset: FeatureDataset,
    protocol: str,
    *,
    tasks: int | None = None,
    memory_per_class: int | None = None,
    seeds: Seeds | None = None,
) -> Plan:
    """The stages of a protocol on a dataset; K and memory as in the paper unless given."""
    if protocol not in PROTOCOLS:
        raise unknown_name("protocol", protocol, PROTOCOLS)
    return PROTOCOLS[protocol](dataset, tasks, memory_per_class, seeds or Seeds())


__all__ = [
    "PROTOCOLS",
    "ClassSet",
    "JoinedSamples",
    "Plan",
    "PreparedSamples",
    "Samples",
    "SelectedSamples",
    "Stage",
    "TableSamples",
    "Task",
    "TensorSamples",
    "class_set",
    "make_plan",
]
