"""Fills the command reference from the code, whenever the site is built."""

from typing import Any

import typer

from mczsl.cli import app
from mczsl.methods import available_methods, get_method

MARKER = "<!-- generated from the code -->"


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Put the reference where a page asks for it."""
    if MARKER not in markdown:
        return markdown
    return markdown.replace(MARKER, "\n".join([*_commands(), *_settings()]))


def _commands() -> list[str]:
    root = typer.main.get_command(app)
    lines: list[str] = []
    for path, command in _walk("mczsl", root):
        lines += [f"## `{path}`", "", command.help or "", ""]
        options = [option for option in command.params if option.name != "help"]
        if options:
            lines += ["| option | meaning | default |", "|---|---|---|"]
            lines += [_option_row(option) for option in options]
        lines.append("")
    return lines


def _walk(path: str, command: Any) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [
        found
        for name, inner in sorted(command.commands.items())
        for found in _walk(f"{path} {name}", inner)
    ]


def _option_row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.param_type_name == "argument":
        names = f"`{str(option.name).upper()}`"
    shown = option.default not in (None, False, [], ()) and not callable(option.default)
    help_text = (getattr(option, "help", None) or "").replace("|", "\\|")
    return f"| {names} | {help_text} | {f'`{option.default}`' if shown else ''} |"


def _settings() -> list[str]:
    lines = ["## Settings of the methods", "", "Each is a `--set key=value`.", ""]
    for name, info in available_methods().items():
        lines += [f"### {name}", "", info.summary, "", "| setting | meaning | default |"]
        lines.append("|---|---|---|")
        method = get_method(name)
        for key, field in method.Config.model_fields.items():
            lines.append(f"| `{key}` | {field.description or ''} | `{field.default}` |")
        for preset, values in method.presets.items():
            changes = ", ".join(f"`{key}={value}`" for key, value in values.items())
            lines += ["", f"Preset `{preset}`: {changes}."]
        lines.append("")
    return lines
