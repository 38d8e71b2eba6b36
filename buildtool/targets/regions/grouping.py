"""Which device nodes run as one region: as few regions as there can be, and among those few copies between them.

A region is left and entered only as a whole, so no path may lead out of it to the CPU and back. Along every path the
stretches on the device are numbered; nodes of one number are a region, connected or not. There cannot be fewer: the
path with the most stretches needs one region for each.

The number of a node may often be another one (what runs on the device at the start may be wanted only by the last
region), and a value that goes from one region to another is copied to the CPU and back. So neighbouring regions
exchange nodes where that is cheaper: which of the two a node is in is again a minimum cut, exact for the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from buildtool.targets.regions.flow import AROUND, Carried, Flow
from buildtool.targets.regions.min_cut import SINK, SOURCE, UNLIMITED, Labelling

CPU = -1  # stands for the number of a region where a node is in none
_ROUNDS = 2  # of exchanges through all regions; the second hardly ever finds anything


class Grouping:
    """Gives device nodes the numbers of their regions. Each value has the cost of one copy in each direction."""

    def __init__(self, flow: Flow, uploads: Sequence[int], downloads: Sequence[int]) -> None:
        self._flow = flow
        self._uploads = uploads
        self._downloads = downloads
        self._after: list[list[int]] = [[] for _ in flow.nodes]
        for node, earlier in enumerate(flow.before):
            for number in earlier:
                self._after[number].append(node)
        self._touched: list[list[int]] = [[] for _ in flow.nodes]  # by node, the values that it makes or reads
        for index, value in enumerate(flow.values):
            for node in value.readers if value.maker == AROUND else (value.maker, *value.readers):
                self._touched[node].append(index)

    def regions(self, on_device: Sequence[bool]) -> list[int]:
        """The number of the region by node; CPU for the others."""
        best = self.earliest(on_device)
        cost = self.copies_cost(best)
        for _ in range(_ROUNDS if max(best, default=CPU) > 0 else 0):
            regions = list(best)
            self._exchange(regions)
            found = self.copies_cost(regions)
            if found >= cost:
                break
            best, cost = regions, found
        return best

    def copies_cost(self, regions: Sequence[int], nodes: Iterable[int] | None = None) -> int:
        """What all copies cost when these are the regions, or those of the values that some nodes make or read."""
        indices: Iterable[int] = range(len(self._flow.values))
        if nodes is not None:
            indices = {index for node in nodes for index in self._touched[node]}
        total = 0
        for index in indices:
            uploads, download = copies_of(self._flow.values[index], regions)
            total += len(uploads) * self._uploads[index] + download * self._downloads[index]
        return total

    def earliest(self, on_device: Sequence[bool]) -> list[int]:
        """Every node in the first region that it can be in."""
        switches: list[int] = []  # on a way to the node, at most; odd on the device
        for node, earlier in enumerate(self._flow.before):
            here = on_device[node]
            switches.append(max((switches[one] + (on_device[one] != here) for one in earlier), default=int(here)))
        return [switches[node] // 2 if here else CPU for node, here in enumerate(on_device)]

    def _exchange(self, regions: list[int]) -> None:
        """Moves nodes to later regions where that costs no more, all the way, and back where it costs no more either.

        What several steps have to bring about is found so: a step that gains nothing may make the next one gain.
        """
        members: list[list[int]] = [[] for _ in range(max(regions) + 1)]
        for node, region in enumerate(regions):
            if region != CPU:
                members[region].append(node)
        for number in range(len(members) - 1):
            self._exchange_two(regions, members, number, ties_late=True)
        for number in reversed(range(len(members) - 1)):
            self._exchange_two(regions, members, number, ties_late=False)

    def _exchange_two(self, regions: list[int], members: list[list[int]], number: int, ties_late: bool) -> None:
        """Between the region of this number and the next one, the best way there is for these two."""
        fixed = self._bound_by_cpu(regions, members[number], number + 1)
        here = [*members[number], *members[number + 1]]
        if fixed.issuperset(here):
            return
        labelling = Labelling()
        vertices = {
            node: labelling.vertex(
                UNLIMITED if node in fixed and regions[node] != number else 0,
                UNLIMITED if node in fixed and regions[node] == number else 0,
            )
            for node in here
        }
        for node, vertex in vertices.items():
            for later in self._after[node]:
                if later in vertices:
                    labelling.order(vertex, vertices[later])
        for index in {index for node in here for index in self._touched[node]}:
            self._charge(labelling, vertices, index, self._flow.values[index])
        _, late = labelling.solve(ties_late)
        for node, vertex in vertices.items():
            regions[node] = number + late[vertex]
        members[number] = [node for node in here if regions[node] == number]
        members[number + 1] = [node for node in here if regions[node] == number + 1]

    def _charge(self, labelling: Labelling, vertices: dict[int, int], index: int, value: Carried) -> None:
        """Adds what the copies of a value cost, as far as the nodes that may move decide it."""
        inside = [vertices[node] for node in value.readers if node in vertices]
        if not inside:
            return
        upload, download = self._uploads[index], self._downloads[index]
        if value.maker not in vertices:  # it comes into each of the two regions that reads it
            labelling.charge_to_sink(SOURCE, inside, upload)
            labelling.charge_to_source(SINK, inside, upload)
        else:  # a reader cannot be in the region before that of the maker
            elsewhere = value.leaves or len(inside) < len(value.readers)
            labelling.charge_to_sink(vertices[value.maker], inside, upload if elsewhere else upload + download)

    def _bound_by_cpu(self, regions: Sequence[int], first: Sequence[int], following: int) -> set[int]:
        """The nodes at both ends of the paths from these nodes through the CPU into the following region."""
        through: set[int] = set()
        waiting = [node for one in first for node in self._after[one] if regions[node] == CPU]
        ends: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node not in through:
                through.add(node)
                for later in self._after[node]:
                    if regions[later] == CPU:
                        waiting.append(later)
                    elif regions[later] == following:
                        ends.add(later)
        starts: set[int] = set()
        seen: set[int] = set()
        waiting = [node for end in ends for node in self._flow.before[end] if node in through]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                for earlier in self._flow.before[node]:
                    if earlier in through:
                        waiting.append(earlier)
                    elif regions[earlier] == following - 1:
                        starts.add(earlier)
        return starts | ends


def copies_of(value: Carried, regions: Sequence[int]) -> tuple[list[int], bool]:
    """The regions that a value is copied into, and whether it is copied out of the one that makes it."""
    home = CPU if value.maker == AROUND else regions[value.maker]
    uploads = list(dict.fromkeys(regions[node] for node in value.readers if regions[node] not in (CPU, home)))
    download = home != CPU and (value.leaves or any(regions[node] != home for node in value.readers))
    return uploads, download
