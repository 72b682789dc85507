import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from mczsl.data import xlsa17
from mczsl.data.dataset import FeatureDataset
from mczsl.errors import MczslError
from tests.data import samples


def problems(folder) -> list[str]:
    return [f"{each.level}: {each.message}" for each in xlsa17.read(folder).all_problems()]


def load(folder) -> FeatureDataset:
    return xlsa17.load(folder.parent, folder.name)


def test_numbers_count_from_zero_and_samples_are_rows(tmp_path):
    dataset = load(samples.write_xlsa17(tmp_path))
    np.testing.assert_array_equal(dataset.features, samples.features())
    np.testing.assert_array_equal(dataset.labels, samples.labels())
    np.testing.assert_array_equal(dataset.attributes, samples.attributes())
    for name, rows in samples.sets().items():
        np.testing.assert_array_equal(dataset.splits.sets()[name], rows)
    assert dataset.class_names == samples.NAMES
    assert dataset.features.dtype == np.float32
    assert dataset.features.flags.c_contiguous
    assert dataset.provenance["source"] == "ZOO/res101.mat, ZOO/att_splits.mat"
    assert not problems(tmp_path / "ZOO")


def test_the_folder_is_found_in_any_case_and_the_exact_spelling_first(tmp_path):
    samples.write_xlsa17(tmp_path, name="ZOO")
    assert xlsa17.load(tmp_path, "zoo").name == "ZOO"
    samples.write_xlsa17(tmp_path, name="zoo")
    assert xlsa17.load(tmp_path, "zoo").name == "zoo"


def test_an_unknown_dataset_suggests_the_nearest(tmp_path):
    samples.write_xlsa17(tmp_path)
    with pytest.raises(MczslError, match="unknown dataset 'zo'; did you mean 'ZOO'"):
        xlsa17.load(tmp_path, "zo")
    with pytest.raises(MczslError, match="no such file"):
        xlsa17.load(tmp_path / "nowhere", "zoo")


@pytest.mark.parametrize(
    ("features", "semantics", "message"),
    [
        ("res10", "att", "unknown features of ZOO 'res10'; did you mean 'res101'"),
        ("res101", "at", "unknown semantics of ZOO 'at'; did you mean 'att'"),
        ("att_splits", "att", "Known: res101"),
        ("../ZOO/res101", "att", "unknown features"),
    ],
)
def test_an_unknown_file_lists_what_is_in_the_folder(tmp_path, features, semantics, message):
    samples.write_xlsa17(tmp_path)
    with pytest.raises(MczslError, match=message):
        xlsa17.load(tmp_path, "ZOO", features, semantics)


def test_a_folder_without_features_says_so(tmp_path):
    (samples.write_xlsa17(tmp_path) / "res101.mat").unlink()
    assert problems(tmp_path / "ZOO") == [
        "error: there is no features file at all; put <name>.mat into its folder"
    ]


def nest(value, depth=3):
    for _ in range(depth):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = value
        value = cell
    return value


@pytest.mark.parametrize(
    "names",
    [
        samples.cells(samples.NAMES),
        samples.cells(samples.NAMES).T,
        nest(samples.cells(samples.NAMES)),
        np.array([[nest(name)] for name in samples.NAMES], dtype=object).reshape(-1, 1),
        np.array(samples.NAMES),  # a matrix of characters, padded with blanks
    ],
)
def test_class_names_are_read_from_any_nesting_of_cells(tmp_path, names):
    folder = samples.write_xlsa17(tmp_path, splits_file={"allclasses_names": names})
    assert load(folder).class_names == samples.NAMES


def test_absent_class_names_come_from_the_list_beside_or_are_numbers(tmp_path):
    folder = samples.write_xlsa17(tmp_path, drop=["allclasses_names"])
    assert load(folder).class_names == ("1", "2", "3", "4", "5", "6")
    (folder / "allclasses.txt").write_text("\n".join(samples.NAMES) + "\n")
    assert load(folder).class_names == samples.NAMES
    (folder / "allclasses.txt").write_text("only\nthree\nnames\n")
    assert load(folder).class_names == ("1", "2", "3", "4", "5", "6")


def variants() -> dict[str, dict]:
    values, numbers = samples.features(), samples.labels()[:, None] + 1
    return {
        "double": {"features": values.T.astype(np.float64)},
        "sparse": {"features": scipy.sparse.csc_matrix(values.T)},
        "labels in a row": {"labels": numbers.T},
        "labels as doubles": {"labels": numbers.astype(np.float64)},
        "labels as bytes": {"labels": numbers.astype(np.uint8)},
    }


