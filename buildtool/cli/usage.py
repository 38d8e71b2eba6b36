"""What is wrong with a command line, in one form, whatever the packages that read it call it."""

from __future__ import annotations

import re

from buildtool.errors import ConfigError
from buildtool.wording import did_you_mean

_VALUE = re.compile(r"invalid value for (?:'([^']+)'|(\S+)): (?:Value error, )?(.*)", re.DOTALL)
_CHOICE = re.compile(r"'(.*)' is not one of (.*)")
_NUMBERS = (
    (re.compile(r"Input should be a valid integer.*"), "{} must be an integer"),
    (re.compile(r"Input should be a valid number.*"), "{} must be a number"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"{} must be at least \1"),
    (re.compile(r"Input should be greater than (\S+)"), r"{} must be more than \1"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"{} must be at most \1"),
    (re.compile(r"Input should be less than (\S+)"), r"{} must be less than \1"),
)


def usage_error(problem: Exception) -> ConfigError:
    """The problem with the command that it is a problem of."""
    message = getattr(problem, "format_message", lambda: str(problem))()
    context = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "lathe"
    return _worded(f"{message[:1].lower()}{message[1:]}".rstrip("."), f"see: {command} --help")


def _worded(message: str, remedy: str) -> ConfigError:
    value = _VALUE.fullmatch(message)
    if value is None:
        return ConfigError(message, remedy=remedy)
    name, reason = value[1] or value[2], value[3]
    if choice := _CHOICE.fullmatch(reason):
        words = re.findall(r"'([^']*)'", choice[2])
        return ConfigError(
            f"{name} cannot be '{choice[1]}'",
            rule=f"allowed: {', '.join(words)}",
            remedy=did_you_mean(choice[1], words) or remedy,
        )
    for pattern, text in _NUMBERS:
        if found := pattern.fullmatch(reason):
            return ConfigError(found.expand(text).format(name), remedy=remedy)
    return ConfigError(message, remedy=remedy)
