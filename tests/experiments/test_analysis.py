"""The look inside a run agrees with its record."""

from pathlib import Path

import numpy as np
import pytest

from mczsl.evaluation.metrics import harmonic_mean
from mczsl.experiments.analysis import ANALYSIS, Analysis
from mczsl.experiments.folder import read_json
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import Run, RunProgress
from tests.worlds import SMALL

QUICK = {
    "mczsl": {"epochs": 3, "hidden": 16},
    "sequential": {"epochs": 1, "hidden": 8},
    "eszsl": {},
}


def analysed(
    folder: Path, protocol: str, method: str, dataset: str = SMALL, candidates: str = "joint"
) -> tuple[Run, dict]:
    config = RunConfig(
        dataset=dataset,
        protocol=protocol,
        method=method,
        settings=QUICK[method],
        candidates=candidates,
    )
    run = Run(config)
    analysis = Analysis(run, folder)

    def listen(progress: RunProgress) -> None:
        if progress.result is not None:
            analysis.add_stage()

    run.finish(None, listen)
    return run, read_json(folder / ANALYSIS)


@pytest.mark.parametrize("method", sorted(QUICK))
@pytest.mark.parametrize("protocol", ["gzsl", "fixed", "dynamic"])
def test_curve_and_worst_classes_belong_to_the_last_task_that_counts(
    tmp_path: Path, protocol: str, method: str
) -> None:
    run, found = analysed(tmp_path, protocol, method)
    assert found["task"] == run.plan.scored
    result = run.results[run.plan.scored - 1]
    assert found["curve"]["here"] == [round(100 * result.seen, 2), round(100 * result.unseen, 2)]
    area = np.trapezoid(found["curve"]["seen"], found["curve"]["unseen"]) / 100
    assert area == pytest.approx(100 * result.ausuc, abs=2)
    best = max(map(harmonic_mean, found["curve"]["seen"], found["curve"]["unseen"]))
    assert found["curve"]["best_H"] >= round(100 * result.harmonic, 2)
    assert best - 0.02 <= found["curve"]["best_H"] < best + 5  # the curve leaves out some points
    accuracies = [entry["accuracy"] for entry in found["worst"]]
    assert accuracies == sorted(accuracies)
    for entry in found["worst"]:
        assert entry["class"] in run.dataset.class_names
        assert entry["accuracy"] + sum(share for _, share in entry["taken_for"]) <= 100.2
        assert entry["class"] not in [name for name, _ in entry["taken_for"]]


def test_the_best_offset_is_not_for_restricted_candidates(tmp_path: Path) -> None:
    run, found = analysed(tmp_path, "gzsl", "eszsl", candidates="restricted")
    (result,) = run.results
    assert found["curve"]["here"] == [round(100 * result.seen, 2), round(100 * result.unseen, 2)]
    assert "best_H" not in found["curve"]
    names, known = run.dataset.class_names, {entry["class"]: entry for entry in found["worst"]}
    unseen = {names[number] for number in run.plan.stages[0].unseen}
    for name, entry in known.items():
        assert {(other in unseen) for other, _ in entry["taken_for"]} <= {name in unseen}


def test_the_map_has_every_stage_with_its_classes(tmp_path: Path) -> None:
    run, found = analysed(tmp_path, "fixed", "mczsl")
    assert [stage["task"] for stage in found["stages"]] == [1, 2]
    for stage, plan in zip(found["stages"], run.plan.stages, strict=True):
        assert (stage["seen"], stage["unseen"]) == (plan.seen.tolist(), plan.unseen.tolist())
        assert {int(number) for number in stage["prototypes"]} == {*plan.seen, *plan.unseen}
    assert found["stages"][0]["prototypes"] != found["stages"][1]["prototypes"]
    points = np.array(found["points"])
    assert np.abs(points[:, :2]).max() == 1000
    assert set(points[:, 2]) == set(range(12))


def test_a_method_without_prototypes_has_a_map_of_features_alone(tmp_path: Path) -> None:
    _, found = analysed(tmp_path, "gzsl", "eszsl")
    assert found["stages"][0]["prototypes"] == {}
    assert found["points"]


def test_one_feature_is_enough(tmp_path: Path) -> None:
    dataset = "synthetic:classes=4,unseen=1,samples=6,features=1,attributes=3"
    _, found = analysed(tmp_path, "gzsl", "sequential", dataset)
    assert {y for _, y, _ in found["points"]} == {0}


def test_a_large_test_set_is_sampled(tmp_path: Path) -> None:
    dataset = "synthetic:classes=12,unseen=4,samples=100,features=6,attributes=6"
    _, found = analysed(tmp_path, "gzsl", "sequential", dataset)
    assert len(found["points"]) == 400