@pytest.mark.parametrize("change", variants().values(), ids=variants().keys())
def test_the_ways_in_which_matlab_stores_the_same_give_the_same(tmp_path, change):
    plain = load(samples.write_xlsa17(tmp_path / "plain"))
    other = load(samples.write_xlsa17(tmp_path / "other", features_file=change))
    assert other.fingerprint == plain.fingerprint


def test_transposed_tables_are_read_and_noted(tmp_path):
    plain = load(samples.write_xlsa17(tmp_path / "plain"))
    folder = samples.write_xlsa17(
        tmp_path / "other", {"features": samples.features()}, {"att": samples.attributes()}
    )
    other = load(folder)
    assert other.fingerprint == plain.fingerprint
    assert other.features.flags.c_contiguous
    assert "res101.mat: features are stored transposed" in other.provenance["notes"]
    assert "att_splits.mat: att is stored transposed" in other.provenance["notes"]
    assert [each[:8] for each in problems(folder)] == ["warning:"] * 2


def leaking_sets() -> dict:
    trainval = np.append(samples.sets()["trainval"], 20) + 1
    return {"trainval_loc": trainval[:, None], "test_unseen_loc": np.arange(21, 30)[:, None] + 1}


@pytest.mark.parametrize(
    ("features_file", "splits_file", "message"),
    [
        ({"features": samples.features()[:7]}, {}, r"features of shape \(7, 4\) do not fit 30 lab"),
        ({"labels": samples.labels()}, {}, "labels contains 0, so it counts from 0"),
        ({"labels": samples.labels() + 3}, {}, "run from 2 to 7, but there are 6 classes"),
        ({"labels": -samples.labels()}, {}, "labels contains -5"),
        ({"labels": samples.labels() + 1.5}, {}, "1.5 at position 0 is not a whole number"),
        ({"labels": "cat"}, {}, "labels: must be numbers, not texts"),
        ({"features": np.full((4, 30), np.nan)}, {}, "nan at row 0, column 0"),
        ({"features": np.zeros((4, 30))}, {}, "row 0 is all zeros"),
        ({"features": np.ones((2, 2, 2))}, {}, "features must be a table of numbers"),
        ({"features": np.full((4, 30), 1e300)}, {}, "too large"),
        ({}, {"att": np.full((3, 6), np.nan)}, "nan at row 0, column 0, class 'zebra'"),
        ({}, {"att": np.ones((3, 6))}, "'zebra' and 'ant' are described by the same"),
        ({}, {"att": np.ones((3, 7))}, "7 rows for 6 classes"),
        ({}, {"trainval_loc": np.arange(16)}, "trainval_loc contains 0, so it counts from 0"),
        ({}, {"test_seen_loc": np.arange(1, 5)}, "trainval and test_seen share 3 rows"),
        ({}, {"test_unseen_loc": np.array([31])}, "run from 30 to 30, but there are 30 rows"),
        ({}, leaking_sets(), "'bat' is in test_unseen but also has training images"),
        ({}, {"allclasses_names": samples.cells(["ant"] * 6)}, "'ant' is listed 6 times"),
        ({}, {"allclasses_names": samples.cells([""] * 6)}, "not a non-empty text"),
    ],
)
def test_each_fault_is_named(tmp_path, features_file, splits_file, message):
    folder = samples.write_xlsa17(tmp_path, features_file, splits_file)
    with pytest.raises(MczslError, match=message) as caught:
        load(folder)
    assert str(caught.value).startswith("ZOO: ")


@pytest.mark.parametrize(
    "key", ["features", "labels", "att", "trainval_loc", "test_seen_loc", "test_unseen_loc"]
)
def test_a_missing_variable_is_named_with_those_that_are_there(tmp_path, key):
    folder = samples.write_xlsa17(tmp_path, {"image_files": "x"}, drop=[key])
    with pytest.raises(MczslError, match=rf"the variable '{key}' is missing \(there are: .*\)"):
        load(folder)


def test_one_look_finds_all_faults(tmp_path):
    folder = samples.write_xlsa17(
        tmp_path,
        {"features": np.full((4, 30), np.nan)},
        {"att": np.zeros((3, 6)), "test_seen_loc": np.arange(1, 5)},
        drop=["test_unseen_loc"],
    )
    found = "\n".join(problems(folder))
    for message in ("'test_unseen_loc' is missing", "nan at row 0", "'cow' are all zeros"):
        assert message in found


