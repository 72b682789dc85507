import contextlib
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mczsl.data import arrays
from mczsl.data.dataset import FeatureDataset
from mczsl.errors import MczslError
from tests.data import samples


def by_name(dataset: FeatureDataset) -> list[str]:
    return [dataset.class_names[label] for label in dataset.labels]


EXPECTED = [samples.NAMES[label] for label in samples.labels()]


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> FeatureDataset:
    return arrays.load(samples.write_npz(tmp_path_factory.mktemp("plain") / "zoo.npz"))


def write_folder(folder, **texts):
    """A folder of CSV files; a text replaces a file, None removes it."""
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "features.csv", samples.features(), delimiter=",", fmt="%.9g")
    (folder / "labels.csv").write_text("label\n" + "\n".join(EXPECTED))
    rows = zip(samples.NAMES, samples.attributes().tolist(), strict=True)
    lines = (f"{name},{','.join(map(repr, row))}" for name, row in rows)
    (folder / "attributes.csv").write_text("\n".join(lines))
    for name, numbers in samples.sets().items():
        (folder / f"{name}.csv").write_text("\n".join(map(str, numbers)))
    for name, text in texts.items():
        path = folder / f"{name}.csv"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
    return folder


def test_an_npz_is_read_as_it_was_written(plain):
    np.testing.assert_array_equal(plain.features, samples.features())
    np.testing.assert_array_equal(plain.attributes, samples.attributes())
    assert by_name(plain) == EXPECTED
    assert plain.name == "zoo"
    assert plain.provenance["split"] == "given"
    for name, rows in samples.sets().items():
        np.testing.assert_array_equal(plain.splits.sets()[name], rows)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": np.array(EXPECTED)},
        {"labels": np.array(EXPECTED, dtype="S")},
        {"labels": samples.labels() + 1},
        {"labels": samples.labels().astype(np.float64)},
        {"labels": samples.labels().astype(">i2")},
        {"features": samples.features().astype(">f4")},
        {"features": np.asfortranarray(samples.features())},
        {"attributes": samples.attributes().astype(np.float64)},
        {"trainval": np.isin(np.arange(30), samples.sets()["trainval"])},
        {"test_seen": samples.sets()["test_seen"].astype(np.float32)},
    ],
)
def test_the_same_data_in_another_form_are_the_same(tmp_path, plain, change):
    assert arrays.load(samples.write_npz(tmp_path / "zoo.npz", **change)).fingerprint == (
        plain.fingerprint
    )


def test_a_folder_of_tables_is_the_same_as_an_npz(tmp_path, plain):
    folder = write_folder(tmp_path / "zoo")
    assert arrays.load(folder).fingerprint == plain.fingerprint
    pd.DataFrame(samples.features()).to_parquet(folder / "features.parquet")
    (folder / "features.csv").unlink()
    (folder / "labels.csv").unlink()
    pd.DataFrame({"label": EXPECTED}).to_parquet(folder / "labels.parquet")
    assert arrays.load(folder).fingerprint == plain.fingerprint


def test_features_in_a_folder_stay_on_disk(tmp_path, plain):
    folder = write_folder(tmp_path / "zoo")
    np.save(folder / "features.npy", samples.features())  # goes before features.csv
    np.save(folder / "attributes.npy", samples.attributes())
    (folder / "class_names.txt").write_text("\n".join(samples.NAMES))
    dataset = arrays.load(folder)
    assert isinstance(dataset.features, np.memmap)
    assert dataset.fingerprint == plain.fingerprint


def test_integer_features_become_numbers_to_compute_with(tmp_path):
    whole = np.arange(1, 121).reshape(30, 4)
    dataset = arrays.load(samples.write_npz(tmp_path / "zoo.npz", features=whole))
    assert dataset.features.dtype == np.float32
    np.testing.assert_array_equal(dataset.features, whole)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (samples.labels(), ("0", "1", "2", "3", "4", "5")),
        (samples.labels() + 1, ("1", "2", "3", "4", "5", "6")),
    ],
)
def test_without_class_names_the_numbers_are_the_names(tmp_path, labels, names):
    path = samples.write_npz(tmp_path / "zoo.npz", labels=labels, drop=["class_names"])
    dataset = arrays.load(path)
    assert dataset.class_names == names
    np.testing.assert_array_equal(dataset.labels, samples.labels())


def test_numbers_that_are_class_names_are_names_and_not_positions(tmp_path):
    names = np.array([30, 20, 10, 5, 4, 3])
    path = samples.write_npz(
        tmp_path / "zoo.npz", class_names=names, labels=names[samples.labels()].astype(float)
    )
    np.testing.assert_array_equal(arrays.load(path).labels, samples.labels())


