"""Device files: the boards that libraries run on, reached over ssh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from buildtool.config import fields
from buildtool.config.deployment import NOWHERE
from buildtool.config.manner import MANNER
from buildtool.errors import ConfigError, Problem, Where
from buildtool.sections.readers import Many
from buildtool.sections.section import Section, Text, Texts, default_of, key
from buildtool.sections.validate import validate
from buildtool.wording import quoted
from buildtool.yaml_marks import Node, place_of, read_yaml


@dataclass(frozen=True)
class DeviceConfig:
    """A board and how to log in to it. The password stays out of what is printed."""

    name: str
    target_abis: tuple[str, ...]  # canonical
    address: str
    username: str
    target_socs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    password: str = field(default="", repr=False)
    port: int = 22
    jump: str = ""
    identity: Path | None = None  # absolute, as is the next
    ssh_config: Path | None = None
    where: Where = NOWHERE


class DeviceSection(Section):
    """A device; its name is the key."""

    target_abis: Annotated[list[str] | None, Many(fields.ABI, commas=True)] = key(
        "ABIs of the device; `dpkg --print-architecture` and `--print-foreign-architectures` print them.", required=True
    )
    target_socs: Texts = key("Chips of the device.")
    models: Texts = key("Full names of the device.")
    address: Text = key("IP address or host name.", required=True)
    username: Text = key("User name for the login.", required=True)
    password: Text = key("Accepted from MACE's files and ignored: Lathe logs in with a key. `ssh-copy-id` installs it.")
    port: Annotated[int | None, fields.PORT] = key("Port of the SSH server.", default=22)
    jump: Text = key("Jump host, as for `ssh -J`: `user@host:port`.")
    identity: Text = key("Private key file, if it is not one of the default keys.")
    ssh_config: Text = key("`ssh_config` file to use instead of `~/.ssh/config`.")


class DevicesSection(Section):
    """The top level of a device file."""

    devices: dict[str, DeviceSection] = Field(description="The devices, by name.")


def load_devices(path: Path, *, environment: Mapping[str, str] | None = None) -> dict[str, DeviceConfig]:
    """The devices of a file by name. Raises ConfigError with every problem of the file."""
    document = read_yaml(path, environment=environment)
    checked = validate(DevicesSection, document.root, MANNER)
    places = {problem.where for problem in document.problems}
    problems = [*document.problems, *(problem for problem in checked.problems if problem.where not in places)]
    sections = checked.section.devices if checked.section is not None else {}
    for name, section in sections.items():
        for required in ("target_abis", "address", "username"):
            if getattr(section, required) is None and ("devices", name, required) not in checked.broken:
                where = place_of(document.root, ("devices", name), key=True)
                problems.append(Problem(f"the key {quoted(required)} is missing", where))
    if problems:
        problems.sort(key=lambda problem: (problem.where.line, problem.where.column))
        raise ConfigError(problems)
    return {name: _device(document.root, path, name, section) for name, section in sections.items()}


def _device(tree: Node, file: Path, name: str, section: DeviceSection) -> DeviceConfig:
    def beside(path: str | None) -> Path | None:
        return file.absolute().parent / Path(path).expanduser() if path else None

    return DeviceConfig(
        name=name,
        target_abis=tuple(dict.fromkeys(section.target_abis or ())),
        address=section.address or "",
        username=section.username or "",
        target_socs=tuple(section.target_socs or ()),
        models=tuple(section.models or ()),
        password=section.password or "",
        port=section.port or default_of(DeviceSection, "port"),
        jump=section.jump or "",
        identity=beside(section.identity),
        ssh_config=beside(section.ssh_config),
        where=place_of(tree, ("devices", name), key=True),
    )
