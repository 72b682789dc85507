"""MLflow on a local file store: what is logged, and that it is logged once."""

import json
from pathlib import Path

import pytest

from mczsl.errors import ConfigError
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.mlflow_logger import log_to_mlflow
from mczsl.experiments.results import read_results
from tests.grids import QUICK, experiment, perform_locally, runs_in

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:mlflow")


@pytest.fixture(autouse=True)
def file_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow prefers databases now, and wants to be asked for plain files."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")


def test_finished_runs_are_logged_once(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", exc_type=ImportError)
    folder = ResultFolder(tmp_path / "out")
    wild = {"label": "wild", "method": "mczsl", "settings": QUICK | {"rate": 1e30, "epochs": 5}}
    wanted = experiment(variants=[{"method": "mczsl", "settings": QUICK}, wild], tasks=3)
    perform_locally(folder, wanted)
    uri = (tmp_path / "mlruns").as_uri()
    assert log_to_mlflow(uri, read_results(folder)) == 1
    assert log_to_mlflow(uri, read_results(folder)) == 0

    client = mlflow.MlflowClient(tracking_uri=uri)
    (logged,) = client.search_runs([client.get_experiment_by_name("A test").experiment_id])
    result = runs_in(folder)[0]
    record = result.state.record
    assert logged.info.status == "FINISHED"
    assert logged.data.metrics["mH"] == record["mH"]
    assert logged.data.params["method"] == "mczsl"
    assert logged.data.params["config.hidden"] == "8"
    assert logged.data.params["seeds.training"] == "0"
    assert logged.data.tags["mczsl.key"] == result.key
    history = client.get_metric_history(logged.info.run_id, "S")
    assert [(m.step, m.value) for m in history] == [(t["task"], t["S"]) for t in record["tasks"]]
    assert "U" in logged.data.metrics
    artifact = client.download_artifacts(logged.info.run_id, "record.json", str(tmp_path))
    assert json.loads(Path(artifact).read_text()) == record


def test_a_store_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", exc_type=ImportError)
    folder = ResultFolder(tmp_path / "out")
    perform_locally(folder, experiment())
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="the results are kept"):
        log_to_mlflow((tmp_path / "file" / "mlruns").as_uri(), read_results(folder))
