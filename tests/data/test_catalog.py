import os

import numpy as np
import pytest

from mczsl.data import catalog, load_dataset
from mczsl.data.dataset import FeatureDataset
from mczsl.errors import MczslError
from tests.data import samples


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A data root with a dataset of each kind, and no other one on this machine in sight."""
    monkeypatch.delenv("MCZSL_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "root"
    samples.write_xlsa17(root)
    samples.write_xlsa17(root / "archive" / "data", name="DEEP")
    samples.write_npz(root / "mine.npz")
    folder = root / "tables"
    folder.mkdir()
    np.save(folder / "features.npy", samples.features())
    np.save(folder / "labels.npy", samples.labels())
    np.save(folder / "attributes.npy", samples.attributes())
    return root


@pytest.mark.parametrize(
    ("name", "loaded"),
    [("zoo", "ZOO"), ("deep", "DEEP"), ("mine", "mine"), ("TABLES", "tables")],
)
def test_datasets_in_the_root_are_found_in_any_case(root, name, loaded):
    assert load_dataset(name, root=root).name == loaded


@pytest.mark.parametrize("path", ["root/ZOO", "root/mine.npz", "root/tables"])
def test_paths_need_no_root(root, path):
    assert isinstance(load_dataset(path), FeatureDataset)
    assert isinstance(load_dataset(str(root.parent / path)), FeatureDataset)


def test_the_current_folder_may_be_the_dataset(root, monkeypatch):
    monkeypatch.chdir(root / "ZOO")
    assert load_dataset(".").name == "ZOO"


def test_the_root_is_the_argument_then_the_variable_then_the_users_own(root, monkeypatch):
    user = root.parent / "home" / "mczsl"
    samples.write_xlsa17(user, name="OWN")
    samples.write_xlsa17(root.parent / "elsewhere", name="ELSE")
    assert load_dataset("own").name == "OWN"
    monkeypatch.setenv("MCZSL_DATA", str(root.parent / "elsewhere"))
    assert load_dataset("else").name == "ELSE"
    with pytest.raises(MczslError, match="unknown dataset 'own'"):
        load_dataset("own")
    assert load_dataset("zoo", root=root).name == "ZOO"


def test_it_works_without_a_home(root, monkeypatch):
    for variable in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert load_dataset("digits").name == "digits"
    assert {"emoji", "digits"} <= {each.name for each in catalog.available()}


def test_embedded_and_generated_datasets_need_no_files(root):
    assert load_dataset("emoji").n_classes == 1604
    assert load_dataset("digits").n_classes == 10
    generated = load_dataset("synthetic:classes=5,unseen=1,samples=4,features=6")
    assert generated.features.shape == (20, 6)


def test_everything_that_can_be_loaded_is_listed_with_its_files(root):
    samples.write_xlsa17(root)
    (root / "ZOO" / "res101.mat").rename(root / "ZOO" / "other.mat")
    infos = {info.name: info for info in catalog.available(root)}
    assert {"digits", "synthetic:cub", "ZOO", "DEEP", "mine", "tables"} <= infos.keys()
    assert infos["ZOO"].kind == "xlsa17"
    assert infos["ZOO"].features == ("other",)
    assert infos["ZOO"].semantics == ("att",)
    assert infos["mine"].kind == "arrays"


@pytest.mark.parametrize("name", ["digits", "ZOO", "DEEP", "mine", "tables"])
def test_what_is_listed_can_be_loaded(root, name):
    assert name in {info.name for info in catalog.available(root)}
    assert isinstance(load_dataset(name, root=root), FeatureDataset)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("zooo", {}, "unknown dataset 'zooo'; did you mean 'ZOO'.*mczsl data get"),
        ("digit", {}, "did you mean 'digits'"),
        ("synthetic:cob", {}, "did you mean 'cub'"),
        ("../nowhere", {}, "unknown dataset"),
        ("", {}, "unknown dataset ''"),
        ("root", {}, "root is a folder of datasets; name one: ZOO"),
        ("digits", {"features": "res101"}, "unknown features of digits 'res101'"),
        ("mine", {"semantics": "att"}, "unknown semantics of mine 'att'"),
        ("zoo", {"features": "vgg"}, "unknown features of ZOO 'vgg'"),
    ],
)
def test_what_is_unknown_is_told_with_what_is_known(root, name, options, message):
    with pytest.raises(MczslError, match=message):
        load_dataset(name, root=root, **options)


def test_a_root_that_is_no_folder_is_told(root, monkeypatch):
    with pytest.raises(MczslError, match="nowhere is not a folder"):
        catalog.available(root / "nowhere")
    monkeypatch.setenv("MCZSL_DATA", str(root / "nowhere"))
    with pytest.raises(MczslError, match="nowhere is not a folder"):
        load_dataset("zoo")


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser may read everything")
def test_a_folder_that_may_not_be_read_is_passed_over(root):
    closed = root / "closed"
    closed.mkdir(mode=0)
    assert "ZOO" in {info.name for info in catalog.available(root)}
