"""What a device has of all that Lathe uses on it, from what it says of itself (devices/probe.sh)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildtool.errors import Problem
from buildtool.reports.table import Table

# What the programs are for, and what happens without them.
_TOOLS = {
    "flock": "two users at once are not isolated",
    "setsid": "child processes may outlive their program",
    "gdbserver": "no remote debugger",
}
_FEATURES = ("neon", "asimd", "fphp", "asimddp", "i8mm", "sve", "avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni")
_ROOM = 0.25  # GiB: the program, a library and its model
_HOT = 75.0  # degrees


def checks(properties: Mapping[str, str]) -> list[dict[str, str]]:
    """What is known, each with its state (ok, missing, note), a detail and, where not all is well, the remedy."""
    found = [_space(properties)] if "space" in properties else []
    if "tools" in properties:
        found += [_tool(name, without, properties["tools"].split()) for name, without in _TOOLS.items()]
    for name in ("emulator", "cpu", "machine", "system", "soc", "memory", "free"):
        if name in properties:
            found.append(_check(name, "ok", properties[name]))
    if "cores" in properties:
        found.append(_cores(properties))
    if "features" in properties:
        has = set(properties["features"].split())
        found.append(
            _check("features", "ok", " ".join(word for word in _FEATURES if word in has) or "none that kernels use")
        )
    if "governor" in properties:
        found.append(_governor(properties["governor"]))
    if "thermal" in properties:
        found.append(_heat(properties["thermal"]))
    return found


def _check(what: str, state: str, detail: str, remedy: str = "") -> dict[str, str]:
    return {"what": what, "state": state, "detail": detail, **({"remedy": remedy} if remedy else {})}


def _space(properties: Mapping[str, str]) -> dict[str, str]:
    space = properties["space"]
    if float(space.split()[0]) >= _ROOM:
        return _check("space", "ok", space)
    return _check("space", "missing", space, "remove what Lathe keeps there: lathe devices --clear")


def _tool(name: str, without: str, here: list[str]) -> dict[str, str]:
    if name in here:
        return _check(name, "ok", "")
    return _check(name, "note", f"not there: {without}")


def _cores(properties: Mapping[str, str]) -> dict[str, str]:
    kinds = properties.get("capacity") or properties.get("frequency", "")
    count = len(kinds.split(", ")) if kinds else 0
    text = f"{properties['cores']}, of {count} kinds: {kinds}" if count > 1 else properties["cores"]
    return _check("cores", "ok", text)


def _governor(governor: str) -> dict[str, str]:
    if all(word.startswith("performance") for word in governor.split(", ")):
        return _check("governor", "ok", governor)
    remedy = "for steady times, as root: echo performance > /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    return _check("governor", "note", governor, remedy)


def _heat(thermal: str) -> dict[str, str]:
    degrees = [float(word.split()[-2]) for word in thermal.split(", ")]
    if max(degrees) < _HOT:
        return _check("thermal", "ok", f"at most {max(degrees):.1f} °C")
    return _check("thermal", "note", f"{max(degrees):.1f} C", "let it cool down: hot processors reduce their clock")


def document(devices: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of `lathe doctor --device`, of the devices that `lathe devices` found."""
    kept = ("name", "kind", "reachable", "problem")
    return {
        "devices": [
            {**{key: device[key] for key in kept if key in device}, "checks": checks(device["properties"])}
            for device in devices
        ]
    }


def parts(document: Mapping[str, Any]) -> list[str | Table]:
    """The document for people."""
    table, problems = Table(["device", "what", "state", "detail", "remedy"]), []
    for device in document["devices"]:
        table.add(device["name"], "reached", "ok" if device["reachable"] else "missing", "", "")
        for check in device["checks"]:
            table.add(device["name"], check["what"], check["state"], check["detail"], check.get("remedy", ""))
        if not device["reachable"]:
            told = {key: value for key, value in device["problem"].items() if key != "where"}
            problems.append(Problem(**told).render(device["name"]))
    return [table, *problems]
