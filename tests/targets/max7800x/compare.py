"""Compares programs with those of the manufacturer's public tool, word for word.

    python -m tests.targets.max7800x.compare TOOL_FOLDER [--python PYTHON] [--filter TEXT] [--list FILE]

TOOL_FOLDER is a checkout of ai8x-synthesis. Each network that its scripts build, and each of its tests that no script
names, is built by the tool and by Lathe. A network is equal if both write the same registers in the same order, and the
same kernels, biases, inputs and expected outputs. It is refused if only Lathe reports an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from buildtool.errors import LatheError, Where
from buildtool.targets.max7800x import description, settings
from buildtool.targets.max7800x.firmware import program, sources
from tests.targets.max7800x.manufacturer import Case, Tool, cases

KINDS = ("equal", "different", "refused", "neither")


@dataclass(frozen=True)
class Compared:
    """The result for one network. `neither`: the tool itself reports an error."""

    case: Case
    kind: str
    why: str = ""


def compare(case: Case, tool: Tool) -> Compared:
    expected = tool.words(case)
    if isinstance(expected, str):
        return Compared(case, "neither", expected)
    if case.unknown:
        return Compared(case, "refused", f"there is no setting for {', '.join(case.unknown)}")
    try:
        found = words(case)
    except LatheError as error:
        return Compared(case, "refused", error.render().replace("\n", " | "))
    if expected.get("KERNELS") == ["00000000"]:  # the mark of the end alone
        del expected["KERNELS"]
    different = [_difference(name, expected.get(name, []), found.get(name, [])) for name in sorted({*expected, *found})]
    different = [text for text in different if text]
    return Compared(case, "different" if different else "equal", "; ".join(different))


def words(case: Case) -> dict[str, list[str]]:
    """What Lathe's program writes and expects, under the names of the tool."""
    chosen = settings.of(case.words, Where(file=str(case.config)))
    described = description.read(
        case.config,
        device=case.device,
        weights=case.weights,
        bias=case.bias,
        sample=case.sample,
        options=chosen.description,
    )
    assert described.sample is not None
    made = program.make(settings.with_hints(described.network, chosen.hints), described.sample, chosen.program)
    found = {
        function: [f"{address:08x} {value:08x}" for address, value in writes]
        for function, writes in made.register_writes.items()
    }
    arrays: dict[str, Iterable[int]] = {"SAMPLE_OUTPUT": sources.output_array(made)}
    if made.kernels:
        arrays["KERNELS"] = sources.kernel_array(made)
    arrays |= {f"BIAS_{quadrant}": held for quadrant, held in enumerate(made.placed.biases.bytes) if held}
    arrays |= {f"SAMPLE_INPUT_{block.name}": block.words for block in made.inputs}
    return found | {name: [f"{word:08x}" for word in array] for name, array in arrays.items()}


def _difference(name: str, expected: list[str], found: list[str]) -> str:
    if expected == found:
        return ""
    if len(expected) != len(found):
        return f"{name}: {len(found)} words, {len(expected)} expected"
    at = next(at for at, pair in enumerate(zip(expected, found, strict=True)) if pair[0] != pair[1])
    return f"{name}: word {at} is {found[at]}, {expected[at]} expected"


def _table(results: Iterable[Compared]) -> str:
    counts = Counter((result.case.device.part, result.kind) for result in results)
    rows = [f"{'':10}" + "".join(f"{kind:>11}" for kind in KINDS)]
    parts = sorted({part for part, _ in counts})
    rows += [f"{part:10}" + "".join(f"{counts[part, kind]:>11}" for kind in KINDS) for part in parts]
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="compare", description="Compare with the manufacturer's tool.")
    parser.add_argument("tool", type=Path, help="a checkout of ai8x-synthesis")
    parser.add_argument("--python", default=sys.executable, help="a Python with the packages that the tool requires")
    parser.add_argument("--filter", default="", help="only networks whose chip, name and switches contain this text")
    parser.add_argument("--list", type=Path, help="write the result of each network to this file")
    parser.add_argument("--seconds", type=int, default=300, help="how long the tool may take for a network")
    parser.add_argument("--keep", type=Path, help="keep the tool's results in this folder, and use those in it")
    chosen = parser.parse_args()
    folder = chosen.tool.resolve()
    if not (folder / "izer").is_dir():
        parser.error(f"{folder} is no checkout of ai8x-synthesis: it has no folder izer")
    results: list[Compared] = []
    with tempfile.TemporaryDirectory() as scratch:
        tool = Tool(folder, chosen.python, Path(scratch), seconds=chosen.seconds, kept=chosen.keep)
        for case in cases(folder):
            if chosen.filter in f"{case.device.name} {case.title}":
                results.append(compare(case, tool))
                sys.stderr.write(f"\r{len(results)}: {case.title[:100]:100}")
                sys.stderr.flush()
        tool.close()
    sys.stderr.write("\n")
    lines = [f"{result.kind}\t{result.case.device.name}\t{result.case.title}\t{result.why}" for result in results]
    if chosen.list is not None:
        chosen.list.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines if not line.startswith(("equal", "neither"))))
    sys.stdout.write(f"{_table(results)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
