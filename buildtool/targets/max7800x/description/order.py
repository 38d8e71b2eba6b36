"""Which layer has which number, and whom references mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.description.sections import Findings, Section
from buildtool.targets.max7800x.network import BUFFER, INPUT, STOP
from buildtool.wording import did_you_mean, quoted

RESERVED = ("input", "stop")


@dataclass(frozen=True)
class _Known:
    """What references may mean."""

    numbers: Mapping[int, int]  # as written -> in the accelerator
    names: Mapping[str, int]  # in lower case -> in the accelerator

    def find(self, chosen: Chosen, key: str, reference: int | str, findings: Findings) -> int | None:
        """The layer that a reference of a key means; None, and a problem, where there is none."""
        found = self.numbers.get(reference) if isinstance(reference, int) else self.names.get(reference.lower())
        if found is None:
            findings.refuse(
                chosen.section,
                key,
                f"`{key}` names the layer {quoted(reference)}, which does not exist",
                rule=f"layers have the numbers {min(self.numbers)} to {max(self.numbers)}",
                remedy=did_you_mean(reference, self.names) if isinstance(reference, str) else "",
            )
        return found


def in_order(
    layers: Sequence[Chosen], buffers: Sequence[Section], findings: Findings, *, first: int = 0
) -> tuple[Chosen, ...]:
    """The layers by their numbers, without gaps, with their references resolved. `first`: where numbers begin."""
    numbered = _numbered(layers, first, findings)
    indices = {number: index for index, number in enumerate(sorted(numbered))}
    ordered = [replace(numbered[number], index=index) for number, index in indices.items()]
    known = _Known(indices, _names(ordered, buffers, findings))
    return tuple(_resolved(chosen, known, findings) for chosen in ordered)


def _numbered(layers: Sequence[Chosen], first: int, findings: Findings) -> dict[int, Chosen]:
    numbered: dict[int, Chosen] = {}
    number = first
    for chosen in layers:
        number = chosen.section.get("sequence", number)
        if number in numbered:
            line = numbered[number].section.where.line
            findings.refuse(
                chosen.section,
                "sequence",
                f"there are two layers with the number {number}",
                rule=f"each `sequence` is there once; first in line {line}",
            )
        numbered.setdefault(number, chosen)
        number += 1
    return numbered


def _names(ordered: Sequence[Chosen], buffers: Sequence[Section], findings: Findings) -> dict[str, int]:
    names: dict[str, int] = {}
    own = [(chosen.section, chosen.index) for chosen in ordered] + [(section, BUFFER) for section in buffers]
    for section, index in own:
        name = section.get("name", "").lower()
        if name in RESERVED:
            findings.refuse(section, "name", f"the name {quoted(name)} is reserved")
        elif name in names:
            findings.refuse(
                section, "name", f"the name {quoted(name)} is given twice", rule="names are not case-sensitive"
            )
        elif name:
            names[name] = index
    return names


def _resolved(chosen: Chosen, known: _Known, findings: Findings) -> Chosen:
    weight_source = chosen.section.get("weight_source")
    if weight_source is not None:
        weight_source = known.find(chosen, "weight_source", weight_source, findings)
    return replace(
        chosen,
        sources=_sources(chosen, known, findings),
        next_layer=_next(chosen, "next_sequence", known, findings),
        weight_source=weight_source,
        simulated_next=_next(chosen, "simulated_sequence", known, findings),
    )


def _sources(chosen: Chosen, known: _Known, findings: Findings) -> tuple[int, ...] | None:
    written: tuple[int | str, ...] | None = chosen.section.get("in_sequences")
    if written is None:
        return None
    found = []
    for reference in written:
        if reference == -1 or (isinstance(reference, str) and reference.lower() == "input"):
            found.append(INPUT)
        else:
            index = known.find(chosen, "in_sequences", reference, findings)
            found += [index] if index is not None else []
    return tuple(found) or None


def _next(chosen: Chosen, key: str, known: _Known, findings: Findings) -> int | None:
    written: int | str | None = chosen.section.get(key)
    if written is None:
        return None
    if written == -1 or (isinstance(written, str) and written.lower() == "stop"):
        return STOP
    if isinstance(written, int) and written > max(known.numbers):
        findings.note(chosen.section, key, f"`{key}` is beyond the last layer: the network stops here")
        return STOP
    return known.find(chosen, key, written, findings)


def running(layers: Sequence[Chosen], start: int, findings: Findings) -> tuple[Chosen, ...]:
    """The layers that run, in the order in which they do, from the one with the number `start` on."""
    by_index = {chosen.index: chosen for chosen in layers}
    order: dict[int, Chosen] = {}
    at = start
    while at in by_index:
        chosen = by_index[at]
        if at in order:
            findings.refuse(chosen.section, "next_sequence", "the order of the layers has a cycle")
            break
        order[at] = chosen
        at = at + 1 if chosen.next_layer is None else chosen.next_layer
    for chosen in layers:
        if chosen.index not in order:
            findings.note(chosen.section, "", "no layer precedes this one, so it is skipped")
    _check_sources(tuple(order.values()), by_index, findings)
    return tuple(order.values())


def _check_sources(running: Sequence[Chosen], by_index: Mapping[int, Chosen], findings: Findings) -> None:
    """Layers read what is there already."""
    ran = {INPUT, BUFFER}
    for chosen in running:
        for source in chosen.sources or ():
            if source not in ran:
                own = (
                    "itself"
                    if source == chosen.index
                    else f"{by_index[source].section.title}, which does not run before"
                )
                findings.refuse(
                    chosen.section, "in_sequences", f"it reads {own}", rule="layers read the results of earlier ones"
                )
        ran.add(chosen.index)
