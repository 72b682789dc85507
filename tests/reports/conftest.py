"""A folder of real results, made once, with names that would do harm if they were let."""

import numpy as np
import pytest

from mczsl.data import load_dataset
from mczsl.experiments.bench import perform, prepare
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.local_engine import run_locally
from tests.grids import QUICK, experiment
from tests.worlds import SMALL

EVIL = '</script><script>window.evil=1</script><img src=x onerror="window.evil=1">'


@pytest.fixture(scope="session")
def results_folder(tmp_path_factory: pytest.TempPathFactory) -> ResultFolder:
    """Four experiments of few quick runs; one of them fails."""
    path = tmp_path_factory.mktemp("results")
    data = load_dataset(SMALL)
    names = [EVIL, *data.class_names[1:]]
    np.savez(
        path / "own.npz",
        features=data.features,
        labels=np.array(names)[data.labels],
        attributes=data.attributes,
        class_names=names,
        **data.splits.sets(),
    )
    here = {"datasets": [str(path / "own.npz")], "tasks": 3}
    mczsl = {"label": "MCZSL", "method": "mczsl", "settings": QUICK}
    evil = {"label": EVIL, "method": "sequential", "settings": QUICK}
    wild = {"label": "wild", "method": "mczsl", "settings": QUICK | {"rate": 1e30, "epochs": 5}}
    without = {"label": "MCZSL - SA", "method": "mczsl", "settings": QUICK | {"gating": False}}
    experiments = {
        "table2": experiment(**here, variants=[mczsl, evil, wild], seeds=[0, 1]),
        "tasks": experiment(**here, variants=[mczsl, evil], seeds=[0, 1], show="tasks"),
        "memory": experiment(**here, variants=[mczsl], memory_per_class=[1, 3], show="memory"),
        "ablation": experiment(**here, variants=[mczsl, without], show="ablation"),
    }
    folder = ResultFolder(path / "out")
    jobs = prepare(experiments, folder, command="mczsl bench table2 tasks memory ablation")
    perform(folder, jobs, lambda where, left, on_end: run_locally(where, left, 2, on_end))
    return folder
