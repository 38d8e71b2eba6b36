"""What a build tells of a placement, with names and where they are hidden."""

from __future__ import annotations

from buildtool.reports import placement

TOLD = {
    "runtime": "cpu+gpu",
    "cost_ns": 1_500_000,
    "least_ns": 1_400_000,
    "cpu_cost_ns": None,
    "greedy_copies": 7,
    "greedy_cost_ns": 2_000_000,
    "nodes": [
        {"node": "first", "op": "conv2d", "side": "device", "region": 0, "reason": "device: saves 3.0 us"},
        {"node": "second", "op": "loop", "side": "cpu", "region": None, "reason": "cpu: no kernel: it has regions"},
    ],
    "copies": [{"value": "x", "to": "device", "region": 0, "cost_ns": 5}],
}


def test_sums_and_tables() -> None:
    plan = placement.of_plan(TOLD, obscured=False)
    assert (plan["on_gpu"], plan["on_cpu"], plan["regions"], plan["copy_count"]) == (1, 1, 1, 1)
    models = [{"name": "net", "plans": [{"abi": "host"}, {"abi": "arm", "placement": plan}]}]
    (summary,) = placement.tables(models, verbose=False)
    (row,) = summary.rows
    assert row == ("net", "arm", "cpu+gpu", "1", "1", "1", "1", "1.500", "1.400", "7", "2.000", "")
    _, nodes = placement.tables(models, verbose=True)
    assert nodes.rows == [
        ("first", "conv2d", "0", "device: saves 3.0 us"),
        ("second", "loop", "", "cpu: no kernel: it has regions"),
    ]
    assert placement.tables([{"name": "net", "plans": [{"abi": "host"}]}], verbose=True) == []


def test_hidden_names_stay_hidden() -> None:
    plan = placement.of_plan(TOLD, obscured=True)
    assert (plan["on_gpu"], plan["copy_count"], plan["greedy_copies"]) == (1, 1, 7)
    assert not {"nodes", "copies"} & set(plan)
    assert len(placement.tables([{"name": "net", "plans": [{"abi": "host", "placement": plan}]}], verbose=True)) == 1
