"""Pictures of memories."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import numpy as np

from buildtool.targets.max7800x.devices import MAX78000
from buildtool.targets.max7800x.firmware import maps
from buildtool.targets.max7800x.network import Network
from buildtool.targets.max7800x.planning import planner
from tests.targets.max7800x import test_sources as programs


def test_the_kernel_map_shows_every_column_that_is_held() -> None:
    kernels = programs.made(programs.classifier()).placed.kernels
    ruler, *rows = maps.kernel_map(kernels).splitlines()
    assert ruler.startswith("processor 0")
    for row in rows:
        processor, cells = int(row[:9]), row[10:]
        assert [-1 if cell == "." else int(cell) for cell in cells] == kernels.owners[processor, : len(cells)].tolist()
    assert len(rows) == (kernels.owners >= 0).any(axis=1).sum()


def test_a_network_without_kernels_has_an_empty_map() -> None:
    kernels = programs.made(programs.sums()).placed.kernels
    assert maps.kernel_map(kernels) == "No layer has kernels.\n"


def test_the_data_map_shows_what_each_layer_reads_and_writes() -> None:
    program = programs.made(programs.classifier())
    steps = maps.steps(program)
    assert [step.title for step in steps] == [f"Layer {number} 'layer {number}'" for number in range(3)]
    for before, after in itertools.pairwise(steps):
        assert before.writes.start == after.reads.start
        assert set(before.writes.memories) == set(after.reads.memories)
    text = maps.data_map(program)
    assert text.count("Layer ") == 3
    bars = [line.split("|")[1] for line in text.splitlines() if "|" in line]
    assert all(len(bar) == 64 for bar in bars) and {"<", ">"} <= set("".join(bars))


def test_maps_that_are_read_later_are_kept() -> None:
    pooled = programs.layer(0, 4, (4, 4), (4, 4, 4), operation="none")
    second = programs.layer(
        1, 4, (4, 4), (4, 4, 4), kernel=programs.kernel(np.random.default_rng(0), 4, 4, 3, 3), output_shift=-3
    )
    both = programs.layer(2, 8, (4, 4), (8, 4, 4), operation="none", sources=(0, 1))
    network = planner.place(Network("beside", MAX78000, (pooled, second, both), 4, (4, 4)))
    steps = maps.steps(programs.made(network))
    assert [len(step.kept) for step in steps] == [0, 1, 0]
    assert steps[1].kept == (steps[0].writes,)


def test_a_ring_is_as_large_as_its_rollover() -> None:
    program = programs.made(programs.classifier(MAX78000, fifo=True))
    reads = maps.steps(program)[0].reads
    rollover = next(value for group in program.configuration for _, value, name in group.settings if name == "rollover")
    assert reads.end - reads.start == 4 * rollover


def test_the_picture_is_well_formed_and_has_a_panel_for_each_layer() -> None:
    program = programs.made(programs.classifier())
    root = ElementTree.fromstring(maps.data_map_svg(program))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert sum(text.startswith("Layer ") for text in texts if text) == 3
