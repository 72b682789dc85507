"""A Markdown page made of hand-written text and results: the text is a Jinja template.

In the template, ``{{ tables("table2") }}`` becomes the tables of that experiment,
``{{ charts("tasks", "H per task") }}`` its pictures of that kind,
``{{ times("table2", "MCZSL") }}`` training times in multiples of that row's,
``{{ overview("table1", "table2") }}`` the mH of every method for all of their settings,
``{{ commands() }}`` the commands that made it all, and ``{{ versions() }}`` what they ran on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from mczsl import storage
from mczsl.errors import ConfigError, unknown_name
from mczsl.experiments.results import Results
from mczsl.reports.across import harmonic_table, time_table
from mczsl.reports.charts import make_charts, styles
from mczsl.reports.formats import markdown
from mczsl.reports.svg import standalone
from mczsl.reports.tables import make_tables


def render_page(template: Path, experiments: list[Results], out: Path) -> None:
    """Write the page, and its pictures into ``assets/`` beside it."""
    environment = SandboxedEnvironment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    parts = _Parts(experiments, out)
    environment.globals |= {
        "tables": parts.tables,
        "charts": parts.charts,
        "times": parts.times,
        "overview": parts.overview,
        "commands": parts.commands,
        "versions": parts.versions,
    }
    try:
        text = environment.from_string(template.read_text(encoding="utf-8")).render()
    except OSError as error:
        raise ConfigError(f"{template}: cannot be read: {error.strerror}") from None
    except jinja2.TemplateError as error:
        raise ConfigError(f"{template}: {error}") from None
    storage.write_output(out, text.encode())


class _Parts:
    """What a template may ask for."""

    def __init__(self, experiments: list[Results], out: Path):
        self._experiments = {results.name: results for results in experiments}
        self._styles = styles(experiments)
        self._out = out
        self._pictures: dict[Path, str] = {}

    def tables(self, name: str, level: int = 3) -> str:
        return markdown(make_tables(self._results(name)), level)

    def charts(self, name: str, kind: str) -> str:
        found = [c for c in make_charts(self._results(name), self._styles) if c.kind == kind]
        if not found:
            kinds = {chart.kind for chart in make_charts(self._results(name), self._styles)}
            raise unknown_name(f"chart of {name}", kind, kinds)
        links = []
        for chart in found:
            file = self._file(f"{self._out.stem}-{_slug(f'{name} {chart.title}')}", chart.svg)
            storage.write_atomically(self._out.parent / file, standalone(chart.svg).encode())
            links.append(f"![{chart.title}]({file.as_posix()})")
        return "\n".join(links)

    def _file(self, name: str, svg: str) -> Path:
        """A place for a picture, where no other picture of this page is."""
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        files = (Path("assets") / f"{each}.svg" for each in names)
        return next(file for file in files if self._pictures.setdefault(file, svg) == svg)

    def times(self, name: str, base: str, level: int = 3) -> str:
        return markdown([time_table(self._results(name), base)], level)

    def overview(self, *names: str, level: int = 3) -> str:
        return markdown([harmonic_table(map(self._results, names))], level)

    def commands(self) -> str:
        lines = dict.fromkeys(results.command for results in self._experiments.values())
        return "\n".join(["```console", *(f"$ {line}" for line in lines), "```"])

    def versions(self) -> str:
        return "; ".join(versions(self._experiments.values()))

    def _results(self, name: str) -> Results:
        if name not in self._experiments:
            raise unknown_name("experiment", name, self._experiments)
        return self._experiments[name]


def versions(experiments: Iterable[Results]) -> list[str]:
    """The distinct surroundings of all finished runs."""
    records = [run.state.record for results in experiments for run in results.runs]
    return list(
        dict.fromkeys(
            f"mczsl {record['version']}, torch {record['torch']}, {record['platform']}, "
            f"{record['device']}, {record['threads']} thread(s)"
            for record in records
            if record is not None
        )
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
