"""The Ray engine on a real cluster of two nodes, one of which is killed in the middle."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mczsl.errors import ConfigError
from mczsl.experiments.bench import Ended, perform, prepare
from mczsl.experiments.experiment import Experiment
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.local_engine import Job, OnEnd
from mczsl.experiments.ray_engine import run_on_ray
from mczsl.runs.config import RunConfig
from mczsl.runs.loop import run
from tests.grids import QUICK, SLOW, experiment, figures, runs_in

# Notice a dead node within seconds, and write no files into anybody's home.
SYSTEM = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 3,
}
QUIET = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
SMALL_NODE = ["--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats", "--block"]


class Node:
    """One ``ray start``, and all processes that come of it."""

    def __init__(self, *arguments: str):
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", *arguments, *SMALL_NODE]
        with tempfile.TemporaryFile() as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def family(self) -> dict[int, str]:
        """The command lines of this process and all below it."""
        parents, lines = {}, {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parents[int(path.name)] = int(
                    (path / "stat").read_text().rpartition(")")[2].split()[1]
                )
                lines[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue  # it has just ended
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return {pid: lines.get(pid, "") for pid in found}

    def is_at_work(self) -> bool:
        return any("ray::execute_remotely" in line for line in self.family().values())

    def kill(self) -> None:
        """As a power cut would: everything at once."""
        for pid in self.family():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def cluster() -> Iterator[tuple[str, Node]]:
    """The address of a cluster of two nodes, and the node that may be killed."""
    ray = pytest.importorskip("ray", exc_type=ImportError)
    port = free_port()
    place = tempfile.mkdtemp(prefix="ray")  # short: it ends up in the names of sockets
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUIET.items():
            patch.setenv(name, value)
        head = Node(
            "--head", "--node-ip-address=127.0.0.1", f"--port={port}", "--include-dashboard=false",
            f"--temp-dir={place}", f"--system-config={json.dumps(SYSTEM)}",
        )  # fmt: skip
        address = f"127.0.0.1:{port}"
        wait_for_port(port, head)
        second = Node(f"--address={address}", "--node-ip-address=127.0.0.1")
        yield address, second
        ray.shutdown()
        second.kill()
        head.kill()
    shutil.rmtree(place, ignore_errors=True)


def wait_for_port(port: int, head: Node) -> None:
    while True:
        assert head.process.poll() is None, "ray start --head has ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)


def perform_on_ray(
    folder: ResultFolder, wanted: Experiment, address: str, begun: Callable[[], None] | None = None
) -> list[Ended]:
    heard: list[Ended] = []

    def engine(where: ResultFolder, jobs: Sequence[Job], on_end: OnEnd) -> None:
        if begun is not None:
            begun()
        run_on_ray(where, jobs, 2, on_end, address)

    perform(folder, prepare({"test": wanted}, folder), engine, heard.append)
    return heard


def test_a_node_dies_in_the_middle_and_every_run_ends_once(
    cluster: tuple[str, Node], tmp_path: Path
) -> None:
    address, second = cluster
    folder = ResultFolder(tmp_path / "out")
    wanted = experiment(
        variants=[
            {"label": "slow", "method": "mczsl", "settings": SLOW},
            {"label": "quick", "method": "sequential", "settings": QUICK},
            {"label": "wild", "method": "mczsl", "settings": QUICK | {"rate": 1e30, "epochs": 5}},
        ],
        seeds=[0, 1],
        tasks=3,
    )
    killed = threading.Event()

    def kill_when_at_work() -> None:
        while not second.is_at_work():
            time.sleep(0.1)  # a look is not cheap
        second.kill()
        killed.set()

    killer = threading.Thread(target=kill_when_at_work, daemon=True)
    heard = perform_on_ray(folder, wanted, address, killer.start)
    assert killed.is_set(), "the second node was never at work"
    assert Counter(ended.job.key for ended in heard) == Counter(
        result.key for result in runs_in(folder)
    )
    states = Counter((result.label, result.state.state) for result in runs_in(folder))
    expected = {("slow", "finished"): 2, ("quick", "finished"): 2, ("wild", "diverged"): 2}
    assert states == expected, {ended.failure for ended in heard}
    slow = runs_in(folder)[0]
    alone = run(RunConfig.model_validate(slow.config))
    assert figures(slow.state.record) == figures(alone) | {"run": slow.config}
    assert len(slow.analysis()["stages"]) == 3
    assert perform_on_ray(folder, wanted, address) == [], "something was done twice"


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    pytest.importorskip("ray", exc_type=ImportError)
    with pytest.raises(ConfigError, match="ray start --head"):
        perform_on_ray(ResultFolder(tmp_path), experiment(), f"127.0.0.1:{free_port()}")
