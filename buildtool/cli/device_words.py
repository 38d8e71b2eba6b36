"""What `--device` and `--device-yml` say, as devices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from buildtool.cli.output import Output
from buildtool.config import DeviceConfig, load_devices
from buildtool.errors import ConfigError, Problem
from buildtool.settings import DeviceSpec
from buildtool.wording import did_you_mean

_RULE = (
    "local, qemu, qemu:CPU, dsp-sim, ssh://USER@HOST[:PORT], adb, adb:SERIAL, or a name of the file that --device-yml "
    "gives"
)


def chosen(names: Sequence[str], file: Path | None, out: Output) -> tuple[DeviceSpec, ...]:
    """The devices of these names; all of the file where there are no names."""
    known = load_devices(file) if file is not None else {}
    for config in known.values():
        if config.password:
            out.note(_password_note(config))
    of_file = {name: _of_file(config) for name, config in known.items()}
    return tuple(dict.fromkeys(_device(name, of_file) for name in names)) if names else tuple(of_file.values())


def _password_note(config: DeviceConfig) -> Problem:
    return Problem(
        f"the password of '{config.name}' is not used",
        config.where,
        rule="Lathe logs in with a key, so that no password is visible in a file or in the process list",
        remedy=f"ssh-copy-id -p {config.port} {config.username}@{config.address}, and remove the line",
    )


def _of_file(config: DeviceConfig) -> DeviceSpec:
    return DeviceSpec(
        "ssh",
        name=config.name,
        address=config.address,
        username=config.username,
        port=config.port,
        jump=config.jump,
        identity=config.identity,
        ssh_config=config.ssh_config,
        target_abis=config.target_abis,
        target_socs=config.target_socs,
    )


def _device(word: str, known: dict[str, DeviceSpec]) -> DeviceSpec:
    """The device of one word. A name of the file goes before everything else."""
    if word in known:
        return known[word]
    kind, colon, rest = word.partition(":")
    if word in ("local", "dsp-sim") or (kind in ("qemu", "adb") and bool(colon) == bool(rest)):
        return DeviceSpec(kind, cpu=rest) if kind == "qemu" else DeviceSpec(kind, address=rest)
    if kind == "ssh":
        return _of_url(word)
    found = f"those of the file: {', '.join(known)}; " if known else ""
    raise ConfigError(
        f"there is no device '{word}'",
        rule=f"{found}{_RULE}",
        remedy=did_you_mean(word, (*known, "local", "qemu", "dsp-sim", "adb"))
        or "`lathe devices` lists the devices that can be used",
    )


def _of_url(word: str) -> DeviceSpec:
    try:
        url = urlsplit(word)
        host, port = url.hostname or "", url.port or 0
    except ValueError as problem:
        raise ConfigError(f"--device cannot be '{word}': {problem}", rule="ssh://USER@HOST[:PORT]") from problem
    if url.password:
        raise ConfigError("a password cannot be given here", rule="ssh://USER@HOST[:PORT], with a key that logs in")
    if not host or url.path.strip("/") or url.query or url.fragment:
        raise ConfigError(f"--device cannot be '{word}'", rule="ssh://USER@HOST[:PORT]")
    return DeviceSpec("ssh", address=host, username=url.username or "", port=port)