def test_train_loc_and_val_loc_are_not_needed_but_used(tmp_path):
    assert load(samples.write_xlsa17(tmp_path)).splits.validation_classes == ()
    train, held_out = np.arange(1, 11), np.arange(11, 21)
    folder = samples.write_xlsa17(tmp_path, None, {"train_loc": train, "val_loc": held_out})
    dataset = load(folder)
    assert dataset.splits.validation_classes == ((2, 3),)
    assert dataset.provenance["validation"] == "val_loc"


def test_validation_lists_are_matched_however_the_names_are_spelled(tmp_path):
    folder = samples.write_xlsa17(tmp_path)
    (folder / "valclasses1.txt").write_bytes(b"\xef\xbb\xbfowl\r\nGrizzly_Bear \r\n\r\n")
    (folder / "valclasses2.txt").write_text("ant\n")
    (folder / "valclasses10.txt").write_text("zebra\n")
    dataset = load(folder)
    assert dataset.splits.validation_classes == ((2, 3), (1,), (0,))
    assert dataset.provenance["validation"].split(", ")[2] == "valclasses10.txt"


@pytest.mark.parametrize("content", ["owl\nbat\n", "owl\nunicorn\n", ""])
def test_a_validation_list_that_names_other_than_seen_classes_is_not_used(tmp_path, content):
    folder = samples.write_xlsa17(tmp_path)
    (folder / "valclasses1.txt").write_text(content)
    assert load(folder).splits.validation_classes == ()
    assert any(
        "valclasses1.txt: names classes that are not seen" in each for each in problems(folder)
    )


def test_class_names_in_another_order_than_the_labels_are_suspected(tmp_path):
    in_order = sorted(samples.NAMES)
    images = samples.cells([f"images/{samples.NAMES[c]}/{c}.jpg" for c in samples.labels()])
    for names, suspected in ((samples.NAMES, False), (in_order, True)):
        folder = samples.write_xlsa17(
            tmp_path, {"image_files": images}, {"allclasses_names": samples.cells(names)}
        )
        (folder / "testclasses.txt").write_text("bat\ncow\n")
        found = "\n".join(problems(folder))
        assert ("testclasses.txt and test_unseen_loc differ" in found) == suspected
        assert ("'images/zebra/0.jpg' (row 0) is labelled 'ant'" in found) == suspected


def test_mat_v73_says_how_to_convert(tmp_path):
    folder = samples.write_xlsa17(tmp_path)
    hdf5 = b"\x89HDF\r\n\x1a\n" + bytes(100)
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM" + bytes(384)
    for content in (header + hdf5, hdf5):
        (folder / "res101.mat").write_bytes(content)
        with pytest.raises(MczslError, match=r"MAT v7\.3 .*'-v7'"):
            load(folder)


def test_a_text_with_the_name_of_a_mat_file_is_refused(tmp_path):
    folder = samples.write_xlsa17(tmp_path)
    (folder / "res101.mat").write_text("<html>404</html>")
    with pytest.raises(MczslError, match=r"res101\.mat: is not a MAT file"):
        load(folder)


def test_a_table_that_would_unpack_absurdly_is_refused(tmp_path):
    folder = samples.write_xlsa17(
        tmp_path, {"features": scipy.sparse.csc_matrix(([1.0], ([0], [0])), (60000, 60000))}
    )
    with pytest.raises(MczslError, match="would unpack from"):
        load(folder)


@pytest.fixture(scope="module")
def sound_folder(tmp_path_factory):
    return samples.write_xlsa17(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("file", ["res101.mat", "att_splits.mat"])
@given(cut=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_an_error_that_says_so(sound_folder, file, cut):
    path = sound_folder / file
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: int(cut * len(whole))])
        with pytest.raises(MczslError):
            load(sound_folder)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("file", ["res101.mat", "att_splits.mat"])
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=5)
)
def test_random_damage_gives_a_dataset_or_a_named_error(sound_folder, file, compressed, changes):
    path = sound_folder / file
    whole = path.read_bytes()
    if compressed:
        content = {k: v for k, v in scipy.io.loadmat(path).items() if k[0] != "_"}
        scipy.io.savemat(path, content, do_compression=True)
    damaged = bytearray(path.read_bytes())
    for place, value in changes:
        damaged[int(place * len(damaged))] = value
    try:
        path.write_bytes(damaged)
        assert isinstance(load(sound_folder), FeatureDataset)
    except MczslError:
        pass
    finally:
        path.write_bytes(whole)