def test_gaps_are_classes_without_images(tmp_path):
    labels = np.where(samples.labels() == 1, 0, samples.labels())
    dataset = arrays.load(samples.write_npz(tmp_path / "zoo.npz", labels=labels))
    assert dataset.n_classes == 6
    assert 1 not in dataset.seen_classes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"labels": samples.labels() - 1},
            "'-1' at row 0 is no class with attributes .5 such rows",
        ),
        ({"labels": samples.labels() + 2}, "'6' at row 20 is no class"),
        ({"labels": samples.labels() * 0.5}, "0.5 at position 5 is not a whole number"),
        ({"labels": np.array(["antt", *EXPECTED[1:]])}, "'antt' at row 0 .* did you mean 'ant'"),
        ({"labels": np.array(["", *EXPECTED[1:]])}, "labels: row 0 is empty"),
        ({"labels": samples.labels()[:9]}, "9 for 30 feature rows"),
        ({"labels": samples.labels() > 0}, "row 0 is False; a label is a text or a whole number"),
        ({"labels": np.zeros((30, 2))}, r"not a table of shape \(30, 2\)"),
        ({"class_names": np.array(["ant"] * 6)}, "'ant' is listed 6 times"),
        ({"class_names": np.array(samples.NAMES[:5])}, "6 rows for 5 classes"),
        ({"features": np.ones(30)}, "must be a table"),
        ({"features": samples.features() > 1}, "not booleans"),
        ({"features": samples.features().astype(str)}, "not texts"),
        ({"features": samples.features() * np.nan}, "nan at row 0, column 0"),
        ({"features": samples.features() + 0j}, "not complex64"),
        ({"attributes": np.ones(6)}, "attributes: must be a table"),
        ({"trainval": np.arange(31)}, "row numbers run from 0 to 30"),
        ({"trainval": samples.sets()["test_seen"]}, "trainval and test_seen share"),
        ({"validation_classes": np.array(["cow"])}, "validation list 1"),
        ({"validation_classes": np.array(["unicorn"])}, "validation_classes: 'unicorn'"),
    ],
)
def test_each_fault_is_named(tmp_path, change, message):
    with pytest.raises(MczslError, match=message):
        arrays.load(samples.write_npz(tmp_path / "zoo.npz", **change))


@pytest.mark.parametrize("name", ["features", "labels", "attributes"])
def test_what_is_needed_and_missing_is_named(tmp_path, name):
    with pytest.raises(MczslError, match=rf"{name} are missing .*add an array '{name}'"):
        arrays.load(samples.write_npz(tmp_path / "zoo.npz", drop=[name]))
    with pytest.raises(MczslError, match=rf"{name} are missing .*add {name}\.csv"):
        arrays.load(write_folder(tmp_path / "zoo", **{name: None}))


def test_text_labels_need_class_names(tmp_path):
    path = samples.write_npz(tmp_path / "z.npz", labels=np.array(EXPECTED), drop=["class_names"])
    with pytest.raises(MczslError, match="class_names must name the attributes"):
        arrays.load(path)


def test_a_split_is_given_whole_or_not_at_all(tmp_path):
    with pytest.raises(MczslError, match="has trainval, test_seen but no test_unseen"):
        arrays.load(samples.write_npz(tmp_path / "zoo.npz", drop=["test_unseen"]))


def test_without_a_split_the_default_is_used(tmp_path):
    path = samples.write_npz(tmp_path / "zoo.npz", drop=list(samples.sets()))
    dataset = arrays.load(path)
    assert len(dataset.unseen_classes) == 1
    assert len(dataset.splits.test_seen) == 5
    assert dataset.provenance["split"].startswith("default: 20% of the classes unseen")
    assert arrays.load(path).fingerprint == dataset.fingerprint


@pytest.mark.parametrize("unseen", [np.array(["cow", "ant"]), np.array([6, 2])])
def test_unseen_classes_are_named_like_the_labels(tmp_path, unseen):
    path = samples.write_npz(
        tmp_path / "zoo.npz",
        drop=list(samples.sets()),
        labels=np.array(EXPECTED) if unseen.dtype.kind == "U" else samples.labels() + 1,
        unseen_classes=unseen,
        validation_classes=unseen[:0],
        validation_classes_2=np.array(["owl"] if unseen.dtype.kind == "U" else [4]),
    )
    dataset = arrays.load(path)
    assert dataset.unseen_classes.tolist() == [1, 5]
    assert dataset.splits.validation_classes == ((), (3,))


