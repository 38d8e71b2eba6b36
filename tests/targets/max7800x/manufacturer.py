"""Runs the manufacturer's public tool on its own networks, and reads the words that it writes."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from buildtool.targets.max7800x.deployment_keys import CnnSection
from buildtool.targets.max7800x.devices import MAX78000, MAX78002, Device

# Switches that change neither a word nor a register: logs, names of files, and the form of the generated code.
_OF_CODE = frozenset(
    """
    verbose L log autogen top_level test_dir prefix timeout overwrite overwrite_ok display_checkpoint softmax
    timer no_timer compact_data mexpress compact_weights mlator mlator_noverify unroll_mlator verify_writes
    verify_kernels debug debug_computation debug_latency queue_name deepsleep stop_start boost max_checklines
    new_kernel_loader legacy_test legacy_kernels no_unload unload no_kat energy no_wfi slow_load D e embedded_code
    forever ignore_energy_warning no_warn_zero max_verify_length riscv_flash riscv_cache riscv_debug
    riscv_exclusive no_riscv_flash no_riscv_cache rtl rtl_preload rtl_sim rtl_preload_weights result_output
    no_version_check short_log log_last_only log_intermediate log_pooling log_filename no_progress
    eclipse_variables input_csv input_csv_period input_csv_format input_csv_retrace input_sync input_pix_clk
    input_fifo riscv debug_snoop
    """.split()  # noqa: SIM905
)
_FILES = {
    "config_file": "config",
    "checkpoint_file": "weights",
    "weight_input": "weights",
    "bias_input": "bias",
    "sample_input": "sample",
}
_BOTH = (MAX78000, MAX78002)
_DEVICES = {"ai85": MAX78000, "85": MAX78000, "ai87": MAX78002, "87": MAX78002} | {
    word.lower(): device for device in _BOTH for word in (device.part, device.part[3:])
}
_NEGATED = {"no_pipeline": "pipeline", "no_pll": "pll"}
_SWITCH = re.compile(r"--[a-z].*|-[A-Za-z]")
_WRITE = re.compile(r"\*\(\(volatile uint32_t \*\) 0x([0-9a-f]{8})\) = 0x([0-9a-f]{8});")
_FUNCTION = re.compile(r"^int (cnn_init|cnn_configure|cnn_start)\(void\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_MACRO = re.compile(r"^#define (\w+) \{(.*?)\}", re.MULTILINE | re.DOTALL)

# Imports the tool once and runs each command line in a process of its own, because the tool keeps global state.
# The two modules look for newer versions of the tool. Nothing but the listed classes is unpickled.
_SERVER = """
import collections, json, os, signal, sys, types
for name in ("git", "github"):
    sys.modules[name] = types.ModuleType(name)
