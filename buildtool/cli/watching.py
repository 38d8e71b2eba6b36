"""`lathe build --watch`: builds again whenever one of the files changes that the last build has read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from buildtool.cli.output import Output, report_error
from buildtool.errors import ConfigError, LatheError
from buildtool.settings import Options, Overrides

_PAUSE = 0.3  # seconds between two looks


@dataclass(frozen=True)
class Asking:
    """What a user asks to build."""

    file: Path
    overrides: Overrides
    options: Options

    def record(self) -> str:
        """The name of what is remembered of the last such build."""
        from buildtool.artifacts import build_records

        return build_records.name_of("build", self.file, self.overrides, self.options)


def build_on_change(asking: Asking, build: Callable[[], None], out: Output) -> None:
    """Build now, and again after each change. Errors are reported, and the next change is awaited. Ends by Ctrl-C."""
    if out.json:
        raise ConfigError("--watch and --json are given", rule="--json prints one document, --watch ends by Ctrl-C")
    while True:
        seen = _states(asking)
        _in_a_child(build)
        if set(now := _states(asking)) != set(seen):
            seen = now  # the build has found more files
        out.say(f"watching {len(seen)} files; Ctrl-C ends")
        while _states(asking) == seen:
            time.sleep(_PAUSE)


def _in_a_child(build: Callable[[], None]) -> None:
    """Build in a process that starts from the state of this one, which knows nothing of earlier builds."""
    from buildtool import workflow

    workflow.build  # noqa: B018 (loaded once, for all builds)
    child = os.fork()
    if child == 0:
        try:
            build()
        except LatheError as error:
            report_error(error, as_json=False)
        except KeyboardInterrupt:
            pass  # of the parent, too
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)


def _states(asking: Asking) -> dict[Path, tuple[int, int]]:
    """The files of the last build, or all beside the deployment file where none has succeeded, and how they are now."""
    return dict(_state(path) for path in _files(asking))


def _files(asking: Asking) -> Iterator[Path]:
    from buildtool.artifacts import build_records

    known = build_records.inputs(asking.record())
    yield asking.file.absolute()
    yield from known or (path for path in asking.file.absolute().parent.iterdir() if path.is_file())


def _state(path: Path) -> tuple[Path, tuple[int, int]]:
    try:
        found = path.stat()
    except OSError:
        return path, (0, 0)
    return path, (found.st_size, found.st_mtime_ns)
