import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mczsl.protocols import (
    ClassSet,
    JoinedSamples,
    TableSamples,
    TensorSamples,
    class_set,
    make_plan,
)
from mczsl.protocols import task as task_module
from tests.worlds import dataset_of

TABLE = np.arange(40, dtype=np.float32).reshape(10, 4)
LABELS = np.arange(10) // 2
indices = st.lists(st.integers(0, 4), max_size=8).map(lambda index: torch.tensor(index).long())


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ">f4"])
@pytest.mark.parametrize("in_memory", [True, False])
def test_rows_of_a_table(monkeypatch: pytest.MonkeyPatch, dtype: str, in_memory: bool) -> None:
    monkeypatch.setattr(task_module, "_IN_MEMORY_BYTES", 10**6 if in_memory else 0)
    table = TABLE.astype(dtype)
    table.flags.writeable = False
    rows = np.array([7, 1, 4])
    samples = TableSamples(table, LABELS, rows)
    assert samples.labels.tolist() == LABELS[rows].tolist()
    for index in ([0, 2, 2], [], [1]):
        taken = samples.take(torch.tensor(index).long())
        assert taken.dtype == torch.float32
        assert torch.equal(taken, torch.from_numpy(TABLE[rows[index]]).reshape(-1, 4))


def test_what_is_taken_is_the_takers_own() -> None:
    samples = TableSamples(TABLE, LABELS, np.array([0, 1]))
    samples.take(torch.tensor([0])).zero_()
    assert torch.equal(samples.take(torch.tensor([0])), torch.from_numpy(TABLE[:1]))


@given(indices, st.integers(0, 5))
def test_joined_samples_are_one_behind_the_other(index: torch.Tensor, border: int) -> None:
    everything = torch.from_numpy(TABLE[:5])
    labels = torch.from_numpy(LABELS[:5])
    first = TensorSamples(everything[:border], labels[:border])
    second = TensorSamples(everything[border:], labels[border:])
    joined = JoinedSamples(first, second)
    assert torch.equal(joined.labels, labels)
    assert torch.equal(joined.take(index), everything[index])


def test_class_sets_add_and_select() -> None:
    dataset = dataset_of([2] * 6, [5])
    together = class_set(dataset, np.array([4, 1])) + class_set(dataset, np.array([2]))
    assert together.ids.tolist() == [4, 1, 2]
    assert torch.equal(together.attributes, torch.from_numpy(dataset.attributes[[4, 1, 2]]))
    assert together.select(torch.tensor([2, 0])).ids.tolist() == [2, 4]
    assert together.select(together.ids > 1).ids.tolist() == [4, 2]
    assert len(ClassSet(together.ids[:0], together.attributes[:0])) == 0


@pytest.mark.parametrize("protocol", ["gzsl", "fixed", "dynamic"])
def test_a_method_sees_the_present_task_alone(protocol: str) -> None:
    dataset = dataset_of([4] * 8, [1, 5, 6])
    plan = make_plan(dataset, protocol)
    for index, stage in enumerate(plan.stages):
        task = plan.task(dataset, index)
        assert task.index == index
        assert task.seen.ids.tolist() == stage.seen.tolist()
        assert len(task.unseen) == 0, "unseen attributes are for methods that declare the need"
        every = torch.arange(len(stage.train_rows))
        assert np.array_equal(task.samples.take(every), dataset.features[stage.train_rows])
        assert np.array_equal(task.samples.labels, dataset.labels[stage.train_rows])
        declared = plan.task(dataset, index, with_unseen=True).unseen
        assert declared.ids.tolist() == stage.unseen.tolist()
        assert np.array_equal(declared.attributes, dataset.attributes[stage.unseen])
