"""What a machine says of itself, by one script on all of them."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

SCRIPT = Path(__file__).with_name("probe.sh").read_text(encoding="utf-8")


def of_this_machine() -> dict[str, str]:
    """The properties of the machine that Lathe runs on."""
    done = subprocess.run(["sh", "-c", SCRIPT], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return properties(done.stdout.decode("utf-8", errors="replace"))


def properties(said: str) -> dict[str, str]:
    """The properties by name, from the lines of the script."""
    lines = [line.partition("\t") for line in said.splitlines() if "\t" in line]
    found: dict[str, list[str]] = {}
    for name, _, value in lines:
        if value.strip():
            found.setdefault(name, []).append(" ".join(value.split()))
    plain = ("machine", "system", "cores", "model", "android", "abis", "features", "tools")
    known = {name: found[name][0] for name in plain if name in found}
    known.update({name: _gigabytes(found[name][0]) for name in ("memory", "free", "space") if name in found})
    if "soc" in found:
        known["soc"] = _chip(found["soc"][0])
    for name in ("governor", "capacity"):
        if name in found:
            known[name] = ", ".join(f"{word} x{count}" for word, count in Counter(found[name]).items())
    if "frequency" in found:
        known["frequency"] = ", ".join(f"{_number(word) / 1e6:.2f} GHz" for word in sorted(set(found["frequency"])))
    if "thermal" in found:
        known["thermal"] = ", ".join(map(_heat, found["thermal"]))
    return known


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0


def _gigabytes(kibibytes: str) -> str:
    return f"{_number(kibibytes) / 2**20:.1f} GiB"


def _chip(word: str) -> str:
    """The last name of a device tree's list, which goes from the board to the chip; any other word as it is."""
    return word.split()[-1] if "," in word else word


def _heat(line: str) -> str:
    name, _, value = line.rpartition(" ")
    degrees = _number(value)
    return f"{name} {degrees / 1000 if abs(degrees) >= 1000 else degrees:.1f} C"
