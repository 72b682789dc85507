"""The command line. Importing it is cheap: every command imports what it needs when it runs."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

import typer

from mczsl.cli import bench, data, demo, features, model, run, tune
from mczsl.errors import MczslError, printable

app = typer.Typer(
    name="mczsl",
    help="Continual generalized zero-shot learning: classify what was never seen, keep learning.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("tune")(tune.tune)
app.command("methods")(run.methods)
app.add_typer(
    bench.app, name="bench", help="The paper's tables and figures, or your own experiments."
)
app.command("report")(bench.report)
app.command("features")(features.features)
app.command("train")(model.train)
app.command("learn")(model.learn)
app.command("add-class")(model.add_class)
app.command("predict")(model.predict)
app.command("info")(model.info)
app.add_typer(model.export_app, name="export", help="Write a model for other programs.")
data.app.command("build")(features.build)
app.add_typer(data.app, name="data", help="Get, list, check and build datasets.")
app.command("datasets")(data.list_datasets)


def main() -> None:
    """Entry point: errors that the user can mend are printed in one line, without a trace."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a character it lacks is spelled out, no error
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except MczslError as error:
        _fail(str(error))
    except OSError as error:  # such as a full disk behind standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to write has nowhere to go
        _fail(str(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        _fail(f"there is not enough memory; choose smaller sizes ({error})")


def _fail(message: str) -> NoReturn:
    print(f"mczsl: {printable(message)}", file=sys.stderr)
    raise SystemExit(2)
