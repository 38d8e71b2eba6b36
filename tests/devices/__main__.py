"""Makes the tables of docs/how-to/devices.md.

python -m tests.devices                           what goes wrong: the message, how long it takes, when all is clean
python -m tests.devices everywhere [DEPLOYMENT]   one deployment, validated and benchmarked in five places
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from buildtool.devices.transport import Times
from buildtool.errors import DeviceError
from tests.devices import everywhere, pretend
from tests.devices.adbd import AdbServer, Phone
from tests.devices.conftest import AdbDesk, Desk, SshDesk, eventually
from tests.devices.sshd import Sshd
from tests.devices.test_faults import at, sleeping, small_disk

USUAL = Times(patience=2)


@contextlib.contextmanager
def desks() -> Iterator[list[Callable[[], contextlib.AbstractContextManager[Desk]]]]:
    """Ways to make a new device: by ssh, and by adb."""
    with tempfile.TemporaryDirectory(prefix="lathe-faults-") as name, AdbServer(Path(name)) as server:
        os.environ.update(server.variables)

        @contextlib.contextmanager
        def by_ssh() -> Iterator[Desk]:
            with tempfile.TemporaryDirectory(dir=name) as folder, Sshd(Path(folder)) as board:
                yield SshDesk(board)

        @contextlib.contextmanager
        def by_adb() -> Iterator[Desk]:
            with tempfile.TemporaryDirectory(dir=name) as folder, Phone(Path(folder)) as phone:
                server.connect(phone)
                yield AdbDesk(phone)

        yield [by_ssh, by_adb]


def large(folder: Path) -> Path:
    file = folder / "library.so"
    with file.open("wb") as stream:
        stream.truncate(300 << 20)
    return file


def unplugged_in_push(desk: Desk, moment: list[float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = large(Path(folder))
        arriving = lambda: any((job / "part").exists() for job in desk.jobs())  # noqa: E731
        fault(desk, arriving, desk.unplug, moment, lambda device: device.push(file))


def unplugged_in_run(desk: Desk, moment: list[float]) -> None:
    fault(desk, lambda: sleeping(desk), desk.unplug, moment, lambda device: device.run(["sleep", "99"]))


def silent_in_run(desk: Desk, moment: list[float]) -> None:
    fault(desk, lambda: sleeping(desk), desk.fall_silent, moment, lambda device: device.run(["sleep", "99"]))


def too_long(desk: Desk, moment: list[float]) -> None:
    fault(desk, lambda: True, lambda: None, moment, lambda device: device.run(["sleep", "99"], timeout=2))


def wrong_machine(desk: Desk, moment: list[float]) -> None:
    fault(desk, lambda: True, lambda: None, moment, lambda device: device.push(Path(sys.executable).resolve()))


def killed_there(desk: Desk, moment: list[float]) -> None:
    def kill() -> None:
        for job in desk.jobs():
            for file in job.glob("*.pid"):
                os.killpg(int(file.read_text()), signal.SIGKILL)

    def run(device: object) -> None:
        done = device.run(["sleep", "99"])  # type: ignore[attr-defined]
        raise DeviceError(f"the program was killed by {signal.Signals(-done.exit_code).name}")

    fault(desk, lambda: sleeping(desk), kill, moment, run)


def two_users(desk: Desk, moment: list[float]) -> None:
    first = desk.device(USUAL)
    first.run(["true"])
    try:
        fault(desk, lambda: True, lambda: None, moment, lambda device: device.run(["true"]))
    finally:
        first.close()


def full_disk(desk: Desk, moment: list[float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "library.so"
        file.write_bytes(bytes(3 << 20))
        with small_disk(desk):
            fault(desk, lambda: True, lambda: None, moment, lambda device: device.push(file))


FAULTS = {
    "unplugged while a file goes there": unplugged_in_push,
    "unplugged while a program runs": unplugged_in_run,
    "falls silent while a program runs": silent_in_run,
    "a program does not end (`--timeout 2`)": too_long,
    "somebody kills the program there": killed_there,
    "the disk is full": full_disk,
    "a library for another machine": wrong_machine,
    "two users at once (`--timeout 2`)": two_users,
}


def fault(
    desk: Desk,
    when: Callable[[], object],
    event: Callable[[], None],
    moment: list[float],
    work: Callable[..., object],
) -> None:
    """Let something go wrong; `moment` gets the time when it did."""
    device = desk.device(USUAL)

    def happen() -> None:
        moment[0] = time.monotonic()
        event()

    moment.append(time.monotonic())
    thread = at(when, happen)
    try:
        work(device)
    finally:
        moment.append(time.monotonic())
        thread.join()
        device.close()


def faults() -> None:
    """What goes wrong, and how it ends."""
    print("| what goes wrong | by | message | seconds until then | device clean after |\n|---|---|---|---|---|")
    with desks() as ways:
        for name, play in FAULTS.items():
            for kind, way in zip(("ssh", "adb"), ways, strict=True):
                with way() as desk:
                    moment: list[float] = []
                    try:
                        play(desk, moment)
                    except DeviceError as error:
                        text = error.problems[0].what
                    clean = eventually(lambda: not (desk.jobs() or pretend.running_in(desk.folder)), 30)
                    after = time.monotonic() - moment[0]
                    text = re.sub(r"adb:[\d.]+:\d+", "board", text)
                    text = re.sub(r"\S+@\S+ \(process \d+\)", "ada@desk (process 4711)", text)
                    shown = f"{after:.1f} s" if clean else "never"
                    print(f"| {name} | {kind} | {text} | {moment[-1] - moment[0]:.1f} | {shown} |", flush=True)


def main(words: list[str]) -> None:
    if not words:
        return faults()
    if words[0] == "everywhere" and len(words) <= 2:
        print(everywhere.HEAD)
        for row in everywhere.table(*map(Path, words[1:])):  # type: ignore[arg-type]
            print(row.text(), flush=True)
        return None
    raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
