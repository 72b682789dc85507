"""The project keeps its own promises: layers, sizes, quick help, no machine in the files."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

LINE_LIMIT = 400
# Addresses of package registries and folders of one machine: an install must follow the
# user's own pip settings, and the pages must be true on every machine.
MACHINE_TRACES = re.compile(
    r"pypi\.org|pythonhosted\.org|download\.pytorch\.org|--index-url|--extra-index-url|--find-links"
    r"|/opt/pypi|/root/|/work/"
)
LAZY_COMMANDS = {
    "mczsl --help": ["--help"],
    "mczsl run --help": ["run", "--help"],
    "mczsl methods": ["methods"],
    "mczsl datasets": ["datasets"],
}
HEAVY = ("torch", "scipy", "sklearn", "matplotlib", "pandas")


def load_pyproject(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def layered_names(root: Path) -> list[str]:
    """The names in the layers contract, highest first."""
    contract = load_pyproject(root)["tool"]["importlinter"]["contracts"][0]
    return [
        name.strip().strip("()") for layer in contract["layers"] for name in re.split("[:|]", layer)
    ]


def tracked_files(root: Path) -> list[Path]:
    """What git tracks; in an unpacked archive, everything that is not hidden or built."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
        ).stdout
        return [root / name for name in listing.split("\0") if name and (root / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        skipped = {"build", "dist", "site", "__pycache__"}
        return [
            path
            for path in root.rglob("*")
            if path.is_file()
            and not any(
                part.startswith(".") or part in skipped or part.endswith(".egg-info")
                for part in path.relative_to(root).parts
            )
        ]


def test_every_module_has_a_layer(repo_root: Path) -> None:
    names = layered_names(repo_root)
    assert len(names) == len(set(names)), "a module stands in two layers"
    present = {
        path.stem if path.is_file() else path.name
        for path in (repo_root / "src" / "mczsl").iterdir()
        if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py")))
    } - {"__init__"}
    assert present, "found no modules at all"
    assert present <= set(names), f"no layer in pyproject.toml for {sorted(present - set(names))}"


def test_modules_stay_short(repo_root: Path) -> None:
    lengths = {
        str(path.relative_to(repo_root)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (repo_root / "src").rglob("*.py")
    }
    assert lengths
    too_long = {name: n for name, n in lengths.items() if n > LINE_LIMIT}
    assert not too_long, f"split these: {too_long}"


def test_every_package_has_an_init(repo_root: Path) -> None:
    """setuptools leaves a folder without __init__.py out of the wheel without a word."""
    source = repo_root / "src" / "mczsl"
    folders = {path.parent for path in source.rglob("*.py")}
    assert source in folders
    assert [str(f) for f in folders if not (f / "__init__.py").is_file()] == []


def test_files_name_no_registry_and_no_machine(repo_root: Path) -> None:
    suffixes = {".md", ".py", ".toml", ".txt", ".yml", ".yaml", ".cff", ".html", ".j2", ""}
    files = [
        path
        for path in tracked_files(repo_root)
        if path.suffix in suffixes and path != Path(__file__).resolve()
    ]
    assert repo_root / "pyproject.toml" in files
    found = [
        f"{path.relative_to(repo_root)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if MACHINE_TRACES.search(line)
    ]
    assert not found, "\n".join(found)


def test_documentation_loads_nothing_from_elsewhere(repo_root: Path, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)],
        cwd=repo_root,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    pages = {page.name: page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    assert "concepts.html" in pages
    loaded = (
        r"""<(?:script|img|iframe)[^>]+src="?https?:[^>]*|<link[^>]+stylesheet[^>]+https?:[^>]*"""
    )
    assert {
        name: found for name, page in pages.items() if (found := re.findall(loaded, page))
    } == {}


def test_constraints_are_exact_and_cover_the_dependencies(repo_root: Path) -> None:
    lines = (repo_root / "constraints.txt").read_text(encoding="utf-8").split()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines), "not exact, or +local"
    pinned = {normalised(line.split("==")[0]) for line in lines}
    project = load_pyproject(repo_root)["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = [each for group in groups for each in group]
    names = {normalised(re.match(r"[\w.-]+", each).group()) for each in wanted} - {"mczsl"}
    assert {"torch", "pytest"} <= names
    assert names <= pinned, f"not in constraints.txt: {sorted(names - pinned)}"


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_version_has_one_source(repo_root: Path) -> None:
    import mczsl

    declared = load_pyproject(repo_root)["project"]["version"]
    assert mczsl.__version__ == metadata.version("mczsl") == declared


def test_typed_marker_is_installed() -> None:
    import mczsl

    assert Path(mczsl.__file__).with_name("py.typed").is_file()


@pytest.mark.parametrize("arguments", LAZY_COMMANDS.values(), ids=LAZY_COMMANDS.keys())
def test_quick_commands_load_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    """Help in half a second means: nobody imports torch on the way to it."""
    probe = (
        "import json, sys\n"
        "from mczsl.cli import main\n"
        "sys.argv = ['mczsl', *sys.argv[1:]]\n"
        "code = 0\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as stop:\n"
        "    code = stop.code or 0\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "print(json.dumps({'code': code, 'heavy': heavy}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.strip(), done.stderr
    assert json.loads(done.stderr.splitlines()[-1]) == {"code": 0, "heavy": []}


def test_python_dash_m_answers_without_torch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mczsl", "--help"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Usage" in done.stdout
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "mczsl.cli" in imported, "the import log is not what this test believes"
    assert not imported & set(HEAVY)
