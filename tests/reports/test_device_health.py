"""What is well on a device, and what a user should do about the rest."""

from __future__ import annotations

from buildtool.devices import probe
from buildtool.reports.device_health import checks, document, parts

GOOD = "space\t4194304\ntools\tsh flock setsid gdbserver\ncores\t2\ngovernor\tperformance\nthermal\tcpu 41000\n"
BAD = """\
space\t1024
tools\tsh
cores\t4
features\tfp asimd asimddp crc32
capacity\t400
capacity\t400
capacity\t1024
capacity\t1024
governor\tschedutil
thermal\tskin 38000
thermal\tcpu 91500
"""


def states(said: str) -> dict[str, tuple[str, str]]:
    return {check["what"]: (check["state"], check["detail"]) for check in checks(probe.properties(said))}


def test_a_device_on_which_all_is_well() -> None:
    found = states(GOOD)
    assert {state for state, _ in found.values()} == {"ok"}
    assert found["cores"] == ("ok", "2")


def test_a_device_on_which_much_is_not() -> None:
    found = states(BAD)
    assert found["space"][0] == "missing"
    assert found["flock"] == ("note", "not there: two users at once are not isolated")
    assert found["cores"][1] == "4, of 2 kinds: 400 x2, 1024 x2"
    assert found["features"][1] == "asimd asimddp"
    assert found["governor"] == ("note", "schedutil x1")
    assert found["thermal"] == ("note", "91.5 C")
    remedies = {check["what"]: check.get("remedy", "") for check in checks(probe.properties(BAD))}
    assert "--clear" in remedies["space"] and "performance" in remedies["governor"]


def test_a_device_that_does_not_answer() -> None:
    lost = {"name": "board", "kind": "ssh", "reachable": False, "properties": {}, "problem": {"what": "no route"}}
    table, problem = parts(document([lost]))
    assert not isinstance(table, str) and "missing" in table.plain()
    assert "no route" in str(problem)


def test_this_machine_has_the_basic_checks() -> None:
    found = {check["what"] for check in checks(probe.of_this_machine())}
    assert {"space", "flock", "setsid", "cores", "memory"} <= found
