import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mczsl.evaluation.metrics import (
    Outcomes,
    area_under_curve,
    best_offset,
    forgetting,
    harmonic_mean,
    mean_accuracy,
    per_class_accuracy,
    seen_unseen_curve,
)

shares = st.floats(0, 1, allow_subnormal=False)
SEEN, UNSEEN = [0, 1, 2], [3, 4, 5]


# ---------------------------------------------------------------- harmonic mean


@pytest.mark.parametrize(
    ("seen", "unseen", "expected"),
    [(0.789, 0.646, 0.71037), (1, 1, 1), (0.5, 0.5, 0.5), (1, 0, 0), (0, 0.7, 0), (0, 0, 0)],
)
def test_harmonic_mean_by_hand(seen: float, unseen: float, expected: float) -> None:
    assert harmonic_mean(seen, unseen) == pytest.approx(expected, abs=1e-5)
    assert harmonic_mean(unseen, seen) == harmonic_mean(seen, unseen)


def test_harmonic_mean_of_what_cannot_be_measured() -> None:
    assert math.isnan(harmonic_mean(0.5, math.nan))
    assert math.isnan(harmonic_mean(math.nan, 0.0))


@given(shares, shares)
def test_harmonic_mean_lies_between_and_below_the_mean(seen: float, unseen: float) -> None:
    value = harmonic_mean(seen, unseen)
    assert min(seen, unseen) - 1e-12 <= value <= max(seen, unseen) + 1e-12
    assert value <= (seen + unseen) / 2 + 1e-12


@given(st.lists(st.tuples(shares, shares), min_size=1))
def test_mean_of_h_is_at_most_h_of_the_means(tasks: list[tuple[float, float]]) -> None:
    seen, unseen = np.mean(tasks, axis=0)
    mean_h = np.mean([harmonic_mean(*task) for task in tasks])
    assert mean_h <= harmonic_mean(seen, unseen) + 1e-9


# ---------------------------------------------------------------- per-class accuracy


def test_accuracy_is_per_class_not_per_sample() -> None:
    labels = np.array([0] * 9 + [1])
    predictions = np.zeros(10, dtype=np.int64)
    assert mean_accuracy(per_class_accuracy(labels, predictions, np.array([0, 1]))) == 0.5


def test_accuracy_without_samples_or_classes() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert np.isnan(per_class_accuracy(nothing, nothing, np.array([0, 7]))).all()
    assert per_class_accuracy(np.array([1]), np.array([1]), nothing).shape == (0,)
    assert math.isnan(mean_accuracy(np.empty(0)))


def test_no_guess_is_wrong_in_every_class() -> None:
    accuracy = per_class_accuracy(np.array([0, 1]), np.array([-1, -1]), np.array([0, 1]))
    assert accuracy.tolist() == [0, 0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 8)), min_size=1), st.randoms())
def test_accuracy_against_counting(pairs: list[tuple[int, int]], random) -> None:
    labels, predictions = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    found = per_class_accuracy(labels, predictions, np.arange(7))
    for number in range(7):
        own = [guess == label for label, guess in pairs if label == number]
        expected = sum(own) / len(own) if own else math.nan
        assert found[number] == pytest.approx(expected, nan_ok=True)
    order = np.array(random.sample(range(len(pairs)), len(pairs)))
    shuffled = per_class_accuracy(labels[order], predictions[order], np.arange(7))
    assert np.array_equal(found, shuffled, equal_nan=True)


# ---------------------------------------------------------------- the curve


@st.composite
def outcomes(draw: st.DrawFn) -> Outcomes:
    """Test samples of three seen and three unseen classes, at least one of either side.

    Margins are differences of float32 scores, with ties.
    """
    labels = draw(st.lists(st.sampled_from(SEEN + UNSEEN), min_size=2, max_size=25))
    assume(set(labels) & set(SEEN) and set(labels) & set(UNSEEN))
    size = len(labels)

    def column(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=size, max_size=size))

    values = st.one_of(st.sampled_from([-1.0, 0.0, 0.5]), st.floats(-50, 50, width=32))
    return Outcomes(
        labels=np.array(labels),
        is_seen=np.isin(labels, SEEN),
        seen_guess=np.array(column(st.sampled_from(SEEN))),
        unseen_guess=np.array(column(st.sampled_from(UNSEEN))),
        margin=np.array(column(values)),
    )


def accuracies(found: Outcomes, offset: float) -> tuple[float, float]:
    accuracy = per_class_accuracy(found.labels, found.predictions(offset), np.arange(6))
    return mean_accuracy(accuracy[SEEN]), mean_accuracy(accuracy[UNSEEN])


@given(outcomes())
def test_every_point_of_the_curve_is_what_its_offset_gives(found: Outcomes) -> None:
    for offset, seen, unseen in zip(*seen_unseen_curve(found), strict=True):
        assert (seen, unseen) == pytest.approx(accuracies(found, offset), abs=1e-12)


@given(outcomes(), st.floats(-60, 60))
def test_no_offset_gives_anything_that_is_not_on_the_curve(found: Outcomes, offset: float) -> None:
    _, seen, unseen = seen_unseen_curve(found)
    given_seen, given_unseen = accuracies(found, offset)
    distance = np.abs(seen - given_seen) + np.abs(unseen - given_unseen)
    assert distance.min() < 1e-9


