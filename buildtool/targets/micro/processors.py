"""The processors: compiler flags, instruction sets, and the emulated board that runs their programs."""

from __future__ import annotations

from dataclasses import dataclass

_ARM = ("-mthumb",)
_RISCV = ("-mcmodel=medany", "--specs=picolibc.specs")


@dataclass(frozen=True)
class Board:
    """A machine of qemu: where its program and its memory are."""

    emulator: str  # qemu-system-...; empty: this machine, which runs the program itself
    machine: tuple[str, ...]  # its options
    flash: tuple[int, int]  # address, bytes
    ram: tuple[int, int]

    @property
    def name(self) -> str:
        return self.machine[1] if self.machine else "this machine"

    @property
    def device(self) -> str:
        """For people."""
        return f"{self.emulator} {self.name}".strip()


@dataclass(frozen=True)
class Processor:
    """One ABI."""

    name: str
    title: str
    flags: tuple[str, ...]
    sets: tuple[str, ...]  # instruction sets of kernels, the best first; `portable` is the last
    board: Board | None  # None: nothing is compiled, the user gets sources
    prefix: str = "arm-none-eabi-"
    library: str = ""  # the C library to link: -march of one that the compiler has

    @property
    def emulated(self) -> Board:
        """Of those that have one."""
        assert self.board is not None
        return self.board

    @property
    def is_host(self) -> bool:
        """Whether this machine compiles for itself."""
        return not self.prefix

    @property
    def is_arm(self) -> bool:
        return self.prefix.startswith("arm")


def _mps2(machine: str) -> Board:
    return Board("qemu-system-arm", ("-M", machine), (0x0, 4 << 20), (0x20000000, 4 << 20))


def _virt(bits: int, cpu: str) -> Board:
    options = ("-M", "virt", "-cpu", cpu, "-bios", "none", "-m", "128M")
    return Board(f"qemu-system-riscv{bits}", options, (0x80000000, 4 << 20), (0x80400000, 4 << 20))


_M55_BOARD = Board("qemu-system-arm", ("-M", "mps3-an547"), (0x0, 512 << 10), (0x20000000, 512 << 10))
_M33_BOARD = Board("qemu-system-arm", ("-M", "mps2-an505"), (0x10000000, 4 << 20), (0x38000000, 4 << 20))
_HERE = Board("", (), (0, 1 << 31), (0, 1 << 31))
_DSP = ("dsp", "portable")
_MVE = ("mve", "dsp", "portable")
_PLAIN = ("portable",)


def _arm(name: str, title: str, board: Board, sets: tuple[str, ...], *flags: str) -> Processor:
    return Processor(name, title, (*flags, *_ARM), sets, board)


def _riscv(name: str, march: str, mabi: str, board: Board, extensions: str = "") -> Processor:
    """Compilers have no C library for extensions, but that without them fits."""
    flags = (f"-march={march}{extensions}", f"-mabi={mabi}", *_RISCV)
    library = f"-march={march}" if extensions else ""
    return Processor(name, f"RISC-V {march}{extensions}", flags, _PLAIN, board, "riscv64-unknown-elf-", library)


PROCESSORS: dict[str, Processor] = {
    each.name: each
    for each in (
        _arm("cortex-m0", "ARM Cortex-M0", _mps2("mps2-an385"), _PLAIN, "-mcpu=cortex-m0"),
        _arm("cortex-m3", "ARM Cortex-M3", _mps2("mps2-an385"), _PLAIN, "-mcpu=cortex-m3"),
        _arm("cortex-m4", "ARM Cortex-M4", _mps2("mps2-an386"), _DSP, "-mcpu=cortex-m4", "-mfloat-abi=soft"),
        _arm(
            "cortex-m4f",
            "ARM Cortex-M4 with FPU",
            _mps2("mps2-an386"),
            _DSP,
            *("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
        ),
        _arm(
            "cortex-m7",
            "ARM Cortex-M7",
            _mps2("mps2-an500"),
            _DSP,
            *("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
        ),
        _arm(
            "cortex-m33",
            "ARM Cortex-M33",
            _M33_BOARD,
            _DSP,
            *("-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
        ),
        _arm("cortex-m55", "ARM Cortex-M55", _M55_BOARD, _MVE, "-mcpu=cortex-m55", "-mfloat-abi=hard"),
        # Debian's compiler does not know its name; it has the instructions of the M55.
        _arm("cortex-m85", "ARM Cortex-M85", _M55_BOARD, _MVE, "-mcpu=cortex-m55", "-mfloat-abi=hard"),
        _riscv("rv32imac", "rv32imac", "ilp32", _virt(32, "rv32")),
        _riscv("rv32imafc", "rv32imafc", "ilp32f", _virt(32, "rv32")),
        _riscv("rv64gc", "rv64imafdc", "lp64d", _virt(64, "rv64")),
        _riscv("rv32imac_zba_zbb", "rv32imac", "ilp32", _virt(32, "rv32,zba=true,zbb=true"), "_zba_zbb"),
        _riscv("rv64gc_zba_zbb", "rv64imafdc", "lp64d", _virt(64, "rv64,zba=true,zbb=true"), "_zba_zbb"),
        Processor("host", "build machine, as C", (), _PLAIN, _HERE, ""),
        Processor("xtensa-generic", "Xtensa (sources only)", ("-mlongcalls",), _PLAIN, None, "xtensa-esp-elf-"),
    )
}
