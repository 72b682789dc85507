"""Pages from a template: hand-written text around results."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from mczsl.errors import ConfigError
from mczsl.experiments.experiment import load_experiment
from mczsl.experiments.folder import ResultFolder
from mczsl.experiments.results import Results, read_results
from mczsl.reports.page import render_page
from tests.reports.made_up import made_up, record

TEMPLATE = """# By hand
{{ overview("table2", level=4) }}
{{ tables("table2") }}
{{ charts("memory", "Memory") }}
{{ commands() }}
{{ versions() }}
"""


def render(text: str, results: list[Results], folder: Path) -> str:
    (folder / "page.md.j2").write_text(text)
    render_page(folder / "page.md.j2", results, folder / "page.md")
    return (folder / "page.md").read_text()


def test_a_page_has_text_tables_pictures_and_commands(
    results_folder: ResultFolder, tmp_path: Path
) -> None:
    text = render(TEMPLATE, read_results(results_folder), tmp_path)
    assert text.startswith("# By hand\n#### A test: figure mH")
    assert "\n### A test: setting fixed continual GZSL" in text
    assert "| MCZSL |" in text
    assert "$ mczsl bench table2 tasks memory ablation" in text
    assert "1 thread(s)" in text
    (picture,) = (tmp_path / "assets").iterdir()
    assert f"](assets/{picture.name})" in text
    assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_same_results_give_the_same_page(results_folder: ResultFolder, tmp_path: Path) -> None:
    results = read_results(results_folder)
    assert render(TEMPLATE, results, tmp_path) == render(TEMPLATE, results, tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{{ tables("tabel2") }}', "did you mean 'table2'"),
        ('{{ overview("tabel2") }}', "did you mean 'table2'"),
        ('{{ charts("memory", "Memroy") }}', "did you mean 'Memory'"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{% if %}", "page.md.j2"),
        ("{{ tables.__globals__ }}", "unsafe"),
    ],
)
def test_a_wrong_template_says_what_is_wrong(
    results_folder: ResultFolder, tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        render(text, read_results(results_folder), tmp_path)


def test_each_chart_has_a_picture_that_says_what_it_shows(tmp_path: Path) -> None:
    runs = [("A", 0, record()), ("A", 0, record(), {"candidates": "restricted"})]
    text = render('{{ charts("made-up", "H per task") }}', [made_up(runs)], tmp_path)
    where = "H per task: data/res101/att, fixed continual GZSL"
    stem = "assets/page-made-up-h-per-task-data-res101-att-fixed-continual-gzsl"
    assert text.splitlines() == [
        f"![{where}, candidates joint]({stem}-candidates-joint.svg)",
        f"![{where}, candidates restricted]({stem}-candidates-restricted.svg)",
    ]
    assert len(list((tmp_path / "assets").iterdir())) == 2


def test_a_chart_without_such_differences_keeps_its_name(tmp_path: Path) -> None:
    changes = {"candidates": "restricted", "tasks": 2}
    runs = [("A", 0, record(), changes), ("B", 0, record(), changes)]
    text = render('{{ charts("made-up", "H per task") }}', [made_up(runs)], tmp_path)
    stem = "assets/page-made-up-h-per-task-data-res101-att-fixed-continual-gzsl"
    assert text == f"![H per task: data/res101/att, fixed continual GZSL]({stem}.svg)"


def test_names_that_differ_in_signs_alone_do_not_share_a_picture(tmp_path: Path) -> None:
    runs = [
        ("A", 0, record(H=[mH]), {"features": name}) for name, mH in [("a b", 1.0), ("a-b", 2.0)]
    ]
    text = render('{{ charts("made-up", "H per task") }}' * 2, [made_up(runs)], tmp_path)
    assert len(list((tmp_path / "assets").iterdir())) == 2
    assert text.count("gzsl.svg") == text.count("gzsl-2.svg") == 2


def test_a_missing_template_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        render_page(tmp_path / "none.j2", [], tmp_path / "page.md")


def test_the_projects_own_page_can_be_made(repo_root: Path, tmp_path: Path) -> None:
    """Its sections and its template belong together."""
    folder = repo_root / "docs" / "results"
    results = []
    for path in sorted(folder.glob("*.toml")):
        wanted = load_experiment(str(path))
        runs = [
            (plan.variant.name, plan.config.seeds.training, record(), plan.config.model_dump())
            for plan in wanted.runs()
        ]
        made = made_up(runs, show=wanted.show, reported=wanted.reported)
        results.append(
            Results(path.stem, wanted.title, wanted.show, wanted.reported, "mczsl", made.runs)
        )
    render_page(folder / "results.md.j2", results, tmp_path / "results.md")
    text = (tmp_path / "results.md").read_text()
    assert "reported (ResNet-101)" in text
    assert text.count("# ") > 10