@given(outcomes())
def test_the_curve_runs_from_all_seen_to_all_unseen(found: Outcomes) -> None:
    offsets, seen, unseen = seen_unseen_curve(found)
    assert (np.diff(offsets) > 0).all()
    assert (np.diff(seen) <= 1e-12).all()
    assert (np.diff(unseen) >= -1e-12).all()
    assert unseen[0] == 0
    assert seen[-1] == pytest.approx(0, abs=1e-12)
    assert 0 <= min(seen.min(), unseen.min()) <= max(seen.max(), unseen.max()) <= 1


@given(outcomes())
def test_area_is_bounded_by_the_restricted_accuracies(found: Outcomes) -> None:
    accuracy = per_class_accuracy(found.labels, found.restricted_predictions(), np.arange(6))
    best = mean_accuracy(accuracy[SEEN]) * mean_accuracy(accuracy[UNSEEN])
    assert -1e-12 <= area_under_curve(found) <= best + 1e-12


@given(outcomes(), st.randoms(), st.floats(-5, 5, width=16))
def test_order_and_a_common_offset_leave_the_area(found: Outcomes, random, shift: float) -> None:
    order = np.array(random.sample(range(len(found.labels)), len(found.labels)))
    moved = Outcomes(
        labels=found.labels[order],
        is_seen=found.is_seen[order],
        seen_guess=found.seen_guess[order],
        unseen_guess=found.unseen_guess[order],
        margin=found.margin[order] + shift,
    )
    # A shift can round two different margins to the same one, which moves a step of the curve.
    assume(len(np.unique(moved.margin)) == len(np.unique(found.margin)))
    assert area_under_curve(moved) == pytest.approx(area_under_curve(found), abs=1e-9)


@given(outcomes())
def test_no_offset_beats_the_best(found: Outcomes) -> None:
    best = harmonic_mean(*accuracies(found, best_offset(found)))
    offsets, *_ = seen_unseen_curve(found)
    every = [harmonic_mean(*accuracies(found, offset)) for offset in [*offsets, 0.0]]
    assert best == pytest.approx(max(every), abs=1e-9)


def perfect(margins: list[float]) -> Outcomes:
    labels = np.array([0, 1, 3, 4])
    return Outcomes(
        labels=labels,
        is_seen=np.isin(labels, SEEN),
        seen_guess=np.array([0, 1, 0, 1]),
        unseen_guess=np.array([3, 4, 3, 4]),
        margin=np.array(margins),
    )


def test_area_by_hand() -> None:
    assert area_under_curve(perfect([2.0, 1.0, -1.0, -2.0])) == pytest.approx(1)
    # U is 1 only where S is 0 and the other way round: the straight line between is 1/2.
    assert area_under_curve(perfect([0.0, 0.0, 0.0, 0.0])) == pytest.approx(0.5)
    # All seen samples lose before the first unseen one wins.
    assert area_under_curve(perfect([-2.0, -1.0, 1.0, 2.0])) == pytest.approx(0)
    # One seen sample lies between the unseen ones: S = 1 up to U = 1/2, then S = 1/2.
    assert area_under_curve(perfect([2.0, 0.0, -1.0, 1.0])) == pytest.approx(0.75)


def test_a_tie_goes_to_the_seen_class() -> None:
    found = perfect([0.0, 0.5, 0.0, -0.5])
    assert found.predictions(0.0).tolist() == [0, 1, 0, 4]
    assert found.predictions(0.5).tolist() == [3, 1, 3, 4]
    assert found.restricted_predictions().tolist() == [0, 1, 3, 4]


# ---------------------------------------------------------------- forgetting


def test_forgetting_by_hand() -> None:
    history = [[0.9], [0.5, 0.8], [0.7, 0.6, 0.4]]
    # Task 1: best 0.9, now 0.7. Task 2: best 0.8, now 0.6. The newest task does not count.
    assert forgetting(history) == pytest.approx(0.2)
    assert forgetting([[0.2], [0.6, 0.1]]) == pytest.approx(-0.4), "learned more: negative"


def test_forgetting_needs_a_past_task() -> None:
    assert math.isnan(forgetting([[0.9]]))


def test_a_task_without_test_images_does_not_hide_the_others() -> None:
    nan = math.nan
    assert forgetting([[nan], [nan, 0.8], [nan, 0.5, 0.9]]) == pytest.approx(0.3)
    assert forgetting([[0.9], [0.6, nan], [0.5, nan, 0.9]]) == pytest.approx(0.4)
    assert math.isnan(forgetting([[nan], [nan, 0.8]]))


@given(st.lists(st.lists(shares, min_size=6, max_size=6), min_size=2, max_size=6))
def test_forgetting_is_bounded(rows: list[list[float]]) -> None:
    history = [row[: number + 1] for number, row in enumerate(rows)]
    assert -1 <= forgetting(history) <= 1
    assert forgetting([*history[:-1], [max(column) for column in zip(*rows, strict=True)]]) <= 1e-12