def test_a_misspelled_array_is_pointed_out(tmp_path):
    path = samples.write_npz(tmp_path / "zoo.npz", unseen_clases=np.array(["cow"]))
    (problem,) = arrays.read(path).all_problems()
    assert problem.level == "warning"
    assert "'unseen_clases' is not used; did you mean 'unseen_classes'?" in problem.message


def test_python_objects_are_never_loaded(tmp_path):
    path = samples.write_npz(tmp_path / "zoo.npz", labels=np.array([None] * 30, dtype=object))
    with pytest.raises(MczslError, match="array of Python objects is never loaded"):
        arrays.load(path)


def test_a_zip_bomb_is_refused_unread(tmp_path):
    path = samples.write_npz(tmp_path / "zoo.npz", drop=["features"])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("features.npy", bytes(10**6))
        archive.filelist[-1].file_size = 10**9  # as the directory of a bomb declares it
    with pytest.raises(
        MczslError, match=r"features\.npy would unpack from \d+ to 1000000000 bytes"
    ):
        arrays.load(path)


def test_an_array_that_claims_more_than_it_holds_is_refused(tmp_path):
    path = samples.write_npz(tmp_path / "zoo.npz", drop=["features"])
    shape = repr({"descr": "<f4", "fortran_order": False, "shape": (10**14, 4)}).encode()
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("features.npy", b"\x93NUMPY\1\0\x76\0" + shape.ljust(117) + b"\n")
    with pytest.raises(MczslError, match=r"zoo\.npz: (cannot be read|claims to hold more)"):
        arrays.load(path)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\3\4"])
def test_what_is_no_npz_is_refused(tmp_path, content):
    (tmp_path / "zoo.npz").write_bytes(content)
    with pytest.raises(MczslError, match=r"zoo\.npz: cannot be read"):
        arrays.load(tmp_path / "zoo.npz")


def test_one_look_finds_all_faults(tmp_path):
    path = samples.write_npz(
        tmp_path / "zoo.npz",
        features=samples.features() * np.nan,
        attributes=np.zeros((6, 3)),
        labels=samples.labels() - 1,
    )
    found = "\n".join(problem.message for problem in arrays.read(path).all_problems())
    for message in ("nan at row 0", "'-1' at row 0", "'cow' are all zeros"):
        assert message in found


@given(
    table=hnp.arrays(np.float32, (12, 3), elements=st.floats(1, 9, width=32)),
    order=st.permutations(list("abcdef")),
)
def test_any_dataset_survives_the_way_through_npz_and_csv(tmp_path_factory, table, order):
    """Labels follow their names, whatever the order of the classes."""
    folder = tmp_path_factory.mktemp("round")
    attributes = np.eye(6, dtype=np.float32)
    labels = ["abcdef"[row % 6] for row in range(12)]
    np.savez(
        folder / "d.npz", features=table, labels=labels, attributes=attributes, class_names=order
    )
    pd.DataFrame(table).to_csv(folder / "features.csv")
    pd.Series(labels, name="label").to_csv(folder / "labels.csv", index=False)
    pd.DataFrame(attributes, index=order).to_csv(folder / "attributes.csv")
    first, second = arrays.load(folder / "d.npz"), arrays.load(folder)
    assert by_name(first) == by_name(second) == labels
    assert first.fingerprint == second.fingerprint


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=6))
def test_random_damage_gives_a_dataset_or_a_named_error(tmp_path_factory, changes):
    path = samples.write_npz(tmp_path_factory.getbasetemp() / "damaged.npz")
    content = bytearray(path.read_bytes())
    for place, value in changes:
        content[int(place * len(content))] = value
    path.write_bytes(content)
    with contextlib.suppress(MczslError):
        assert isinstance(arrays.load(path), FeatureDataset)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text + "\n" + text.splitlines()[1], "class 'ant' is listed 2 times"),
        (lambda text: text.replace("owl", "eagle"), "labels: 'owl' at row 15 is no class"),
        (lambda text: text.replace("owl", " "), "class names: row 3 is empty"),
        (lambda text: text + ",1", "row 5 has 5 columns, the rows before it 4"),
    ],
)
def test_a_class_that_is_twice_or_not_in_the_attributes_is_named(tmp_path, spoil, message):
    folder = write_folder(tmp_path / "zoo")
    path = folder / "attributes.csv"
    path.write_text(spoil(path.read_text()))
    with pytest.raises(MczslError, match=message):
        arrays.load(folder)
