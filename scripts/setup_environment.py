"""Makes everything that developing Lathe needs: Debian packages and `.venv`. Run by `make setup`.

Each step looks first and acts only where something is missing, so a second run is fast and needs no network. Runs with
any Python 3.10 or later and nothing installed, hence the standard library only.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"

# What each Debian package is for, so that somebody on another system can find its counterpart.
DEBIAN_PACKAGES = {
    "make": "the build commands",
    "ccache": "a compiler launcher: the tests start compilers through one",
    "distcc": "another one, which compiles on other machines",
    "locales": "languages whose letters the tests build in",
    "git": "the version of the sources",
    "binutils": "ld, nm, strip and objcopy",
    "g++": "compiler of the host",
    "libc6-dev": "headers of the host",
    "g++-aarch64-linux-gnu": "compiler for aarch64-linux-gnu",
    "libc6-dev-arm64-cross": "headers for aarch64-linux-gnu",
    "g++-arm-linux-gnueabihf": "compiler for arm-linux-gnueabihf",
    "libc6-dev-armhf-cross": "headers for arm-linux-gnueabihf",
    "g++-riscv64-linux-gnu": "C library and linker for riscv64-linux-gnu, whose compiler is clang-19",
    "libc6-dev-riscv64-cross": "headers for riscv64-linux-gnu",
    "qemu-user": "runs the libraries for ARM and RISC-V on the host",
    "gcc-riscv64-unknown-elf": "compiler for bare RISC-V, as the K210 is",
    "picolibc-riscv64-unknown-elf": "C library for it",
    "qemu-system-misc": "runs programs for bare RISC-V",
    "gcc-arm-none-eabi": "compiler for bare Cortex-M",
    "libnewlib-arm-none-eabi": "C library for it",
    "qemu-system-arm": "runs programs for bare Cortex-M",
    "clang-19": "second compiler: its warnings are errors too",
    "lld-19": "linker of clang",
    "llvm-19": "its ar and objcopy: the check for Android builds with nothing else",
    "libclang-rt-19-dev": "sanitizers of clang",
    "wasi-libc": "C library of WebAssembly modules",
    "libclang-rt-19-dev-wasm32": "what clang itself needs for them",
    "nodejs": "runs WebAssembly modules",
    "libgtest-dev": "native unit tests",
    "opencl-headers": "OpenCL, with which our own declarations are compared",
    "ocl-icd-opencl-dev": "its loader, which finds drivers",
    "pocl-opencl-icd": "a driver: the processor as a device",
    "gdb-multiarch": "a debugger that knows ARM, too",
    "gdbserver": "its other half, on devices",
    "openssh-server": "a device behind ssh, on this machine",
    "openssh-client": "the way to it",
    "adb": "the way to Android devices, and to the pretended one of the tests",
    "bazel-bootstrap": "builds the example app of the Bazel rules",
    "default-jdk-headless": "compiles and runs the Java classes of libraries",
}
SYSTEM_PYTHON_PACKAGES = {"python3-venv": "makes .venv"}

# Tables of pyproject.toml that decide which packages `.venv` holds; the rest configures tools.
REQUIREMENT_TABLES = ("build-system", "project", "tool.scikit-build")
# Those that only the installed metadata of Lathe itself repeats: a change needs nothing from the network.
METADATA_TABLES = ("project.entry-points", "project.scripts")
# Files from which the generated parts are made.
BUILD_FILES = ("CMakeLists.txt", "buildtool/schemas/*.proto")
BUILD_PRODUCTS = ("bin/lathe",)
EXTRAS = ("dev", "docs", "validate")
# Versions and hashes for `--locked`; scripts/lock_packages.py writes it.
LOCK = ROOT / "scripts" / "python_packages.lock"
# Of pip: a package is built with what is installed, and nothing comes from the network.
_AS_IT_IS = ("--no-build-isolation", "--no-deps", "--no-index")


class SetupError(Exception):
    """A step failed; the message says what to do."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-system", action="store_true", help="do not look for or install Debian packages")
    parser.add_argument("--clean", action="store_true", help="make .venv anew")
    parser.add_argument("--locked", action="store_true", help="install the versions of python_packages.lock, by hash")
    options = parser.parse_args()
    try:
        with _single_run():
            if not options.no_system:
                install_debian_packages()
            create_venv(options.clean)
            install_python_packages(options.locked)
    except SetupError as error:
        print(f"setup: error: {error}", file=sys.stderr)
        return 1
    return 0


# --- Debian packages -------------------------------------------------------------------------------------------------


def install_debian_packages() -> None:
    """Install what is missing, as root or with sudo; say what is missing where that is impossible."""
    wanted = dict(DEBIAN_PACKAGES)
    if Path(sys.base_prefix) == Path("/usr"):
        wanted |= SYSTEM_PYTHON_PACKAGES
    if shutil.which("dpkg-query") is None:
        _check_programs_without_dpkg()
        return
    missing = [name for name in wanted if name not in _installed_debian_packages(wanted)]
    if not missing:
        return
    listing = "\n".join(f"  {name:26}{wanted[name]}" for name in missing)
    by_hand = f"Install them and run `make setup` again:\n  apt-get install {' '.join(missing)}"
    prefix = _root_prefix()
    if prefix is None or shutil.which("apt-get") is None:
        raise SetupError(f"these packages are missing, and only root can install them:\n{listing}\n{by_hand}")
    print(f"setup: installing Debian packages:\n{listing}", flush=True)
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]
    _run([*apt, "update"], may_fail=True)  # a stale list may do; the install says if not
    if not _run([*apt, "install", "-y", "--no-install-recommends", *missing], may_fail=True):
        raise SetupError(f"apt-get could not install these packages:\n{listing}\n{by_hand}")


