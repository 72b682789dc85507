"""The three protocols: the paper's task tables to the letter, and what holds on any data."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mczsl.data import FeatureDataset
from mczsl.errors import ConfigError, DataError, MczslError
from mczsl.protocols import Plan, make_plan
from mczsl.protocols.fixed import split_images
from mczsl.seeding import Seeds
from tests.worlds import dataset_of

# name: seen, unseen, K, fixed classes per task, dynamic seen and unseen per task, memory per class
PAPER = {
    "AWA1": (40, 10, 5, [10] * 5, [8] * 5, [2] * 5, 25),
    "AWA2": (40, 10, 5, [10] * 5, [8] * 5, [2] * 5, 25),
    "CUB": (150, 50, 20, [10] * 20, [7] * 10 + [8] * 10, [2] * 10 + [3] * 10, 10),
    "SUN": (645, 72, 15, [47] * 3 + [48] * 12, [43] * 15, [4] * 3 + [5] * 12, 5),
    "aPY": (20, 12, 4, [8] * 4, [5] * 4, [3] * 4, 25),
}


def dataset_like(name: str) -> FeatureDataset:
    seen, unseen, *_ = PAPER[name.split(":")[-1].split(",")[0]]
    drawn = np.random.default_rng(7).choice(seen + unseen, unseen, replace=False)
    return dataset_of([5] * (seen + unseen), sorted(drawn.tolist()), name=name)


def new_per_task(classes: list[np.ndarray]) -> list[int]:
    return np.diff([0, *map(len, classes)]).tolist()


@pytest.mark.parametrize("spelling", ["{}", "synthetic:{}", "synthetic:{},difficulty=0.8"])
@pytest.mark.parametrize("name", PAPER)
def test_the_papers_task_tables(name: str, spelling: str) -> None:
    seen, unseen, tasks, fixed, dynamic_seen, dynamic_unseen, per_class = PAPER[name]
    dataset = dataset_like(spelling.format(name))
    plan = make_plan(dataset, "fixed")
    assert [len(stage.new_classes) for stage in plan.stages] == fixed
    assert new_per_task([stage.seen for stage in plan.stages]) == fixed
    assert plan.scored == tasks - 1
    assert plan.memory_capacity == per_class * (seen + unseen)
    plan = make_plan(dataset, "dynamic")
    assert [len(stage.new_classes) for stage in plan.stages] == dynamic_seen
    assert new_per_task([stage.seen for stage in plan.stages]) == dynamic_seen
    assert new_per_task([stage.unseen for stage in plan.stages]) == dynamic_unseen
    assert plan.scored == tasks
    assert plan.memory_capacity == per_class * seen
    plan = make_plan(dataset, "gzsl")
    (stage,) = plan.stages
    assert (len(stage.seen), len(stage.unseen), plan.scored) == (seen, unseen, 1)


@pytest.mark.parametrize("name", PAPER)
def test_classes_come_in_label_order(name: str) -> None:
    dataset = dataset_like(name)
    last = make_plan(dataset, "fixed").stages[-1]
    assert last.seen.tolist() == list(range(dataset.n_classes))
    last = make_plan(dataset, "dynamic").stages[-1]
    assert last.seen.tolist() == dataset.seen_classes.tolist()
    assert last.unseen.tolist() == dataset.unseen_classes.tolist()


@st.composite
def datasets(draw: st.DrawFn) -> FeatureDataset:
    """2 to 12 classes of 0 to 12 images, at least one seen and one unseen, some without images."""
    counts = draw(st.lists(st.integers(0, 12), min_size=2, max_size=12))
    present = [number for number, count in enumerate(counts) if count]
    assume(len(present) > 1)
    unseen = draw(st.lists(st.sampled_from(present), min_size=1, unique=True))
    seen = set(present) - set(unseen)
    assume(any(counts[number] > 1 for number in seen))
    return dataset_of(counts, unseen, seed=draw(st.integers(0, 9)))


seeds = st.builds(
    Seeds, image_split=st.integers(0, 3), class_order=st.one_of(st.none(), st.integers(0, 3))
)


@given(datasets(), st.sampled_from(["gzsl", "fixed", "dynamic"]), st.data(), seeds)
def test_every_plan_is_sound(
    dataset: FeatureDataset, protocol: str, data: st.DataObject, seeds: Seeds
) -> None:
    tasks = data.draw(st.one_of(st.none(), st.integers(1, 12)))
    try:
        plan = make_plan(dataset, protocol, tasks=tasks, seeds=seeds)
    except ConfigError:
        n_seen, n_unseen = len(dataset.seen_classes), len(dataset.unseen_classes)
        most = {"gzsl": 1, "fixed": n_seen + n_unseen, "dynamic": min(n_seen, n_unseen)}[protocol]
        assert tasks is not None
        assert tasks > most or (protocol == "fixed" and tasks == 1)
        return
    assert tasks in (None, len(plan.stages))
    check_classes(dataset, plan)
    check_rows(dataset, plan)


def check_classes(dataset: FeatureDataset, plan: Plan) -> None:
    new = np.concatenate([stage.new_classes for stage in plan.stages])
    assert len(set(new.tolist())) == len(new), "a class comes twice"
    sizes = [len(stage.new_classes) for stage in plan.stages]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1
    for number, stage in enumerate(plan.stages, start=1):
        seen = np.concatenate([each.new_classes for each in plan.stages[:number]])
        assert stage.seen.tolist() == seen.tolist()
        assert not set(stage.seen) & set(stage.unseen)
    last = plan.stages[-1]
    if plan.protocol == "fixed":
        everything = np.unique(dataset.labels).tolist()
        for stage in plan.stages:
            assert sorted([*stage.seen, *stage.unseen]) == everything
        assert len(last.unseen) == 0
        assert all(len(stage.unseen) for stage in plan.stages[: plan.scored])
    else:
        assert sorted(last.seen) == dataset.seen_classes.tolist()
        assert sorted(last.unseen) == dataset.unseen_classes.tolist()


def check_rows(dataset: FeatureDataset, plan: Plan) -> None:
    trained = np.concatenate([stage.train_rows for stage in plan.stages])
    assert len(set(trained.tolist())) == len(trained), "a row is trained on in two tasks"
    for stage in plan.stages:
        parts = {
            "train": (stage.train_rows, stage.new_classes),
            "seen": (stage.test_seen_rows, stage.seen),
            "unseen": (stage.test_unseen_rows, stage.unseen),
        }
        for rows, classes in parts.values():
            assert set(dataset.labels[rows]) <= set(classes)
        tested = np.concatenate([stage.test_seen_rows, stage.test_unseen_rows])
        assert not set(tested) & set(trained), "a test image is trained on in some task"
        assert set(dataset.labels[stage.train_rows]) == set(stage.new_classes)
        assert set(dataset.labels[stage.test_unseen_rows]) >= {
            number for number in stage.unseen if (dataset.labels == number).sum() > 1
        }


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(0, 5))
def test_a_fifth_of_each_class_is_held_back(counts: list[int], seed: int) -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    train, test = split_images(labels, seed)
    assert sorted([*train, *test]) == list(range(len(labels)))
    for number, count in enumerate(counts):
        held_back = int((labels[test] == number).sum())
        if count > 1:
            assert held_back == max(1, round(count / 5))
        else:
            assert held_back == 0


def test_the_image_split_is_a_draw_that_the_seed_decides() -> None:
    labels = np.repeat(np.arange(10), 20)
    tests = [split_images(labels, seed)[1] for seed in range(200)]
    assert np.array_equal(tests[0], split_images(labels, 0)[1])
    times_held_back = np.bincount(np.concatenate(tests), minlength=200)
    # 200 draws with p = 0.2: 40 expected, standard deviation 5.7.
    assert 40 - 30 < times_held_back.min() <= times_held_back.max() < 40 + 30


def test_each_seed_moves_its_own_part_only() -> None:
    dataset = dataset_of([10] * 12, [8, 9, 10, 11])

    def facts(protocol: str, **seeds: int) -> tuple[list[int], set[int]]:
        tasks = None if protocol == "gzsl" else 4
        plan = make_plan(dataset, protocol, tasks=tasks, seeds=Seeds(**seeds))
        order = plan.stages[-1].seen.tolist()
        return order, set(np.concatenate([stage.train_rows for stage in plan.stages]).tolist())

    order, rows = facts("fixed")
    assert facts("fixed", training=5, memory=6) == (order, rows)
    assert facts("fixed", image_split=1)[0] == order
    assert facts("fixed", image_split=1)[1] != rows
    assert facts("fixed", class_order=0)[0] != order
    assert facts("fixed", class_order=0)[0] != facts("fixed", class_order=1)[0]
    assert facts("fixed", class_order=0)[1] == rows, "the class order changed the image split"
    assert facts("dynamic", image_split=1) == facts("dynamic"), "its image split is published"
    assert facts("dynamic", class_order=0)[0] != facts("dynamic")[0]
    assert facts("dynamic", class_order=0)[1] == facts("dynamic")[1]
    assert facts("gzsl", class_order=0, image_split=1) == facts("gzsl")


def test_a_published_split_is_followed_exactly() -> None:
    dataset = dataset_of([6] * 8, [1, 5])
    for protocol in ("gzsl", "dynamic"):
        plan = make_plan(dataset, protocol)
        trained = np.concatenate([stage.train_rows for stage in plan.stages])
        assert sorted(trained) == sorted(dataset.splits.trainval)
        assert sorted(plan.stages[-1].test_seen_rows) == sorted(dataset.splits.test_seen)
        assert sorted(plan.stages[-1].test_unseen_rows) == sorted(dataset.splits.test_unseen)


@pytest.mark.parametrize(
    ("protocol", "tasks", "most"), [("fixed", 13, 12), ("dynamic", 5, 4), ("dynamic", 10**9, 4)]
)
def test_too_many_tasks_are_named_with_the_most(protocol: str, tasks: int, most: int) -> None:
    with pytest.raises(ConfigError, match=f"choose from 1 to {most}"):
        make_plan(dataset_of([3] * 12, [8, 9, 10, 11]), protocol, tasks=tasks)


@pytest.mark.parametrize("tasks", [0, -1])
@pytest.mark.parametrize("protocol", ["fixed", "dynamic"])
def test_no_tasks_are_refused(protocol: str, tasks: int) -> None:
    with pytest.raises(ConfigError, match=f"{tasks} tasks"):
        make_plan(dataset_of([3] * 12, [8, 9]), protocol, tasks=tasks)


def test_one_task() -> None:
    dataset = dataset_of([3] * 12, [8, 9])
    with pytest.raises(ConfigError, match="at least 2 tasks"):
        make_plan(dataset, "fixed", tasks=1)
    dynamic, gzsl = make_plan(dataset, "dynamic", tasks=1), make_plan(dataset, "gzsl", tasks=1)
    (one,), (other,) = dynamic.stages, gzsl.stages
    for part in vars(one):
        assert np.array_equal(getattr(one, part), getattr(other, part))


def test_gzsl_in_tasks_is_a_contradiction() -> None:
    with pytest.raises(ConfigError, match="gzsl"):
        make_plan(dataset_of([3] * 12, [8, 9]), "gzsl", tasks=5)


@pytest.mark.parametrize("protocol", ["gzsl", "dynamic"])
def test_nothing_to_test_is_named(protocol: str) -> None:
    with pytest.raises(DataError, match="no image of an unseen class"):
        make_plan(dataset_of([3] * 4, []), protocol)
    with pytest.raises(DataError, match="no image of a seen class"):
        make_plan(dataset_of([1, 1, 1, 3], [3]), protocol)


def test_fixed_needs_no_published_unseen_classes() -> None:
    assert len(make_plan(dataset_of([3] * 4, []), "fixed").stages) == 2


def test_unknown_protocol_suggests() -> None:
    with pytest.raises(MczslError, match="did you mean 'dynamic'"):
        make_plan(dataset_of([3] * 4, [3]), "dynamc")


def test_tasks_of_other_datasets() -> None:
    """About ten classes a task, at least 2 and at most 20 tasks, or what the data suggests."""
    for classes, tasks in ((4, 2), (30, 3), (700, 20)):
        assert len(make_plan(dataset_of([2] * classes, [0]), "fixed").stages) == tasks
    assert len(make_plan(dataset_of([2] * 700, [0, 1, 2]), "dynamic").stages) == 3


@pytest.mark.parametrize(
    ("per_class", "fixed", "dynamic"), [(0, 0, 0), (3, 36, 30), (None, 120, 100)]
)
def test_memory_is_counted_in_samples_per_class(
    per_class: int | None, fixed: int, dynamic: int
) -> None:
    dataset = dataset_of([3] * 12, [8, 9])
    for protocol, capacity in (("fixed", fixed), ("dynamic", dynamic), ("gzsl", 0)):
        plan = make_plan(dataset, protocol, memory_per_class=per_class)
        assert plan.memory_capacity == capacity
