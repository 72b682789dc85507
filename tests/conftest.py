"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPO_ROOT = Path(__file__).resolve().parents[1]

# A slow machine is no defect, so no deadline. The checks try the same examples every time, so
# that a red check is about the change under test; HYPOTHESIS_PROFILE=explore tries new ones.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", settings.get_profile("repeatable"), derandomize=False, max_examples=1000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure() -> None:
    """One thread per process: the workers share the cores, and the bits stay the same.

    The variables come before torch and numpy start their pools, and reach the commands that a
    test starts.
    """
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["MPLBACKEND"] = "Agg"
    import torch

    torch.set_num_threads(1)


def find_data_root() -> Path | None:
    """The folder of real datasets in the xlsa17 layout, if this machine has one."""
    named = os.environ.get("MCZSL_DATA")
    root = Path(named) if named else REPO_ROOT.parent / "shared" / "data" / "xlsa17"
    return root if root.is_dir() else None


@pytest.fixture(scope="session")
def data_root() -> Path:
    """Real data in the xlsa17 layout; the test is skipped where there is none."""
    root = find_data_root()
    if root is None:
        pytest.skip("no real data here (set MCZSL_DATA to a folder in the xlsa17 layout)")
    return root


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The checkout, for tests about the project itself."""
    return REPO_ROOT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs real data, so that `-m 'not real'` leaves it out."""
    for item in items:
        if "data_root" in getattr(item, "fixturenames", ()):
            item.add_marker("real")