def _installed_debian_packages(names: Iterable[str]) -> set[str]:
    command = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return {name for name, _, status in (line.partition(" ") for line in lines) if status == "installed"}


def _root_prefix() -> list[str] | None:
    """The words to put before a command so that root runs it; None where nobody can ask for a password."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    if sys.stdin.isatty():
        return ["sudo"]
    allowed = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    return ["sudo", "-n"] if allowed else None


def _check_programs_without_dpkg() -> None:
    needed = ["make", "g++", "ld", "aarch64-linux-gnu-g++", "arm-linux-gnueabihf-g++", "qemu-aarch64", "qemu-arm"]
    missing = [name for name in needed if shutil.which(name) is None]
    if missing:
        print(
            f"setup: warning: this is no Debian system, and these programs are missing: {', '.join(missing)}\n"
            "       Tests that need them will fail. On Debian they come from: " + " ".join(DEBIAN_PACKAGES),
            file=sys.stderr,
        )


# --- .venv -----------------------------------------------------------------------------------------------------------


def create_venv(anew: bool) -> None:
    """Leave a working `.venv`; one whose Python has gone is made again."""
    if not anew and PYTHON.exists() and _run([PYTHON, "-c", ""], may_fail=True):
        return
    print("setup: making .venv", flush=True)
    _run([sys.executable, "-m", "venv", "--clear", VENV])


def install_python_packages(locked: bool = False) -> None:
    """Install the requirements of the build and of Lathe, then Lathe itself as an editable package.

    `locked`: the versions of the lock, and nothing whose hash is not in it.
    """
    requirements = hashlib.sha256(_requirement_tables().encode()).hexdigest()
    metadata = hashlib.sha256(_metadata_tables().encode()).hexdigest()
    build = f"{requirements} {metadata} {_fingerprint(BUILD_FILES)}"
    products_exist = all((VENV / name).exists() for name in BUILD_PRODUCTS) and _generated_schemas_exist()
    lock = hashlib.sha256(LOCK.read_bytes()).hexdigest() if locked else ""
    if locked and _stamp("lock") != lock:
        print("setup: installing Python packages by their hashes", flush=True)
        _run([*_pip("install"), "--require-hashes", "--no-deps", "--only-binary", ":all:", "--requirement", LOCK])
        _run([*_pip("install"), *_AS_IT_IS, "--editable", str(ROOT)])
        _write_stamp("requirements", requirements)
        _write_stamp("lock", lock)
    elif _stamp("requirements") != requirements:
        print("setup: installing Python packages", flush=True)
        _run([*_pip("install"), *build_requirements()])
        _run([*_pip("install"), "--no-build-isolation", "--editable", f"{ROOT}[{','.join(EXTRAS)}]"])
        _write_stamp("requirements", requirements)
        _write_stamp("lock", "")
    elif _stamp("build") != build or not products_exist:
        print("setup: building the Python package", flush=True)
        _run([*_pip("install"), *_AS_IT_IS, "--editable", str(ROOT)])
    else:
        return
    _write_stamp("build", build)


def _requirement_tables() -> str:
    others = [table for table in _tables(REQUIREMENT_TABLES) if table not in _tables(METADATA_TABLES)]
    return "".join(others)


def _metadata_tables() -> str:
    """Python finds commands and targets through them, as they were when Lathe was installed."""
    return "".join(_tables(METADATA_TABLES))


def _tables(names: tuple[str, ...]) -> list[str]:
    """The text of tables, cut out by hand: Python 3.10 has no reader of TOML."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return [table for table in tables if table.lstrip("[").startswith(names)]


def build_requirements() -> list[str]:
    """What building the package needs: without build isolation nobody else installs it before the build starts.

    That is `[build-system]` of pyproject.toml, and CMake and Ninja, which are dependencies of Lathe anyway.
    """
    script = (
        "import sys\n"
        "try: import tomllib\n"
        "except ImportError: from pip._vendor import tomli as tomllib\n"
        "project = tomllib.load(open(sys.argv[1], 'rb'))\n"
        "print(*project['build-system']['requires'], *project['project']['dependencies'], sep='\\n')\n"
    )
    command = [str(PYTHON if PYTHON.exists() else sys.executable), "-c", script, str(ROOT / "pyproject.toml")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def _pip(verb: str) -> list[str]:
    return [str(PYTHON), "-m", "pip", verb, "-qq", "--disable-pip-version-check"]


def _generated_schemas_exist() -> bool:
    schemas = (ROOT / "buildtool" / "schemas").glob("*.proto")
    return all(schema.with_name(f"{schema.stem}_pb2.py").exists() for schema in schemas)


# --- helpers of all steps --------------------------------------------------------------------------------------------


def _fingerprint(patterns: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _stamp(name: str) -> str:
    path = VENV / f".setup-{name}"
    return path.read_text() if path.exists() else ""


def _write_stamp(name: str, content: str) -> None:
    (VENV / f".setup-{name}").write_text(content)


def _run(command: Sequence[str | Path], may_fail: bool = False) -> bool:
    environment = {**os.environ, "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, check=False)
    if done.returncode and not may_fail:
        raise SetupError(f"this command failed with {done.returncode}: {' '.join(str(word) for word in command)}")
    return done.returncode == 0


class _single_run:  # noqa: N801 (reads as a statement)
    """Two set-ups of one tree wait for each other."""

    def __enter__(self) -> None:
        folder = ROOT / "build"
        folder.mkdir(exist_ok=True)
        self._lock = (folder / ".setup.lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._lock.close()


if __name__ == "__main__":
    sys.exit(main())
