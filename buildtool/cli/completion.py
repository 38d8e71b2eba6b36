"""`lathe completion`: what a shell needs to complete command lines of `lathe`."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from buildtool.cli.command import command
from buildtool.cli.output import Output
from buildtool.errors import ConfigError
from buildtool.wording import did_you_mean

SCRIPTS = {
    "bash": """_lathe() {
  local IFS=$'\\n'
  COMPREPLY=($(lathe completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _lathe lathe
""",
    "zsh": """#compdef lathe
_lathe() {
  local -a found
  found=("${(@f)$(lathe completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _lathe lathe
""",
    "fish": """complete -c lathe -a '(lathe completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
""",
}
_CHOICES = re.compile(r"^\[?([\w+.-]+(\|[\w+.-]+)+)\]?$")


def completions(words: Sequence[str]) -> list[str]:
    """How the last of these words, which follow `lathe`, may go on; nothing where it is a file or free text."""
    from buildtool.cli.main import COMMANDS

    *before, last = words or [""]
    if not before:
        return [name for name in (*COMMANDS, "--help", "--version") if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    options = _options(before[0])
    previous = before[-1]
    if previous in options and not last.startswith("-"):
        found = _CHOICES.match(str(options[previous] or ""))
        return [word for word in found[1].split("|") if word.startswith(last)] if found else []
    return sorted(name for name in options if name.startswith(last)) if last.startswith("-") else []


def _options(name: str) -> dict[str, Any]:
    """The options of a command, with the word for their value; None for those without one."""
    app = typer.Typer()
    importlib.import_module(f"buildtool.cli.{name.replace('-', '_')}").register(app)
    parameters = typer.main.get_command(app).params
    named = [one for one in parameters if one.param_type_name == "option"]
    return {
        word: getattr(one, "metavar", None)
        for one in named
        for word in (*one.opts, *one.secondary_opts)
        if "--" in word
    }


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="SHELL", help="bash, zsh or fish; or `words`, which the scripts call.")
    ],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="With `words`: the command line so far.")
    ] = None,
    *,
    out: Output,
) -> None:
    """Print a script that lets a shell complete commands and options: bash, zsh or fish."""
    if shell == "words":
        found = completions(words or [""])
        out.document({"words": found}, *found)
        return
    if shell not in SCRIPTS:
        raise ConfigError(
            f"there is no completion for '{shell}'",
            rule=f"shells: {', '.join(SCRIPTS)}",
            remedy=did_you_mean(shell, SCRIPTS) or "see: lathe completion --help",
        )
    out.document({"script": SCRIPTS[shell]}, SCRIPTS[shell])


def register(app: typer.Typer) -> None:
    command(app, "completion")(completion)
