"""Plants faults in Lathe, one at a time, and tells which ones no test found: `make mutants`, or

    python -m tests.mutants --count 20 --rooms ir passes

Faults are drawn with a seed from all that can be planted in the sources of a room. They go into a copy of the tree
(build/mutants/tree), or into the functions of a process that runs its tests (`warm`). Tests that execute the line run
first, and those of the whole room where they find nothing. `equivalents` lists changes that make no difference.
build/mutants.json has the counts of each room, and the faults that survived. `--again` plants those once more, after
tests were written, and counts those that are found now.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.mutants.equivalents import EQUIVALENT
from tests.mutants.mutation import Mutation
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.running import Runner

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"
RESULT = ROOT / "build" / "mutants.json"
_GENERATED = ("buildtool/schemas/*_pb2.py*", "buildtool/_runtime.*.so")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="faults in each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=list(ROOMS), choices=list(ROOMS))
    parser.add_argument("--again", action="store_true", help="plant what survived with this seed once more")
    options = parser.parse_args()
    _copy()
    results: dict[str, dict[str, Any]] = {}
    known = _known(options.seed)
    for name in options.rooms:
        if not options.again:
            results[name] = _try_room(ROOMS[name], options.count, options.seed)
        elif known.get(name, {}).get("survivors"):
            results[name] = _try_again(ROOMS[name], known[name])
        _write(results, options.seed)
    return 0


def _known(seed: int) -> dict[str, dict[str, Any]]:
    """What earlier runs with this seed found, by room."""
    known = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    return {room["room"]: room for room in known["rooms"]} if known.get("seed") == seed else {}


def _write(results: dict[str, dict[str, Any]], seed: int) -> None:
    """What was found now, and what earlier runs with this seed found in other rooms."""
    results = {**_known(seed), **results}
    rooms = [results[name] for name in ROOMS if name in results]
    RESULT.write_text(json.dumps({"seed": seed, "rooms": rooms}, indent=2) + "\n", encoding="utf-8")


def _copy() -> None:
    """The tree as it is now; what was built in the copy stays."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    names += [str(file.relative_to(ROOT)) for pattern in _GENERATED for file in ROOT.glob(pattern)]
    for name in filter(None, names):
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)  # with a new time: a fault that was left there may have been built


def _try_room(room: Room, count: int, seed: int) -> dict[str, Any]:
    """Plants faults until `count` of them could be tried."""
    sources, places = _places(room)
    random.Random(f"{seed} {room.name}").shuffle(places)
    killed, survivors = _try(room, sources, places, count)
    return _result(room, killed, len(places), survivors)


def _try_again(room: Room, known: dict[str, Any]) -> dict[str, Any]:
    """Plants what survived, wherever it stands now."""
    sources, places = _places(room)
    wanted = [(one["file"], one["change"]) for one in known["survivors"]]
    left = [
        (file, mutation)
        for file, mutation in places
        if (str(file.relative_to(TREE)), mutation.shown(sources[file])) in wanted
    ]
    killed, survivors = _try(room, sources, left, len(left))
    return _result(room, known["killed"] + killed, len(places), survivors)


def _result(room: Room, killed: int, possible: int, survivors: list[dict[str, Any]]) -> dict[str, Any]:
    total = killed + len(survivors)
    print(f"{room.name}: {killed} of {total} killed, of {possible} that can be planted")
    return {"room": room.name, "killed": killed, "total": total, "possible": possible, "survivors": survivors}


def _places(room: Room) -> tuple[dict[Path, str], list[tuple[Path, Mutation]]]:
    sources = {file: file.read_text(encoding="utf-8") for file in room.files(TREE)}
    return sources, [
        (file, mutation)
        for file, source in sources.items()
        for mutation in room.mutations()(source)
        if (str(file.relative_to(TREE)), mutation.shown(source)) not in EQUIVALENT
    ]


def _try(
    room: Room, sources: dict[Path, str], places: list[tuple[Path, Mutation]], count: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many faults were found of the first `count` that could be tried, and the others."""
    runner = Runner(room, TREE)
    runner.check()
    survivors: list[dict[str, Any]] = []
    killed = invalid = 0
    for file, mutation in places:
        if killed + len(survivors) >= count or invalid > 3 * count:
            break
        source = sources[file]
        started = time.monotonic()
        found = runner.finds(file, source, mutation)
        told = {
            "file": str(file.relative_to(TREE)),
            "line": mutation.line(source),
            "what": mutation.what,
            "change": mutation.shown(source),
        }
        word = {True: "killed", False: "SURVIVED", None: "invalid"}[found]
        place = f"{told['file']}:{told['line']}"
        print(f"{room.name}: {word} in {time.monotonic() - started:.0f} s: {place}: {told['change']}")
        sys.stdout.flush()
        killed += found is True
        invalid += found is None
        if found is False:
            survivors.append(told)
    runner.end()
    return killed, survivors


if __name__ == "__main__":
    sys.exit(main())
