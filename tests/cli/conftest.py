"""Files of animals and a model of them, for the commands that make and use models."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mczsl.cli import main
from tests.cli.commands import Run
from tests.estimator.animals import NAMES, TABLE, quick, seen_of


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command; gives exit code, output and what went to stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mczsl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the samples of twelve animals in every form, and a table of all animals."""
    X, y = seen_of(range(12))
    frame = pd.DataFrame(X, columns=[f"f{number}" for number in range(X.shape[1])])
    labelled = frame.copy()
    labelled.insert(0, "label", y)
    labelled.to_csv(tmp_path / "labelled.csv", index=False)
    labelled.to_csv(
        tmp_path / "europe.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig"
    )
    labelled.to_parquet(tmp_path / "labelled.parquet")
    frame.to_csv(tmp_path / "X.csv", index=False)
    frame.to_parquet(tmp_path / "X.parquet")
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "X.npz", features=X)
    np.savez(tmp_path / "labelled.npz", features=X, labels=y)
    numbers = np.array([NAMES.index(name) for name in y])
    np.savez(
        tmp_path / "dataset.npz", features=X, labels=numbers, attributes=TABLE, class_names=NAMES
    )
    pd.Series(y, name="label").to_csv(tmp_path / "y.csv", index=False)
    np.savez(tmp_path / "short.npz", features=X[:4], labels=y[:3])
    np.savez(tmp_path / "two.npz", features=X[:, :2], labels=y)
    (tmp_path / "y2.csv").write_text("label\na\nb\n")
    pd.DataFrame(TABLE, index=pd.Index(NAMES, name="class")).to_csv(tmp_path / "classes.csv")
    pd.DataFrame(TABLE[:14], index=NAMES[:14]).to_csv(tmp_path / "fourteen.csv")
    return tmp_path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows 14 animals and has seen 12; not to be changed."""
    folder = tmp_path_factory.mktemp("model")
    quick(14).fit(*seen_of(range(12))).save(folder, license="mit")
    return folder
