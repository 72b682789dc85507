"""The command line. Importing it is cheap: every command imports what it needs when it runs."""

from __future__ import annotations

import os
import sys

import typer

from mczsl.cli import bench, data, demo, run, tune
from mczsl.errors import MczslError

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
app.add_typer(data.app, name="data", help="Get, list and check datasets.")
app.command("datasets")(data.list_datasets)


def main() -> None:
    """Entry point: errors that the user can mend are printed in one line, without a trace."""
    try:
        app()
    except MczslError as error:
        print(f"mczsl: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output has gone, as in `mczsl methods | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