import numpy, torch
torch.serialization.add_safe_globals([torch.optim.SGD, torch.optim.Adam, collections.defaultdict, dict, list])
torch.set_num_threads(1)
sys.path.insert(0, os.getcwd())
sys.modules["__main__"].__file__ = os.path.join(os.getcwd(), "ai8xize.py")
from izer.izer import main
replies = os.fdopen(os.dup(1), "w")
for line in sys.stdin:
    command = json.loads(line)
    child = os.fork()
    if not child:
        log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        signal.alarm(command["seconds"])
        sys.argv = ["ai8xize.py", *command["arguments"]]
        code = 1
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = 0 if not ended.code else 1
        except BaseException as error:
            print("ERROR:", type(error).__name__, error)
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=replies, flush=True)
"""


@dataclass(frozen=True)
class Case:
    """One command line of the tool."""

    device: Device
    config: Path
    weights: Path | None
    bias: Path | None
    sample: Path
    words: Mapping[str, Any] = field(default_factory=dict)  # of the section `cnn`
    unknown: tuple[str, ...] = ()  # switches for which there is no setting

    @property
    def title(self) -> str:
        chosen = [f"{key}={value}" if value is not True else key for key, value in sorted(self.words.items())]
        checkpoint = [self.weights.name] if self.weights is not None and self.weights.suffix != ".npy" else []
        return " ".join([self.config.name, *checkpoint, *chosen, *self.unknown])

    def arguments(self) -> list[str]:
        """The command line, as the present version of the tool reads it."""
        made = ["--device", self.device.part, "--config-file", str(self.config), "--sample-input", str(self.sample)]
        arrays = self.weights is not None and self.weights.suffix == ".npy"
        if self.weights is not None:
            made += ["--weight-input" if arrays else "--checkpoint-file", str(self.weights)]
        if self.bias is not None:
            made += ["--bias-input", str(self.bias)]
        for key, value in self.words.items():
            switch = key if value is not False else f"no_{key}"
            made += [f"--{switch.replace('_', '-')}"]
            if not isinstance(value, bool):
                listed = value if isinstance(value, list) else [value]
                made += [",".join(f"{one:#x}" if key.startswith("override") else str(one) for one in listed)]
        return made


def cases(tool: Path) -> tuple[Case, ...]:
    """Every command line in the scripts of a checkout, and its networks that no script names, for both chips."""
    command_lines = [
        arguments
        for script in sorted(tool.rglob("*.sh"))
        for arguments in _command_lines(script.read_text(encoding="utf-8", errors="replace"))
    ]
    named = {word for arguments in command_lines for word in arguments}
    files = [path.relative_to(tool) for path in (*tool.glob("tests/*.yaml"), *tool.glob("networks/*.yaml"))]
    command_lines += [["--config-file", str(file)] for file in files if str(file) not in named]
    found = {
        f"{case.device.name} {case.title} {case.sample.name}": case
        for arguments in command_lines
        for case in _cases(tool, arguments)
    }
    return tuple(sorted(found.values(), key=lambda case: (case.device.name, case.title)))


def _command_lines(script: str) -> Iterator[list[str]]:
    script = script.replace("\\\n", " ")
    variables = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', script, re.MULTILINE))
    for line in script.split("\n"):
        if "ai8xize.py" in line and not line.lstrip().startswith("#"):
            for _ in range(2):  # variables contain variables
                line = re.sub(r"\$\{?(\w+)\}?", lambda match: variables.get(match[1], ""), line)
            yield [word for word in shlex.split(line.split("ai8xize.py", 1)[1], comments=True) if word.strip("$@")]


def _cases(tool: Path, arguments: list[str]) -> Iterator[Case]:
    """The cases of a command line, without those whose files are not in the checkout."""
    files, words, unknown = dict[str, Path](), dict[str, Any](), list[str]()
    devices: tuple[Device, ...] = _BOTH
    at = 0
    while at < len(arguments):
        key = arguments[at].lstrip("-").replace("-", "_")
        following = arguments[at + 1 : at + 2]
        value = following[0] if following and not _SWITCH.fullmatch(following[0]) else None
        at += 1 if value is None else 2
        word = str(value).lower() if key == "device" else key
        if word in _DEVICES:
            devices = (_DEVICES[word],)
        elif key == "device":
            devices = () if value else devices  # another chip, or a variable that the script does not set
        elif key in _FILES and value is not None:
            files[_FILES[key]] = tool / value
        elif key in CnnSection.model_fields and key not in _OF_CODE:
            words[key] = True if value is None else _value(key, value)
        elif key in _NEGATED:
            words[_NEGATED[key]] = False
        elif key and key not in _OF_CODE:
            unknown.append(f"--{key.replace('_', '-')}")
    if "fast_fifo" in words:
        words["riscv"] = True
    for device in devices:
        case = _with_files(tool, device, files, words, tuple(unknown))
        if case is not None:
            yield case


def _value(key: str, value: str) -> Any:
    if key == "no_bias":
        return value.split(",")
    if key.startswith("override"):
        return int(value, 16)
    return [int(one) for one in value.split(",")] if key == "streaming_layers" else int(value, 0)


def _with_files(
    tool: Path, device: Device, files: dict[str, Path], words: dict[str, Any], unknown: tuple[str, ...]
) -> Case | None:
    config = files.get("config")
    if config is None or not config.is_file():
        return None
    general = yaml.safe_load(config.read_text(encoding="utf-8"))
    dataset = str(general.get("dataset", "")).lower()
    weights, bias = files.get("weights"), files.get("bias")
    if str(general.get("arch")) == "test":
        weights = weights or tool / "tests" / f"{general.get('weights', f'weights_{dataset}')}.npy"
        bias = bias or (tool / "tests" / f"bias_{general['bias']}.npy" if "bias" in general else None)
        weights = weights if weights.is_file() else None
    elif weights is None or not weights.is_file():
        return None
    sample = files.get("sample", tool / "tests" / f"sample_{dataset}.npy")
    if not sample.is_file() or (bias is not None and not bias.is_file()):
        return None
    return Case(device, config, weights, bias, sample, words, unknown)


class Tool:
    """The tool, imported once by a Python that has what it requires. With `kept`, its results stay in that folder."""

    def __init__(self, folder: Path, python: str, scratch: Path, *, seconds: int, kept: Path | None = None) -> None:
        self._scratch, self._seconds, self._kept = scratch, seconds, kept
        self._process = subprocess.Popen(
            [python, "-c", _SERVER], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def words(self, case: Case) -> dict[str, list[str]] | str:
        """Registers by function and arrays by name, or the error of the tool."""
        if self._kept is None:
            return self._made(case)
        file = self._kept / f"{hashlib.sha256(' '.join(case.arguments()).encode()).hexdigest()[:32]}.json"
        if not file.is_file():
            self._kept.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(self._made(case)), encoding="utf-8")
        found: dict[str, list[str]] | str = json.loads(file.read_text(encoding="utf-8"))
        return found

    def _made(self, case: Case) -> dict[str, list[str]] | str:
        log = self._scratch / "log"
        target = self._scratch / "network"
        arguments = ["--test-dir", str(self._scratch), "--prefix", "network", "--overwrite", "--no-version-check", "-e"]
        for file in target.glob("*.[ch]"):
            file.unlink()
        assert self._process.stdin is not None and self._process.stdout is not None
        command = {"log": str(log), "seconds": self._seconds, "arguments": [*arguments, *case.arguments()]}
        print(json.dumps(command), file=self._process.stdin, flush=True)
        code = self._process.stdout.readline().strip()
        if code == str(-signal.SIGALRM):
            return f"the tool needs more than {self._seconds} s"
        if code != "0":
            text = log.read_text(errors="replace") if log.is_file() else "the tool cannot be imported"
            return next((line for line in text.split("\n") if "ERROR" in line), text.strip().split("\n")[-1])
        return _written(target)


def _written(folder: Path) -> dict[str, list[str]]:
    source = next(path for path in (folder / "cnn.c", folder / "riscv" / "cnn.c") if path.is_file())
    found = {
        name: [f"{address} {value}" for address, value in _WRITE.findall(body)]
        for name, body in _FUNCTION.findall(source.read_text())
    }
    for header in ("weights.h", "sampledata.h", "sampleoutput.h"):
        if (source.parent / header).is_file():
            for name, body in _MACRO.findall((source.parent / header).read_text()):
                found[name] = [f"{int(word, 16):08x}" for word in re.findall(r"0x([0-9a-f]+)", body)]
    return found
