"""What measuring costs: `python -m tests.benchmark.overhead BUILD [THREADS] [PAIRS] [ROUNDS]`.

`lathe_run`, which `lathe bench` has run on the device, beside a bare loop that is linked to the library. Both run in
turns, so that a slow minute of the machine is that of both. BUILD is the folder of a build for the host.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from buildtool import resources
from buildtool.benchmark.distribution import median_interval
from buildtool.builders.objects import ObjectCache
from buildtool.builders.runner import shared_runner
from buildtool.reports.documents import read_build

_DEFAULTS = (1, 20, 100)  # threads, pairs, rounds


@dataclass(frozen=True)
class Overhead:
    """The medians of each pair, in nanoseconds."""

    loop: tuple[float, ...]
    plain: tuple[float, ...]  # of lathe_run
    observed: tuple[float, ...]  # with statistics

    def ratio(self, times: tuple[float, ...]) -> tuple[float, float, float]:
        """Of the medians of all pairs, and between what it lies."""
        ratios = sorted(time / loop for time, loop in zip(times, self.loop, strict=True))
        low, high, _ = median_interval(ratios)
        return statistics.median(ratios), low, high


def measure(build: Path, threads: int, pairs: int, rounds: int) -> Overhead:
    report = read_build(build)
    assert report is not None
    library, name = report.file_of("host", "shared"), report.models[0].name
    files = [build / "model" / "host" / f"{name}{suffix}" for suffix in (".pb", ".data")]
    with tempfile.TemporaryDirectory() as folder:
        loop = Path(folder) / "plain_loop"
        source = Path(__file__).with_name("plain_loop.cc")
        api = f"-DLATHE_API=lathe_api_{report.identifier}"
        line: list[str | Path] = [
            "g++",
            "-O2",
            "-std=c++17",
            api,
            "-I",
            resources.include_dir(),
            source,
            library,
            "-o",
            loop,
        ]
        subprocess.run([*line, f"-Wl,-rpath,{library.parent.resolve()}"], check=True)
        warmup = str(max(3, rounds // 10))
        bare = [loop, *files, str(threads), warmup, str(rounds)]
        tool = [shared_runner("host", ObjectCache()), "--library", library, "--model", files[0], "--data", files[1]]
        tool += ["--symbol", f"lathe_api_{report.identifier}", "--threads", str(threads), "--warmup", warmup]
        tool += ["--rounds", str(rounds), "--profile", "--json", "-"]
        results: list[tuple[float, ...]] = []
        for number in range(pairs):
            lines: dict[str, str] = {}
            for which in ("loop", "tool") if number % 2 == 0 else ("tool", "loop"):
                command = [str(word) for word in (bare if which == "loop" else tool)]
                lines[which] = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            times = [int(word) for word in lines["loop"].split()]
            timings = json.loads(lines["tool"])["timings"]
            results.append(tuple(map(statistics.median, (times, timings["rounds_ns"], timings["observed_ns"]))))
    loops, plain, observed = zip(*results, strict=True)
    return Overhead(loops, plain, observed)


def main() -> int:
    build, *numbers = sys.argv[1:]
    given = [int(word) for word in numbers]
    threads, pairs, rounds = (*given, *_DEFAULTS[len(given) :])
    found = measure(Path(build), threads, pairs, rounds)
    sys.stdout.write(f"bare loop: {statistics.median(found.loop) / 1e3:.3f} us\n")
    for name, times in (("lathe_run", found.plain), ("with statistics", found.observed)):
        ratio, low, high = found.ratio(times)
        sys.stdout.write(f"{name}: {ratio - 1:+.2%} ({low - 1:+.2%} .. {high - 1:+.2%})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
