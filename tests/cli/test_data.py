import http.server
import json
import shutil
import threading
from functools import partial

import pytest
from typer.testing import CliRunner

from mczsl.cli.data import app
from mczsl.errors import MczslError
from tests.data import samples


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    if isinstance(result.exception, MczslError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def root(tmp_path):
    samples.write_xlsa17(tmp_path / "root")
    return tmp_path / "root"


def test_list_shows_names_and_files(root):
    table = run("list", "--data-root", root).stdout
    (line,) = [line for line in table.splitlines() if line.strip().startswith("ZOO")]
    assert line.split()[-2:] == ["res101", "att"]
    infos = json.loads(run("list", "--data-root", root, "--json").stdout)
    assert {"name": "ZOO", "features": ["res101"]}.items() <= infos[-1].items()


def test_check_tells_what_a_dataset_is(root):
    assert "test_unseen 10" in run("check", "zoo", "--data-root", root).stdout
    facts = json.loads(run("check", root / "ZOO", "--json").stdout)
    assert facts["ok"] is True
    assert facts["facts"]["unseen classes"] == 2


def test_check_ends_with_code_1_when_the_data_cannot_be_used(root):
    samples.write_xlsa17(root, {"labels": samples.labels()}, drop=["test_seen_loc"])
    text = run("check", "zoo", "--data-root", root, code=1).stdout
    assert "labels contains 0" in text
    assert "'test_seen_loc' is missing" in text
    assert "2 errors" in text
    assert json.loads(run("check", root / "ZOO", "--json", code=1).stdout)["ok"] is False


def test_an_unknown_dataset_is_an_error_with_a_suggestion(root):
    with pytest.raises(MczslError, match="did you mean 'ZOO'"):
        run("check", "zooo", "--data-root", root)


@pytest.fixture
def address(root, tmp_path):
    """A web server with an archive of the dataset, laid out like the public one."""
    shutil.copytree(root, tmp_path / "source" / "zoos" / "data")
    shutil.make_archive(str(tmp_path / "web" / "zoos"), "zip", tmp_path / "source")
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "web")

    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/zoos.zip"
        server.shutdown()
        thread.join()


def test_what_was_fetched_is_listed_and_sound(address, tmp_path):
    new = tmp_path / "new"
    result = run("get", "--url", address, "--data-root", new)
    assert f"mczsl data list --data-root {new}" in result.stdout
    assert "zoos.zip: 0.0 of 0.0 MB" in result.stderr
    names = [info["name"] for info in json.loads(run("list", "--data-root", new, "--json").stdout)]
    assert "ZOO" in names
    run("check", "zoo", "--data-root", new)
    run("get", "--url", address, "--data-root", new)  # nothing to do the second time


def test_a_checksum_can_be_demanded(address, tmp_path):
    with pytest.raises(MczslError, match="sha256"):
        run("get", "--url", address, "--data-root", tmp_path / "new", "--sha256", "0" * 64)


def test_an_unknown_archive_is_an_error():
    with pytest.raises(MczslError, match="unknown archive 'xlsa18'; did you mean 'xlsa17'"):
        run("get", "xlsa18")
